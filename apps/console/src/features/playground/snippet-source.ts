/** What a snippet is about. */
export interface SnippetSource {
  /** As in `http://127.0.0.1:8000`. */
  readonly serverUrl: string
  readonly model: string
  /** Empty = the newest. */
  readonly version: string
  /** The request body, as it is sent. */
  readonly body: string
}

export function inferUrl({ serverUrl, model, version }: SnippetSource): string {
  const path = `/v2/models/${encodeURIComponent(model)}${version === '' ? '' : `/versions/${version}`}/infer`
  return serverUrl.replace(/\/$/, '') + path
}
