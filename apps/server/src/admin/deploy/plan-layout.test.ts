import { expect, it } from 'vitest'
import { newModelNameSchema } from './deploy.schema.ts'
import { planLayout, suggestName } from './plan-layout.ts'

const plan = (paths: readonly string[], name = 'upload') => {
  const { moves, ...rest } = planLayout(paths, name)
  return { ...rest, moves: Object.fromEntries(moves) }
}

it('makes version 1 of a single file', () => {
  expect(plan(['yolo v8.onnx'], 'yolo v8.onnx')).toEqual({
    moves: { 'yolo v8.onnx': '1/model.onnx' },
    versions: ['1'],
    suggestedName: 'yolo_v8',
  })
})

it('keeps external data beside the model and labels above it', () => {
  expect(plan(['net/net.onnx', 'net/weights.bin', 'net/labels.txt', 'net/README.md']).moves).toEqual({
    'net/net.onnx': '1/model.onnx',
    'net/weights.bin': '1/weights.bin',
    'net/labels.txt': 'labels.txt',
    'net/README.md': 'README.md',
  })
})

it('takes a model folder as it is, also when a config names another file', () => {
  expect(plan(['m/config.pbtxt', 'm/2/a.onnx', 'm/11/a.onnx', 'm/samples/x.json'])).toEqual({
    moves: {
      'm/config.pbtxt': 'config.pbtxt',
      'm/2/a.onnx': '2/a.onnx',
      'm/11/a.onnx': '11/a.onnx',
      'm/samples/x.json': 'samples/x.json',
    },
    versions: ['2', '11'],
    suggestedName: 'm',
  })
  expect(plan(['config.pbtxt', 'a.onnx']).moves).toEqual({ 'config.pbtxt': 'config.pbtxt', 'a.onnx': '1/a.onnx' })
  expect(plan(['config.pbtxt']).versions).toEqual([])
})

it('does not take a version for an outer folder', () => {
  expect(plan(['3/model.onnx'], 'x.zip')).toEqual({
    moves: { '3/model.onnx': '3/model.onnx' },
    versions: ['3'],
    suggestedName: 'x',
  })
})

it('names no model that publish would refuse', () => {
  for (const name of [
    'a',
    'x.onnx',
    '..',
    '.hidden',
    '-rf',
    'ü',
    '日本',
    '',
    'a'.repeat(300),
    '$(id)',
    '<img src=x onerror=1>.zip',
    '../../x',
  ]) {
    expect(newModelNameSchema.safeParse(suggestName(name)).success).toBe(true)
  }
})
