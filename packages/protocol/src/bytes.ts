const encoder = new TextEncoder()

/** BYTES elements as a tensor's data: each with its length as a 4-byte little-endian integer in front. */
export function encodeBytes(items: readonly (string | Uint8Array)[]): Uint8Array {
  const raw = items.map((item) => (typeof item === 'string' ? encoder.encode(item) : item))
  const data = new Uint8Array(raw.reduce((size, item) => size + item.length + 4, 0))
  const view = new DataView(data.buffer)
  let at = 0
  for (const item of raw) {
    view.setUint32(at, item.length, true)
    data.set(item, at + 4)
    at += item.length + 4
  }
  return data
}

/** The elements of BYTES data as views. Stops before an element that is cut off. */
export function* iterateBytes(data: Uint8Array): Generator<Uint8Array, void> {
  let at = 0
  while (at < data.length) {
    const end = findBytesEnd(data, at)
    if (end < 0) return
    yield data.subarray(at + 4, end)
    at = end
  }
}

/** Position behind the element at `at`, or -1 when it is cut off. */
export function findBytesEnd(data: Uint8Array, at: number): number {
  if (at + 4 > data.length) return -1
  const low = (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8) | ((data[at + 2] ?? 0) << 16)
  const end = at + 4 + low + (data[at + 3] ?? 0) * 2 ** 24
  return end > data.length ? -1 : end
}
