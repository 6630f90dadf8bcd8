import type { InferResult, JsonValue, StreamEvent } from '@conch/server/schemas'
import { isDecoupled } from './model-facts.ts'

/** One of the answers of a model that gives any number of them. */
export type StreamAnswer = Extract<StreamEvent, { kind: 'answer' }>
export type StreamEnd = Extract<StreamEvent, { kind: 'end' }>

/** Characters of a request that fit through the socket; the server refuses more. */
const LONGEST = 750_000

export function canStream(config: JsonValue, body: string): boolean {
  return isDecoupled(config) && body.length < LONGEST
}

/** All answers as one result, as a request that waits for the last one would have had it. */
export function joinAnswers(answers: readonly StreamAnswer[], end: Omit<StreamEnd, 'kind' | 'answers'>): InferResult {
  const { status, timing, error } = end
  const texts = answers.map(({ response }) => response)
  const response = texts.includes(null) ? null : `[${texts.join(',\n')}]`
  return { status, timing, response, outputs: answers.at(-1)?.outputs ?? [], ...(error && { error }) }
}

/** What a run is called that a person ended: the code that the server uses for those whose caller has left. */
export function stopHere(answers: readonly StreamAnswer[]): InferResult {
  const totalUs = answers.at(-1)?.atUs ?? 0
  return joinAnswers(answers, {
    status: 499,
    timing: { queueUs: 0, inputUs: 0, inferUs: 0, outputUs: 0, totalUs },
  })
}

/** The beginning of an answer, in a line. */
export function summarise({ outputs }: StreamAnswer): string {
  return outputs
    .map(({ name, preview, count }) => `${name} ${preview.slice(0, SHOWN).join(', ')}${count > SHOWN ? ', …' : ''}`)
    .join(' · ')
}

const SHOWN = 8
