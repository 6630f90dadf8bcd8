import type { ServerInfo } from '@conch/server/schemas'

const REASONS: Readonly<Record<ServerInfo['controlMode'], string | null>> = {
  explicit: null,
  poll: 'The server polls its repository and loads by itself. Start it with --model-control-mode=explicit to do it by hand.',
  none: 'The server loads its models at start only. Start it with --model-control-mode=explicit to do it by hand.',
}

/** Why models cannot be loaded and unloaded by hand, or null. */
export function refuseByMode(mode: ServerInfo['controlMode']): string | null {
  return REASONS[mode]
}
