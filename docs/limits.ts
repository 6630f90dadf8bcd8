import { INFLATED_BYTES } from '../apps/server/src/budgets.ts'
import { LIMITS } from '../apps/server/src/http/limits.ts'
import { MAX_DATA_DEPTH, MAX_ENTRIES, MAX_VALUES, MOST_INSTANCES } from '../packages/protocol/src/index.ts'

const HTTP = 'apps/server/test/http.test.ts'
const GREEDY = 'apps/server/test/greedy-clients.test.ts'
const count = (value: number): string => value.toLocaleString('en-US')
const size = (bytes: number): string => (bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`)
const time = (ms: number): string => `${ms / 1000} s`

/** What, how much, what happens beyond it, and the test that sees it. */
const ROWS: readonly (readonly [string, string, string, string])[] = [
  ['body of an HTTP request', `${count(LIMITS.bodyBytes)} bytes`, '400', 'apps/server/src/http/body.test.ts'],
  [
    'all bodies in flight together, over HTTP and gRPC',
    'half of the memory (`--http-body-memory`)',
    '503 (UNAVAILABLE)',
    GREEDY,
  ],
  ['inflated bodies in flight together', size(INFLATED_BYTES), 'wait for each other', HTTP],
  ['small chunks of a chunked body', count(LIMITS.chunks), '400, connection ends', HTTP],
  ['requests in flight of one HTTP connection', count(LIMITS.pipelined), 'the next ones are read later', HTTP],
  [
    'what follows an early answer of its request',
    `${size(LIMITS.unreadBytes)}, ${count(LIMITS.chunks)} small pieces, ${time(LIMITS.unreadTimeout)}`,
    'connection ends',
    'apps/server/src/http/rest.test.ts',
  ],
  [
    'inputs, outputs or parameters of a request',
    `${count(MAX_ENTRIES)} each`,
    '400',
    'packages/protocol/src/v2/parse-inputs.test.ts',
  ],
  ['depth of a `data` array', count(MAX_DATA_DEPTH), '400', 'packages/protocol/src/v2/parse-request.test.ts'],
  ['values in the JSON of a control request', count(MAX_VALUES), '400', 'packages/protocol/src/v2/json-value.test.ts'],
  [
    'instances of a model version',
    count(MOST_INSTANCES),
    'it does not load',
    'packages/protocol/src/config/check.test.ts',
  ],
]

export function renderLimits(): string {
  const rows = ROWS.map(([what, most, beyond, test]) => `| ${what} | ${most} | ${beyond} | \`${test}\` |`)
  return ['| what | at most | beyond | test |', '|---|---|---|---|', ...rows].join('\n')
}
