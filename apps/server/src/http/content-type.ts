/** What answers are made of. */
export type ContentType =
  | 'application/json'
  | 'text/plain'
  | 'application/octet-stream'
  | 'text/event-stream; charset=utf-8'
  | `application/vnd.${string}`
