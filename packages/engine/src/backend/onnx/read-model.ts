import { open } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'
import { toDatatype } from './element-type.ts'
import { malformed, ProtobufFile, WIRE } from './protobuf.ts'
import type { Field } from './protobuf.ts'
import type { ModelValue, Signature, ValueKind } from './signature.ts'

/** What an .onnx file says about itself. */
export interface OnnxSignature extends Signature {
  /** Version of the file format. */
  readonly irVersion: number
  readonly producer: string
  readonly producerVersion: string
  /** Operator sets: domain ('' = ONNX's own) and version. */
  readonly opsets: readonly { readonly domain: string; readonly version: number }[]
  readonly metadata: Readonly<Record<string, string>>
  readonly graphName: string
  /** Nodes of the main graph. */
  readonly nodes: number
  /** Every operator that is used anywhere, graphs within nodes and functions included; sorted. */
  readonly operators: readonly string[]
  readonly initializers: number
  /** Files beside the model that hold weights. */
  readonly externalFiles: readonly string[]
}

/** Far beyond any model there is; a hostile file meets them before it hurts. */
const LONGEST_TEXT = 1_048_576
const MOST_VALUES = 1_000_000
const HIGHEST_RANK = 256
const DEEPEST = 64

/**
 * Reads a model's signature without loading it: a few milliseconds, whatever the size of its weights. Throws
 * INVALID_ARG with the place where the file stops making sense.
 */
export async function readOnnxSignature(path: string): Promise<OnnxSignature> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return await new ModelReader(new ProtobufFile(file, size)).read()
  } finally {
    await file.close()
  }
}

/** Field numbers of onnx.proto. */
const MODEL = { irVersion: 1, producer: 2, producerVersion: 3, graph: 7, opset: 8, metadata: 14, function: 25 } as const
const NODES_OF_FUNCTION = 7
const NODE = { operator: 4, attribute: 5 } as const
const ATTRIBUTE = { graph: 6, graphs: 11 } as const
const GRAPH = { node: 1, name: 2, initializer: 5, input: 11, output: 12, sparseInitializer: 15 } as const

class ModelReader {
  readonly #file: ProtobufFile
  #irVersion = 0
  #producer = ''
  #producerVersion = ''
  readonly #opsets: { domain: string; version: number }[] = []
  readonly #metadata = new Map<string, string>()
  #graphs = 0
  #graphName = ''
  #nodes = 0
  readonly #inputs: ModelValue[] = []
  readonly #outputs: ModelValue[] = []
  readonly #initializers = new Set<string>()
  readonly #externalFiles = new Set<string>()
  readonly #operators = new Set<string>()

  constructor(file: ProtobufFile) {
    this.#file = file
  }

  async read(): Promise<OnnxSignature> {
    for await (const field of this.#file.fields(0, this.#file.size)) await this.#readModelField(field)
    if (this.#graphs === 0) throw malformed('it holds no graph')
    const fixed = (value: ModelValue) => this.#initializers.has(value.name)
    return {
      irVersion: this.#irVersion,
      producer: this.#producer,
      producerVersion: this.#producerVersion,
      opsets: this.#opsets,
      metadata: Object.fromEntries(this.#metadata),
      graphName: this.#graphName,
      nodes: this.#nodes,
      operators: [...this.#operators].toSorted(),
      initializers: this.#initializers.size,
      externalFiles: [...this.#externalFiles],
      inputs: this.#inputs.filter((value) => !fixed(value)),
      outputs: this.#outputs,
      // Before version 4 every initialiser had to be listed as an input, without being one that can be overridden.
      overridable: this.#irVersion < 4 ? [] : this.#inputs.filter(fixed),
    }
  }

  async #readModelField(field: Field): Promise<void> {
    switch (field.number) {
      case MODEL.irVersion:
        this.#irVersion = field.value
        return
      case MODEL.producer:
        this.#producer = await this.#file.text(field, LONGEST_TEXT)
        return
      case MODEL.producerVersion:
        this.#producerVersion = await this.#file.text(field, LONGEST_TEXT)
        return
      case MODEL.opset:
        this.#opsets.push(await this.#readOpset(field))
        checkCount(this.#opsets.length, 'operator sets')
        return
      case MODEL.metadata: {
        const [key, value] = await this.#readPair(field)
        this.#metadata.set(key, value)
        checkCount(this.#metadata.size, 'metadata entries')
        return
      }
      case MODEL.graph:
        this.#graphs += 1
        for await (const inner of this.#enter(field)) await this.#readGraphField(inner)
        return
      case MODEL.function:
        await this.#readNodes(field, NODES_OF_FUNCTION, 0)
        return
      default:
    }
  }

  /** Nodes of a function, or of a graph within a node. */
  async #readNodes(field: Field, number: number, depth: number): Promise<void> {
    if (depth > DEEPEST) throw malformed(`graphs nested more than ${DEEPEST} deep at byte ${field.start}`)
    for await (const inner of this.#enter(field)) if (inner.number === number) await this.#readNode(inner, depth)
  }

  async #readNode(field: Field, depth: number): Promise<void> {
    for await (const inner of this.#enter(field)) {
      if (inner.number === NODE.operator) this.#operators.add(await this.#file.text(inner, LONGEST_TEXT))
      if (inner.number !== NODE.attribute) continue
      for await (const value of this.#enter(inner)) {
        const isGraph = value.number === ATTRIBUTE.graph || value.number === ATTRIBUTE.graphs
        if (isGraph) await this.#readNodes(value, GRAPH.node, depth + 1)
      }
    }
  }

  #enter(field: Field): AsyncGenerator<Field, void> {
    if (field.wire !== WIRE.bytes) throw malformed(`field ${field.number} at byte ${field.start} is not a message`)
    return this.#file.fields(field.start, field.end)
  }

  async #readGraphField(field: Field): Promise<void> {
    switch (field.number) {
      case GRAPH.node:
        this.#nodes += 1
        await this.#readNode(field, 0)
        return
      case GRAPH.name:
        this.#graphName = await this.#file.text(field, LONGEST_TEXT)
        return
      case GRAPH.initializer:
        await this.#readInitializer(field)
        checkCount(this.#initializers.size, 'initializers')
        return
      case GRAPH.sparseInitializer:
        // Its values are a tensor of their own, which carries the name.
        for await (const inner of this.#enter(field)) if (inner.number === 1) await this.#readInitializer(inner)
        return
      case GRAPH.input:
        this.#inputs.push(await this.#readValue(field))
        checkCount(this.#inputs.length, 'inputs')
        return
      case GRAPH.output:
        this.#outputs.push(await this.#readValue(field))
        checkCount(this.#outputs.length, 'outputs')
        return
      default:
    }
  }

  async #readOpset(field: Field): Promise<{ domain: string; version: number }> {
    const opset = { domain: '', version: 0 }
    for await (const inner of this.#enter(field)) {
      if (inner.number === 1) opset.domain = await this.#file.text(inner, LONGEST_TEXT)
      else if (inner.number === 2) opset.version = inner.value
    }
    return opset
  }

  /** A StringStringEntryProto. */
  async #readPair(field: Field): Promise<readonly [string, string]> {
    let [key, value] = ['', '']
    for await (const inner of this.#enter(field)) {
      if (inner.number === 1) key = await this.#file.text(inner, LONGEST_TEXT)
      else if (inner.number === 2) value = await this.#file.text(inner, LONGEST_TEXT)
    }
    return [key, value]
  }

  /** A TensorProto: its name and the file that holds its data, never the data. */
  async #readInitializer(field: Field): Promise<void> {
    const [name, externalData] = [8, 13]
    for await (const inner of this.#enter(field)) {
      if (inner.number === name) this.#initializers.add(await this.#file.text(inner, LONGEST_TEXT))
      if (inner.number !== externalData) continue
      const [key, value] = await this.#readPair(inner)
      if (key === 'location') this.#externalFiles.add(value)
    }
  }

  /** A ValueInfoProto. */
  async #readValue(field: Field): Promise<ModelValue> {
    const value = { name: '', kind: 'UNKNOWN' as ValueKind, elementType: 0, datatype: undefined, ...NO_SHAPE }
    for await (const inner of this.#enter(field)) {
      if (inner.number === 1) value.name = await this.#file.text(inner, LONGEST_TEXT)
      else if (inner.number === 2) Object.assign(value, await this.#readType(inner))
    }
    return value
  }

  /** A TypeProto. */
  async #readType(field: Field): Promise<Omit<ModelValue, 'name'>> {
    let kind: ValueKind = 'UNKNOWN'
    let tensor = { elementType: 0, ...NO_SHAPE }
    for await (const inner of this.#enter(field)) {
      const found = KINDS.get(inner.number)
      if (found === undefined) continue
      kind = found
      if (kind === 'TENSOR') tensor = await this.#readTensorType(inner)
    }
    return { kind, ...tensor, datatype: toDatatype(tensor.elementType) }
  }

  async #readTensorType(field: Field): Promise<Pick<ModelValue, 'elementType'> & Shape> {
    let elementType = 0
    let shape: Shape = NO_SHAPE
    for await (const inner of this.#enter(field)) {
      if (inner.number === 1) elementType = inner.value
      else if (inner.number === 2) shape = await this.#readShape(inner)
    }
    return { elementType, ...shape }
  }

  /** A TensorShapeProto: there with no dimensions for a scalar, not there at all for an unknown rank. */
  async #readShape(field: Field): Promise<Shape> {
    const dims: number[] = []
    const symbols: string[] = []
    for await (const dimension of this.#enter(field)) {
      if (dimension.number !== 1) continue
      if (dims.length === HIGHEST_RANK) throw malformed(`a shape of more than ${HIGHEST_RANK} dimensions`)
      let [dim, symbol] = [-1, '']
      for await (const inner of this.#enter(dimension)) {
        if (inner.number === 1) dim = Math.max(-1, inner.value)
        else if (inner.number === 2) symbol = await this.#file.text(inner, LONGEST_TEXT)
      }
      dims.push(dim)
      symbols.push(dim === -1 ? symbol : '')
    }
    return { dims, symbols }
  }
}

type Shape = Pick<ModelValue, 'dims' | 'symbols'>
const NO_SHAPE: Shape = { dims: undefined, symbols: [] }

/** Members of TypeProto's union. */
const KINDS: ReadonlyMap<number, ValueKind> = new Map([
  [1, 'TENSOR'],
  [4, 'SEQUENCE'],
  [5, 'MAP'],
  [7, 'OPAQUE'],
  [8, 'SPARSETENSOR'],
  [9, 'OPTIONAL'],
])

function checkCount(count: number, what: string): void {
  if (count > MOST_VALUES) throw new ConchError('INVALID_ARG', `an ONNX file with more than ${MOST_VALUES} ${what}`)
}
