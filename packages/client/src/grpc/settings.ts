import type { LogSettings, TraceChange, TraceSettings } from '../contract.ts'
import { ClientError } from '../error.ts'

type Choice = Readonly<{ bool_param?: boolean; uint32_param?: number; string_param?: string }>

/** LogSettingsRequest. */
export function encodeLogSettings(change: LogSettings): object {
  const settings: Record<string, Choice> = {}
  for (const [key, value] of Object.entries(change)) {
    if (typeof value === 'boolean') settings[key] = { bool_param: value }
    else if (typeof value === 'number') settings[key] = { uint32_param: value }
    else settings[key] = { string_param: value }
  }
  return { settings }
}

export function readLogSettings({ settings }: { readonly settings: Readonly<Record<string, Choice>> }): LogSettings {
  const read: Record<string, boolean | number | string> = {}
  for (const [key, { bool_param, uint32_param, string_param }] of Object.entries(settings)) {
    const value = bool_param ?? uint32_param ?? string_param
    if (value === undefined) throw new ClientError('INTERNAL', `log setting '${key}' came without a value`)
    read[key] = value
  }
  return read
}

/** TraceSettingRequest. A setting without values is reset. */
export function encodeTraceSettings(model: string, change: TraceChange): object {
  const settings: Record<string, { value: readonly string[] }> = {}
  for (const [key, value] of Object.entries(change)) settings[key] = { value: value === null ? [] : [value].flat() }
  return { model_name: model, settings }
}

export function readTraceSettings({
  settings,
}: {
  readonly settings: Readonly<Record<string, { readonly value: readonly string[] }>>
}): TraceSettings {
  return Object.fromEntries(Object.entries(settings).map(([key, { value }]) => [key, value]))
}
