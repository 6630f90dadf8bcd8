import type { Role } from '@conch/server/schemas'

/** What each role may do, in the words of the form. */
export const ROLE_NOTES: Readonly<Record<Role, string>> = {
  viewer: 'sees everything, changes nothing',
  operator: 'also loads, unloads and asks models',
  editor: 'also deploys models and changes configs',
  admin: 'also manages people',
}
