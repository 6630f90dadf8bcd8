import type { InferContext } from '@conch/engine'
import { ConchError, type InferRequest, type InferResponse } from '@conch/protocol'
import { expect, it } from 'vitest'
import type { AdminContext } from '../context.ts'
import type { StreamEvent } from './playground.schema.ts'
import { streamAnswers } from './stream-answers.ts'

type Model = (answer: (value: number) => void, context: InferContext) => Promise<void>

/** A console whose only model answers as the test says. */
function open(model: Model): AdminContext {
  const respond = (onResponse: (response: InferResponse) => void) => (value: number) =>
    onResponse({
      model: 'm',
      version: '1',
      id: '',
      parameters: {},
      outputs: [{ name: 'OUT', datatype: 'INT32', shape: [1], data: new Uint8Array(Int32Array.of(value).buffer) }],
    } as unknown as InferResponse)
  const engine = {
    stream: (_request: InferRequest, onResponse: (response: InferResponse) => void, context: InferContext) =>
      model(respond(onResponse), context),
    labels: () => undefined,
    config: () => ({ max_batch_size: 0 }),
    metadata: () => ({ versions: ['1'] }),
  }
  const repositories = { find: () => Promise.resolve(undefined) }
  return { services: { engine, repositories, log: { write: () => undefined } } } as unknown as AdminContext
}

const INPUT = { model: 'm', request: '{"inputs":[{"name":"IN","datatype":"INT32","shape":[1],"data":[1]}]}' }

async function collect(model: Model, signal?: AbortSignal): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of streamAnswers(open(model), INPUT, signal)) events.push(event)
  return events
}

it('hands on each answer when it comes, and then the end', async () => {
  const events = await collect(async (answer) => {
    answer(7)
    await Promise.resolve()
    answer(8)
  })
  expect(events).toMatchObject([
    { kind: 'answer', index: 0, outputs: [{ preview: ['7'] }] },
    { kind: 'answer', index: 1, outputs: [{ preview: ['8'] }] },
    { kind: 'end', status: 200, answers: 2 },
  ])
  const response = events[0]?.kind === 'answer' ? (events[0].response ?? '') : ''
  expect(JSON.parse(response)).toMatchObject({ outputs: [{ name: 'OUT', data: [7] }] })
})

it('tells a failure after the answers that came before it', async () => {
  const events = await collect((answer) => {
    answer(1)
    return Promise.reject(new ConchError('INVALID_ARG', 'enough'))
  })
  expect(events).toMatchObject([
    { kind: 'answer' },
    { kind: 'end', status: 400, error: { code: 'INVALID_ARG', message: 'enough' } },
  ])
})

it('counts what is too much to be shown', async () => {
  const events = await collect((answer) => {
    for (let i = 0; i < 10_000; i += 1) answer(i)
    return Promise.resolve()
  })
  expect(events.length).toBeLessThanOrEqual(201)
  expect(events.at(-1)).toMatchObject({ kind: 'end', answers: 10_000 })
})

it('ends with the listener, also when the model does not', async () => {
  const gone = new AbortController()
  let heard: AbortSignal | undefined
  const events = await collect((answer, { signal }) => {
    heard = signal
    answer(1)
    queueMicrotask(() => gone.abort())
    return new Promise(() => {})
  }, gone.signal)
  expect(heard?.aborted).toBe(true)
  expect(events.at(-1)).toMatchObject({ kind: 'end', error: { code: 'CANCELLED' } })
})

it('refuses what is no request', async () => {
  const events: StreamEvent[] = []
  const context = open(() => Promise.resolve())
  for await (const event of streamAnswers(context, { model: 'm', request: '{' }, undefined)) events.push(event)
  expect(events).toMatchObject([{ kind: 'end', status: 500, answers: 0, error: { code: 'INTERNAL' } }])
})
