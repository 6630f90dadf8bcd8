/** Protobuf by hand: the field's number, then a number, a text or an inner message. */
export type Part = readonly [field: number, value: bigint | string | Buffer]

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

export function message(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.flatMap(([field, value]) => {
      if (typeof value === 'bigint') return [varint(BigInt(field << 3)), varint(value)]
      const bytes = Buffer.from(value)
      return [varint(BigInt((field << 3) | 2)), varint(BigInt(bytes.byteLength)), bytes]
    }),
  )
}

const FLOAT = 1n
const dim = (size: bigint | string): Part => [1, typeof size === 'bigint' ? message([1, size]) : message([2, size])]
const value = (name: string, dims: readonly (bigint | string)[]) =>
  message([1, name], [2, message([1, message([1, FLOAT], [2, message(...dims.map(dim))])])])

/** `scores = operator(x)`, both FP32 [batch, 4]. */
export function makeOnnx(operator: string): Buffer {
  const dims = ['batch', 4n]
  const node = message([1, 'x'], [2, 'scores'], [4, operator])
  const graph = message([1, node], [2, 'g'], [11, value('x', dims)], [12, value('scores', dims)])
  return message([1, 8n], [7, graph], [8, message([1, ''], [2, 17n])])
}
