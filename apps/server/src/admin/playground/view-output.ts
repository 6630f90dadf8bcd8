import type { Tensor } from '@conch/protocol'
import type { OutputView } from './playground.schema.ts'
import { PREVIEW, readElements, type Elements } from './read-elements.ts'

/** Elements looked at in one go; then the event loop may serve others. */
const STRETCH = 200_000
/** Elements that statistics are made of; a bigger output is sampled from its start. */
const LOOKED_AT = 10_000_000
const MAX_BYTES = 4_194_304
const TOP = 10
/** Classes of an output without labels that still looks like scores. */
const CLASSES = { least: 2, most: 100_000 }

/** One output as the playground shows it. */
export async function viewOutput(tensor: Tensor, labels: readonly string[] | undefined): Promise<OutputView> {
  const { name, datatype, shape, data } = tensor
  const elements = readElements(tensor)
  const preview = Array.from({ length: Math.min(elements.length, PREVIEW) }, (_, i) => elements.text(i))
  const topk = rank(tensor, elements, labels)
  return {
    name,
    datatype,
    shape,
    stats: await measure(elements),
    preview,
    count: elements.length,
    ...(topk === undefined ? {} : { topk }),
    ...(data.byteLength > MAX_BYTES ? {} : { bytesBase64: Buffer.from(data).toString('base64') }),
  }
}

async function measure({ at, length, text }: Elements): Promise<OutputView['stats']> {
  if (at === undefined || length === 0) return null
  let [low, high, sum, nan, zero, counted] = [-1, -1, 0, 0, 0, 0]
  const end = Math.min(length, LOOKED_AT)
  for (let i = 0; i < end; i += 1) {
    if (i % STRETCH === STRETCH - 1) await new Promise((resolve) => setImmediate(resolve))
    const value = at(i)
    if (Number.isNaN(value)) {
      nan += 1
      continue
    }
    if (low < 0 || value < at(low)) low = i
    if (high < 0 || value > at(high)) high = i
    if (Number(value) === 0) zero += 1
    sum += Number(value)
    counted += 1
  }
  if (counted === 0) return { min: 'NaN', max: 'NaN', mean: 'NaN', nan, zero }
  return { min: text(low), max: text(high), mean: String(Number((sum / counted).toPrecision(7))), nan, zero }
}

/** The highest scores of the first row. */
function rank(
  { datatype, shape }: Tensor,
  { at, text }: Elements,
  labels: readonly string[] | undefined,
): OutputView['topk'] {
  const classes = shape.at(-1) ?? 0
  const scores = /^(FP|BF)/.test(datatype) && classes >= CLASSES.least && classes <= CLASSES.most
  const single = shape.slice(0, -1).every((dim) => dim === 1)
  if (at === undefined || classes === 0 || !(labels !== undefined || (scores && single))) return undefined
  const order = Array.from({ length: Math.min(classes, CLASSES.most) }, (_, i) => i).filter((i) => !Number.isNaN(at(i)))
  order.sort((a, b) => (at(b) > at(a) ? 1 : at(b) < at(a) ? -1 : a - b))
  return order.slice(0, TOP).map((index) => ({ index, label: labels?.[index] ?? null, value: text(index) }))
}
