import { expect, it } from 'vitest'
import { guessPreset, normaliseImage, placeImage, PRESETS } from './image.ts'

it.each([
  [[-1, 3, 224, 224], 'NCHW', 3, 224, 224, [1, 3, 224, 224]],
  [[-1, 224, 192, 3], 'NHWC', 3, 224, 192, [1, 224, 192, 3]],
  [[3, 32, 32], 'NCHW', 3, 32, 32, [3, 32, 32]],
  [[-1, 3, -1, -1], 'NCHW', 3, 224, 224, [1, 3, 224, 224]],
  [[-1, 8, 8], 'flat', 1, 8, 8, [1, 8, 8]],
  [[1, 1, 28, 28], 'NCHW', 1, 28, 28, [1, 1, 28, 28]],
  [[-1, -1, -1], 'NHWC', 1, 224, 224, [224, 224, 1]],
  [[-1, 64], 'flat', 1, 8, 8, [1, 64]],
  [[784], 'flat', 1, 28, 28, [784]],
] as const)('places a picture in %j', (shape, layout, channels, height, width, full) => {
  expect(placeImage(shape, 'FP32')).toEqual({ layout, channels, height, width, shape: full })
})

it.each([[[-1, 4]], [[-1, 10]], [[]], [[-1, 7, 9, 11]], [[2, 64]]])('places none in %j', (shape) => {
  expect(placeImage(shape, 'FP32')).toBeNull()
})

it('places none in texts', () => {
  expect(placeImage([-1, 64], 'BYTES')).toBeNull()
})

const place = (layout: 'NCHW' | 'NHWC', channels: number) => ({ layout, channels, height: 1, width: 2, shape: [] })
const rgba = [255, 0, 51, 255, 0, 255, 102, 255]

it('separates channels or keeps them together', () => {
  const scale = PRESETS['0 … 255']!
  expect([...normaliseImage(rgba, place('NCHW', 3), scale)]).toEqual([255, 0, 0, 255, 51, 102])
  expect([...normaliseImage(rgba, place('NHWC', 3), scale)]).toEqual([255, 0, 51, 0, 255, 102])
})

it('applies scale, mean and deviation per channel', () => {
  const [red] = normaliseImage(rgba, place('NCHW', 3), PRESETS['ImageNet']!)
  expect(red).toBeCloseTo((1 - 0.485) / 0.229, 5)
  const signed = normaliseImage(rgba, place('NCHW', 3), PRESETS['−1 … 1']!)
  expect([signed[0], signed[1]]).toEqual([1, -1])
})

it('makes grey as Pillow does', () => {
  expect([...normaliseImage(rgba, place('NCHW', 1), PRESETS['0 … 255']!)]).toEqual([82, 161])
})

it('guesses the scale from an example', () => {
  expect(guessPreset(['0', '16', '3'], 'FP32')).toBe('0 … 16')
  expect(guessPreset(['0', '0.9'], 'FP32')).toBe('0 … 1')
  expect(guessPreset(['0', '200'], 'FP32')).toBe('0 … 255')
  expect(guessPreset(['-2.1', '2.2'], 'FP32')).toBe('ImageNet')
  expect(guessPreset(['-1', '1'], 'FP32')).toBe('−1 … 1')
  expect(guessPreset([], 'UINT8')).toBe('0 … 255')
})
