import type { InferResponse, Tensor } from '@conch/protocol'
import { expect, it } from 'vitest'
import { Flight, newTimings } from '../request.ts'
import type { Outcome } from '../request.ts'
import { floats, testRequest } from '../testing.ts'
import type { CacheStore } from './contract.ts'
import { CacheFront } from './front.ts'
import { LocalCache } from './local.ts'
import { ResponseCache } from './response-cache.ts'

/** A front over a store, in front of a model that doubles nothing: OUT is IN, answered when told. */
function setUp(store: CacheStore, below = () => '') {
  const runs: Flight[] = []
  const complaints: string[] = []
  const outcomes: string[] = []
  const front = new CacheFront(store, {
    model: 'm',
    version: '3',
    scope: '1',
    outputs: new Set(['OUT', 'MORE']),
    below,
    run: (flight) => void runs.push(flight),
    answer: (flight, response) => flight.respond(response, true),
    complain: (text) => void complaints.push(text),
  })
  const owner = { ended: (_flight: Flight, outcome: Outcome) => void outcomes.push(outcome) }
  const ask = (
    value: number,
    { outputs = [] as string[], id = '', signal = undefined as AbortSignal | undefined } = {},
  ) => {
    const asked = outputs.map((name) => ({ name, binary: true, classification: 0, region: undefined }))
    const request = testRequest('m', [floats('IN', [1, 4], value)], { id, outputs: asked })
    const flight = new Flight(owner, request, {
      rows: 1,
      chain: ['m'],
      signal,
      timings: newTimings(),
      onResponse: undefined,
    })
    front.serve(flight)
    return flight
  }
  return { runs, complaints, outcomes, ask }
}

const respond = (flight: Flight | undefined, outputs: readonly Tensor[]) =>
  flight?.respond({ model: 'm', version: '3', id: flight.request.id, parameters: { p: 1n }, outputs }, true)
const read = async (flight: Flight): Promise<InferResponse> => (await flight.wait()) as InferResponse

it('runs the first and answers the second', async () => {
  const { runs, ask } = setUp(new LocalCache(100_000))
  const first = ask(1, { id: 'first' })
  respond(runs[0], [floats('OUT', [1, 4], 1)])
  const second = ask(1, { id: 'second' })
  expect(runs).toEqual([first])
  expect(await read(second)).toEqual({
    model: 'm',
    version: '3',
    id: 'second',
    parameters: {},
    outputs: [floats('OUT', [1, 4], 1)],
  })
  expect([first.cache?.hit, second.cache?.hit]).toEqual([false, true])
  expect(second.cache?.ms).toBeGreaterThan(0)
  const { queued, computeStart, computeEnd } = second.timings
  expect([computeStart, computeEnd]).toEqual([queued, queued])
})

it('keeps the answer before the client can give its memory back', async () => {
  const { runs, ask } = setUp(new LocalCache(100_000))
  ask(1)
  const outputs = [floats('OUT', [1, 4], 5)]
  respond(runs[0], outputs)
  const memory = outputs[0]?.data.buffer as ArrayBuffer
  memory.transfer(0)
  expect((await read(ask(1))).outputs).toEqual([floats('OUT', [1, 4], 5)])
})

it('tells requests for other outputs, and for other steps below, apart', () => {
  let below = 'a'
  const { runs, ask } = setUp(new LocalCache(100_000), () => below)
  ask(1, { outputs: ['OUT'] })
  respond(runs[0], [floats('OUT', [1, 4], 1)])
  ask(1)
  ask(1, { outputs: ['MORE'] })
  expect(runs).toHaveLength(3)
  expect(ask(1, { outputs: ['OUT'] }).done).toBe(true)
  below = 'b'
  expect(ask(1, { outputs: ['OUT'] }).done).toBe(false)
})

it('never keeps an error, and counts equal requests at the same time as one miss', () => {
  const { runs, outcomes, ask } = setUp(new LocalCache(100_000))
  ask(1)
  runs[0]?.fail(new Error('no'), 'backend')
  const [second, third] = [ask(1), ask(1)]
  expect(runs).toHaveLength(3)
  respond(second, [floats('OUT', [1, 4], 1)])
  respond(third, [floats('OUT', [1, 4], 1)])
  expect([second.cache?.hit, third.cache]).toEqual([false, undefined])
  expect(outcomes).toEqual(['backend', 'success', 'success'])
})

it('serves although the answer is too large to be kept', () => {
  const { runs, complaints, outcomes, ask } = setUp(new LocalCache(1_024))
  const flight = ask(1)
  respond(runs[0], [floats('OUT', [1, 1_000], 1)])
  expect(outcomes).toEqual(['success'])
  expect(flight.cache?.hit).toBe(false)
  expect(complaints).toEqual([
    expect.stringMatching(
      /^Failed to insert key \[1:.*\] into response cache: Requested byte_size: 4055 is greater than total cache/,
    ),
  ])
})

/** A store that answers when and as told. */
function makeStore(lookup: CacheStore['lookup']): CacheStore {
  return {
    lasting: true,
    lookup,
    insert: () => Promise.reject(new Error('lost')),
    forget: () => undefined,
    close: () => Promise.resolve(),
  }
}

it.each([
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
])('runs the request when the store %s', async (_what, lookup) => {
  const { runs, complaints, outcomes, ask } = setUp(makeStore(lookup))
  ask(1)
  await Promise.resolve()
  await Promise.resolve()
  expect(complaints).toEqual(['broken'])
  respond(runs[0], [floats('OUT', [1, 4], 1)])
  expect(outcomes).toEqual(['success'])
})

it('tells of an answer that was lost on its way, after it was given', async () => {
  const { runs, complaints, outcomes, ask } = setUp(makeStore(() => undefined))
  ask(1)
  respond(runs[0], [floats('OUT', [1, 4], 1)])
  expect(outcomes).toEqual(['success'])
  await Promise.resolve()
  await Promise.resolve()
  expect(complaints).toEqual([expect.stringMatching(/^Failed to insert key \[1:.*\] into response cache: lost$/)])
})

it('does not run a request whose client left during the look-up', async () => {
  const answer = Promise.withResolvers<undefined>()
  const { runs, outcomes, ask } = setUp(makeStore(() => answer.promise))
  const client = new AbortController()
  const flight = ask(1, { signal: client.signal })
  client.abort()
  answer.resolve(undefined)
  await expect(flight.wait()).rejects.toMatchObject({ code: 'CANCELLED' })
  expect([runs.length, outcomes]).toEqual([0, ['cancelled']])
})

it('is absent where the server has no cache, and refuses names it does not know', async () => {
  const log = { write: () => undefined }
  const none = new ResponseCache(undefined, log)
  await none.open()
  const made = {
    model: 'm',
    version: '1',
    modelDirectory: '/nowhere',
    versionDirectory: '/nowhere/1',
    config: undefined as never,
  }
  expect([await none.nameScope(made), none.numbers]).toEqual(['', undefined])
  expect(none.createFront({} as never)).toBeUndefined()
  await expect(new ResponseCache({ name: 'x', settings: {} }, log).open()).rejects.toThrow(
    "unable to find 'libtritoncache_x.so' for cache.",
  )
})
