import { bfloatToNumber, halfToNumber } from '@conch/protocol'
import type { OutputView } from '@conch/server/schemas'

type Reader = (view: DataView, index: number) => number

const READERS: Readonly<Record<string, readonly [size: number, read: Reader]>> = {
  BOOL: [1, (view, index) => view.getUint8(index)],
  UINT8: [1, (view, index) => view.getUint8(index)],
  INT8: [1, (view, index) => view.getInt8(index)],
  UINT16: [2, (view, index) => view.getUint16(index, true)],
  INT16: [2, (view, index) => view.getInt16(index, true)],
  FP16: [2, (view, index) => halfToNumber(view.getUint16(index, true))],
  BF16: [2, (view, index) => bfloatToNumber(view.getUint16(index, true))],
  UINT32: [4, (view, index) => view.getUint32(index, true)],
  INT32: [4, (view, index) => view.getInt32(index, true)],
  FP32: [4, (view, index) => view.getFloat32(index, true)],
  UINT64: [8, (view, index) => Number(view.getBigUint64(index, true))],
  INT64: [8, (view, index) => Number(view.getBigInt64(index, true))],
  FP64: [8, (view, index) => view.getFloat64(index, true)],
}

/** All numbers of an output: from its bytes, else from the preview. Null for texts. */
export function readNumbers(output: OutputView): Float64Array | null {
  const [size, read] = READERS[output.datatype] ?? []
  if (size === undefined || read === undefined) return null
  if (output.bytesBase64 === undefined) return Float64Array.from(output.preview, readPreview)
  const bytes = Uint8Array.from(atob(output.bytesBase64), (char) => char.charCodeAt(0))
  const view = new DataView(bytes.buffer)
  return Float64Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => read(view, index * size))
}

function readPreview(text: string): number {
  return text === 'true' ? 1 : text === 'false' ? 0 : Number(text)
}

/** Classes of an output that was asked for as `classification`: texts as `0.97:1:versicolor`. Null when it is something else. */
export function readClasses({ datatype, preview }: OutputView): OutputView['topk'] | null {
  if (datatype !== 'BYTES' || preview.length === 0) return null
  const rows = preview.map((text) => /^([-+.\deE]+):(\d+)(?::(.*))?$/s.exec(text))
  if (rows.includes(null)) return null
  return rows.map((row) => ({ value: row?.[1] ?? '', index: Number(row?.[2]), label: row?.[3] ?? null }))
}

export interface BestClass {
  readonly index: number
  readonly value: number
}

/** The most likely class of every row of a batch; null when the output is no batch of class scores. */
export function bestOfRows(output: OutputView): BestClass[] | null {
  const [rows = 0, classes = 0] = output.shape
  if (output.topk === undefined || output.shape.length !== 2 || rows < 2) return null
  const numbers = readNumbers(output)
  if (numbers === null || numbers.length < rows * classes) return null
  return Array.from({ length: rows }, (_, row) => {
    const values = numbers.subarray(row * classes, (row + 1) * classes)
    const value = values.reduce((most, each) => (each > most ? each : most), -Infinity)
    return { index: values.indexOf(value), value }
  })
}

export interface Difference {
  readonly output: string
  /** Null when they cannot be compared; then `note` says why. */
  readonly largest: number | null
  readonly note: string
}

/** How far two answers are apart, output by output. */
export function compareAnswers(before: readonly OutputView[], after: readonly OutputView[]): Difference[] {
  const old = new Map(before.map((output) => [output.name, output]))
  return after.map((output) => {
    const other = old.get(output.name)
    return {
      output: output.name,
      ...(other === undefined ? { largest: null, note: 'only in this one' } : compareOutputs(other, output)),
    }
  })
}

function compareOutputs(a: OutputView, b: OutputView): Omit<Difference, 'output'> {
  if (a.shape.join() !== b.shape.join()) return { largest: null, note: `shape [${a.shape.join(', ')}] before` }
  const left = readNumbers(a)
  const right = readNumbers(b)
  if (left === null || right === null) {
    const same = a.preview.every((text, index) => text === b.preview[index])
    return { largest: null, note: same ? 'the same' : 'not the same' }
  }
  let largest = 0
  for (const [index, value] of left.entries()) {
    const gap = Math.abs(value - (right[index] ?? Number.NaN))
    // Two NaN are equal here; one alone is as far as can be.
    if (Number.isNaN(gap) && !(Number.isNaN(value) && Number.isNaN(right[index]))) largest = Infinity
    else if (gap > largest) largest = gap
  }
  return { largest, note: largest === 0 ? 'the same' : `at most ${Number(largest.toPrecision(3))} apart` }
}

export interface Bin {
  readonly from: number
  readonly count: number
}

/** How the numbers are spread; empty when there is nothing to see in it. */
export function makeHistogram(values: ArrayLike<number>, bins: number): Bin[] {
  const known = Array.from(values).filter(Number.isFinite)
  const least = known.reduce((min, value) => Math.min(min, value), Infinity)
  const most = known.reduce((max, value) => Math.max(max, value), -Infinity)
  if (known.length < 16 || least === most) return []
  const width = (most - least) / bins
  const counts = new Array<number>(bins).fill(0)
  for (const value of known) {
    const bin = Math.min(bins - 1, Math.floor((value - least) / width))
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  return counts.map((count, index) => ({ from: least + index * width, count }))
}
