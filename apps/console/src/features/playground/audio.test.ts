import { expect, it } from 'vitest'
import { cutSamples, findLoudest, mixChannels, scaleSamples } from './audio.ts'

it('mixes channels to their mean', () => {
  expect([...mixChannels([new Float32Array([1, 0]), new Float32Array([0, 1])])]).toEqual([0.5, 0.5])
})

it('fills a short recording with silence', () => {
  const samples = new Float32Array([1, 2, 3])
  expect([...cutSamples(samples, 1, 4)]).toEqual([2, 3, 0, 0])
  expect([...cutSamples(samples, 1, -1)]).toEqual([2, 3])
})

it('finds the loudest stretch', () => {
  expect(findLoudest(new Float32Array([0, 0, 0.1, 0.9, 0.9, 0, 0]), 2)).toBe(3)
  expect(findLoudest(new Float32Array([1]), 5)).toBe(0)
})

it('scales to 16-bit integers', () => {
  expect([...scaleSamples(new Float32Array([1, -1]), 'INT16')]).toEqual([32767, -32767])
})
