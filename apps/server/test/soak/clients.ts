import { ANSWERS } from './models.ts'
import type { Model } from './models.ts'
import type { Answer, SoakServer } from './server.ts'

/** Milliseconds between an answer and the next request: the machine is to be busy, not the test. */
const PAUSE = 10

/** When a model is away, by the clock of the test: from the call that unloads it to the answer of the one that loads it. */
export class Absences {
  readonly #away = new Map<Model, { from: number; to: number }[]>()

  async during(model: Model, work: () => Promise<void>): Promise<void> {
    const absence = { from: performance.now(), to: Infinity }
    this.#away.set(model, [...(this.#away.get(model) ?? []).slice(-20), absence])
    await work()
    absence.to = performance.now()
  }

  includes(model: Model, from: number, to: number): boolean {
    return (this.#away.get(model) ?? []).some((absence) => absence.from <= to && from <= absence.to)
  }
}

/** What the clients of one run saw. */
export class Tally {
  readonly answered = new Map<Model, number>()
  readonly refused = new Map<Model, number>()
  readonly wrong: string[] = []

  count(counts: Map<Model, number>, model: Model): void {
    counts.set(model, (counts.get(model) ?? 0) + 1)
  }

  note(text: string): void {
    if (this.wrong.length < 20) this.wrong.push(text)
  }
}

export interface Run {
  readonly server: SoakServer
  readonly tally: Tally
  readonly absences: Absences
  running: boolean
}

const REFUSALS = /has no available versions|is not at ready state/

/** Returns the answer when there is one; notes everything that may not be. */
async function ask(run: Run, model: Model, body: string): Promise<Answer | undefined> {
  const { server, tally, absences } = run
  const from = performance.now()
  const answer = await server.ask(`/v2/models/${model}/infer`, body)
  if (answer.status === 200) {
    tally.count(tally.answered, model)
    return answer
  }
  if (REFUSALS.test(answer.text) && absences.includes(model, from, performance.now())) {
    tally.count(tally.refused, model)
  } else tally.note(`${model}: ${answer.status} ${answer.text}`)
  return undefined
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE))

export function writeRequest(x: readonly number[]): string {
  return JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 4], data: x }] })
}

/** A client of a model that keeps nothing between requests. */
async function runClient(run: Run, model: Exclude<Model, 'sequence'>, number: number): Promise<void> {
  for (let i = 0; run.running; i++) {
    // The cache sees few requests again and again.
    const seed = model === 'cached' ? i % 7 : number * 10_000 + i
    const x = [seed, -seed, seed + 0.5, -1]
    const answer = await ask(run, model, writeRequest(x))
    if (answer !== undefined) {
      const { outputs } = JSON.parse(answer.text) as { outputs: { data: number[] }[] }
      const right = x.map(ANSWERS[model])
      if (outputs[0]?.data.join() !== right.join()) run.tally.note(`${model}: ${answer.text} for ${x.join()}`)
    }
    await pause()
  }
}

/** A client whose sequences are sums: one that loses or repeats a request is seen at once. */
async function runSequences(run: Run, number: number): Promise<void> {
  for (let i = 0; run.running; i++) {
    const length = 3 + ((number + i) % 12)
    let sum = 0
    for (let n = 0; n < length; n++) {
      const value = number + n
      sum += value
      const flags = { sequence_id: 1 + number + 100 * i, sequence_start: n === 0, sequence_end: n === length - 1 }
      const inputs = [{ name: 'IN', datatype: 'INT32', shape: [1, 1], data: [value] }]
      const answer = await ask(run, 'sequence', JSON.stringify({ parameters: flags, inputs }))
      const [out, began] = answer === undefined ? [] : readSums(answer.text)
      if (out !== sum || began !== (n === 0 ? 1 : 0)) {
        run.tally.note(`sequence ${flags.sequence_id}, request ${n}: ${out} (${began}) instead of ${sum}`)
      }
      await pause()
    }
  }
}

function readSums(text: string): readonly (number | undefined)[] {
  const { outputs } = JSON.parse(text) as { outputs: { name: string; data: number[] }[] }
  return ['OUT', 'BEGAN'].map((wanted) => outputs.find(({ name }) => name === wanted)?.data[0])
}

export function startClient(run: Run, model: Model, number: number): Promise<void> {
  return model === 'sequence' ? runSequences(run, number) : runClient(run, model, number)
}
