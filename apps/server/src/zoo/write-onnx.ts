/** Writes ONNX files: the few protobuf messages that a plain network needs (onnx.proto of IR version 8). */
export interface OnnxNode {
  readonly type: string
  readonly inputs: readonly string[]
  readonly output: string
  /** Numbers (not negative) become INT, text STRING, lists INTS. */
  readonly attributes?: Readonly<Record<string, number | string | readonly number[]>>
}
export interface OnnxTensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly values: Float32Array
}
export interface OnnxValue {
  readonly name: string
  /** FP32; a name stands for a variable dimension. */
  readonly shape: readonly (number | string)[]
}
export interface OnnxGraph {
  readonly name: string
  readonly nodes: readonly OnnxNode[]
  readonly weights: readonly OnnxTensor[]
  readonly inputs: readonly OnnxValue[]
  readonly outputs: readonly OnnxValue[]
}

const FLOAT = 1
const OPSET = 17
const ATTRIBUTE_INT = 2
const ATTRIBUTE_STRING = 3
const ATTRIBUTE_INTS = 7

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  do {
    const low = left % 128
    left = Math.floor(left / 128)
    bytes.push(left > 0 ? low + 128 : low)
  } while (left > 0)
  return Buffer.from(bytes)
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

function bytes(field: number, content: string | Uint8Array): Buffer {
  const data = Buffer.from(content)
  return Buffer.concat([varint(field * 8 + 2), varint(data.length), data])
}

function message(field: number, ...parts: readonly Buffer[]): Buffer {
  return bytes(field, Buffer.concat(parts))
}

/** A ModelProto. */
export function writeOnnx(graph: OnnxGraph): Buffer {
  const body = [
    ...graph.nodes.map((node, i) => message(1, ...writeNode(node, i))),
    bytes(2, graph.name),
    ...graph.weights.map((tensor) => message(5, ...writeTensor(tensor))),
    ...graph.inputs.map((value) => message(11, ...writeValue(value))),
    ...graph.outputs.map((value) => message(12, ...writeValue(value))),
  ]
  return Buffer.concat([
    integer(1, 8),
    bytes(2, 'conch-zoo'),
    message(7, ...body),
    message(8, bytes(1, ''), integer(2, OPSET)),
  ])
}

function writeNode(node: OnnxNode, index: number): Buffer[] {
  return [
    ...node.inputs.map((name) => bytes(1, name)),
    bytes(2, node.output),
    bytes(3, `${node.type}_${index}`),
    bytes(4, node.type),
    ...Object.entries(node.attributes ?? {}).map(([name, value]) =>
      message(5, bytes(1, name), ...writeAttribute(value)),
    ),
  ]
}

function writeAttribute(value: number | string | readonly number[]): Buffer[] {
  if (typeof value === 'number') return [integer(3, value), integer(20, ATTRIBUTE_INT)]
  if (typeof value === 'string') return [bytes(4, value), integer(20, ATTRIBUTE_STRING)]
  return [...value.map((item) => integer(8, item)), integer(20, ATTRIBUTE_INTS)]
}

function writeTensor(tensor: OnnxTensor): Buffer[] {
  const { buffer, byteOffset, byteLength } = tensor.values
  return [
    ...tensor.shape.map((dim) => integer(1, dim)),
    integer(2, FLOAT),
    bytes(8, tensor.name),
    bytes(9, new Uint8Array(buffer, byteOffset, byteLength)),
  ]
}

function writeValue(value: OnnxValue): Buffer[] {
  const dims = value.shape.map((dim) => message(1, typeof dim === 'number' ? integer(1, dim) : bytes(2, dim)))
  return [bytes(1, value.name), message(2, message(1, integer(1, FLOAT), message(2, ...dims)))]
}
