import { expect, it } from 'vitest'
import { placeImage } from './image.ts'
import { chooseSource, listSources, placePad } from './sources.ts'

const sources = (shape: number[], datatype: 'FP32' | 'BYTES' | 'INT64', model = 'm', input = 'x') => {
  const place = placeImage(shape, datatype)
  const list = listSources({ shape, datatype, model, input }, place)
  return { list, first: chooseSource(list, { model, input }, place) }
}

it('offers a pad for digits and begins with it', () => {
  expect(sources([-1, 64], 'FP32', 'digits')).toEqual({ list: ['values', 'image', 'draw'], first: 'draw' })
  expect(sources([-1, 64], 'FP32', 'encoder').first).toBe('values')
})

it('offers a small pad where a picture may have any size', () => {
  expect(sources([-1, -1, -1], 'FP32', 'digits_image', 'image').first).toBe('draw')
  expect(placePad([-1, -1, -1], 'UINT8')).toMatchObject({ height: 64, width: 64, shape: [64, 64, 1] })
})

it('offers pictures and sound where they fit', () => {
  expect(sources([-1, 3, 224, 224], 'FP32').first).toBe('image')
  expect(sources([1, 512], 'FP32', 'silero_vad', 'input')).toEqual({ list: ['values', 'audio'], first: 'audio' })
  expect(sources([-1, 4], 'FP32').list).toEqual(['values'])
  expect(sources([-1], 'BYTES')).toEqual({ list: ['text'], first: 'text' })
})

it('takes a row of sound for no picture', () => {
  expect(sources([-1, 576], 'FP32', 'silero_vad', 'input').list).toEqual(['values', 'audio'])
})
