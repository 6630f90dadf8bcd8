import type { Weights } from './read-checkpoint.ts'
import type { OnnxNode, OnnxTensor } from './write-onnx.ts'
import { writeOnnx } from './write-onnx.ts'

/** Batch normalisation's epsilon in TensorFlow's EfficientNets, from which the checkpoint comes. */
const EPSILON = 1e-3

/** EfficientNet-Lite0: repeats, kernel, stride, expansion, channels in and out of each group of blocks. */
const GROUPS = [
  { repeats: 1, kernel: 3, stride: 1, expand: 1, from: 32, to: 16 },
  { repeats: 2, kernel: 3, stride: 2, expand: 6, from: 16, to: 24 },
  { repeats: 2, kernel: 5, stride: 2, expand: 6, from: 24, to: 40 },
  { repeats: 3, kernel: 3, stride: 2, expand: 6, from: 40, to: 80 },
  { repeats: 3, kernel: 5, stride: 1, expand: 6, from: 80, to: 112 },
  { repeats: 4, kernel: 5, stride: 2, expand: 6, from: 112, to: 192 },
  { repeats: 1, kernel: 3, stride: 1, expand: 6, from: 192, to: 320 },
] as const

/** The network as an ONNX file: pictures [batch, 3, 224, 224], (value - 127) / 128, to 1000 probabilities. */
export function makeEfficientNet(weights: ReadonlyMap<string, Weights>): Buffer {
  return new Builder(weights).build()
}

interface Convolution {
  readonly weight: string
  readonly norm: string
  readonly stride: number
  readonly groups: number
  /** Cuts the result to 0 … 6. */
  readonly clip: boolean
}

class Builder {
  readonly #source: ReadonlyMap<string, Weights>
  readonly #nodes: OnnxNode[] = []
  readonly #weights: OnnxTensor[] = []

  constructor(source: ReadonlyMap<string, Weights>) {
    this.#source = source
  }

  build(): Buffer {
    this.#weights.push({ name: 'zero', shape: [], values: Float32Array.of(0) })
    this.#weights.push({ name: 'six', shape: [], values: Float32Array.of(6) })
    let x = this.#convolve('input', { weight: '_conv_stem', norm: '_bn0', stride: 2, groups: 1, clip: true })
    let block = 0
    for (const group of GROUPS) {
      for (let i = 0; i < group.repeats; i += 1) {
        const first = i === 0
        x = this.#block(x, `_blocks.${block}.`, {
          ...group,
          stride: first ? group.stride : 1,
          from: first ? group.from : group.to,
        })
        block += 1
      }
    }
    x = this.#convolve(x, { weight: '_conv_head', norm: '_bn1', stride: 1, groups: 1, clip: true })
    this.#classify(x)
    return writeOnnx({
      name: 'efficientnet_lite0',
      nodes: this.#nodes,
      weights: this.#weights,
      inputs: [{ name: 'input', shape: ['batch', 3, 224, 224] }],
      outputs: [{ name: 'probabilities', shape: ['batch', 1000] }],
    })
  }

  #block(input: string, prefix: string, form: { stride: number; expand: number; from: number; to: number }): string {
    const { stride, expand, from, to } = form
    let x = input
    if (expand !== 1) {
      x = this.#convolve(x, {
        weight: `${prefix}_expand_conv`,
        norm: `${prefix}_bn0`,
        stride: 1,
        groups: 1,
        clip: true,
      })
    }
    const groups = from * expand
    x = this.#convolve(x, { weight: `${prefix}_depthwise_conv`, norm: `${prefix}_bn1`, stride, groups, clip: true })
    x = this.#convolve(x, {
      weight: `${prefix}_project_conv`,
      norm: `${prefix}_bn2`,
      stride: 1,
      groups: 1,
      clip: false,
    })
    return stride === 1 && from === to ? this.#node('Add', [x, input]) : x
  }

  /** A convolution with the normalisation behind it folded into its weights. */
  #convolve(input: string, { weight, norm, stride, groups, clip }: Convolution): string {
    const kernel = this.#get(`${weight}.weight`)
    const scale = this.#get(`${norm}.weight`).values
    const mean = this.#get(`${norm}.running_mean`).values
    const variance = this.#get(`${norm}.running_var`).values
    const factors = Float64Array.from(scale, (value, i) => value / Math.sqrt((variance[i] ?? 0) + EPSILON))
    const perChannel = kernel.values.length / factors.length
    const values = kernel.values.map((value, i) => value * (factors[Math.floor(i / perChannel)] ?? 0))
    const bias = this.#get(`${norm}.bias`).values.map((value, i) => value - (mean[i] ?? 0) * (factors[i] ?? 0))
    this.#weights.push({ name: `${weight}.w`, shape: kernel.shape, values })
    this.#weights.push({ name: `${weight}.b`, shape: [bias.length], values: bias })
    const x = this.#node('Conv', [input, `${weight}.w`, `${weight}.b`], {
      strides: [stride, stride],
      auto_pad: 'SAME_UPPER',
      group: groups,
      kernel_shape: kernel.shape.slice(2),
    })
    return clip ? this.#node('Clip', [x, 'zero', 'six']) : x
  }

  #classify(x: string): void {
    for (const part of ['weight', 'bias']) {
      this.#weights.push({ name: `fc.${part}`, ...this.#get(`_fc.${part}`) })
    }
    const flat = this.#node('Flatten', [this.#node('GlobalAveragePool', [x])], { axis: 1 })
    const logits = this.#node('Gemm', [flat, 'fc.weight', 'fc.bias'], { transB: 1 })
    this.#nodes.push({ type: 'Softmax', inputs: [logits], output: 'probabilities', attributes: { axis: 1 } })
  }

  #node(type: string, inputs: readonly string[], attributes: NonNullable<OnnxNode['attributes']> = {}): string {
    const output = `${type}_${this.#nodes.length}_out`
    this.#nodes.push({ type, inputs, output, attributes })
    return output
  }

  #get(name: string): Weights {
    const weights = this.#source.get(name)
    if (weights === undefined) throw new Error(`the checkpoint lacks ${name}`)
    return weights
  }
}
