import { expect, it } from 'vitest'
import { explainSilence } from './silence.ts'

const lines = [{ key: 'a', label: 'a' }]
const calm = { model: '', seconds: 60, paused: false, lost: false }
const panel = (value: number | null) => ({ series: { lines, points: [{ at: 1, a: value }] }, needsTraffic: true })

it('says nothing when there is something to see', () => {
  expect(explainSilence(panel(0), calm)).toBeNull()
})

it('gives the reason for an empty chart', () => {
  expect(explainSilence(panel(null), calm)).toBe('No model was asked in the last 1 min.')
  expect(explainSilence(panel(null), { ...calm, model: 'iris', seconds: 300 })).toBe(
    '“iris” was not asked in the last 5 min.',
  )
  expect(explainSilence(panel(null), { ...calm, lost: true })).toContain('connection')
  expect(explainSilence({ series: { lines, points: [] }, needsTraffic: false }, calm)).toContain('yet')
})
