const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** 12 345 as `12,345`. */
export function formatCount(value: number): string {
  return WHOLE.format(value)
}

/** Three significant digits, thousands separated: `0.42`, `7.5`, `1,234`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size >= 100 || value === 0) return WHOLE.format(value)
  const digits = size >= 10 ? 1 : size >= 1 ? 2 : 3
  return String(Number(value.toFixed(digits)))
}

/** A duration given in microseconds: `840 µs`, `3.2 ms`, `1.5 s`, `2.0 min`. */
export function formatMicros(us: number): string {
  if (us < 1000) return `${formatNumber(us)} µs`
  if (us < 1e6) return `${formatNumber(us / 1e3)} ms`
  if (us < 60e6) return `${formatNumber(us / 1e6)} s`
  return `${formatNumber(us / 60e6)} min`
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${formatNumber(value)} ${BYTE_UNITS[unit] ?? 'B'}`
}

export function formatPercent(share: number): string {
  if (share === 0) return '0 %'
  const percent = share * 100
  if (percent < 0.01) return '< 0.01 %'
  return `${Number(percent.toFixed(percent < 1 ? 2 : percent < 10 ? 1 : 0))} %`
}

/** `just now`, `42 s ago`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function formatAgo(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000)
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  const days = Math.floor(seconds / 86_400)
  return days === 1 ? 'yesterday' : `${days} days ago`
}

/** Local and UTC, for the hover of a relative time. */
export function formatMoment(at: number): string {
  const date = new Date(at)
  return `${date.toLocaleString()} · ${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`
}

export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`
}
