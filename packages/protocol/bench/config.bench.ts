/** What configurations cost: `node --conditions=@conch/source packages/protocol/bench/config.bench.ts`. */
import {
  checkConfig,
  completeConfig,
  configToJson,
  formatPbtxt,
  parseConfigJson,
  parsePbtxt,
  printPbtxt,
} from '../src/index.ts'

const tensor = (name: string) => `{ name: "${name}" data_type: TYPE_FP32 dims: [ -1, 16 ] }`
const SMALL = `backend: "onnxruntime"
max_batch_size: 8 # rows
input [ ${tensor('INPUT0')}, ${tensor('INPUT1')} ]
output [ ${tensor('OUTPUT0')}, ${tensor('OUTPUT1')} ]
dynamic_batching { preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 500 }
parameters { key: "intra_op_thread_count" value { string_value: "1" } }
instance_group [ { kind: KIND_CPU count: 2 } ]
`
const LARGE = SMALL + `input ${tensor('X')}\n`.repeat(20_000)
const FACTS = {
  directoryName: 'm',
  versionFiles: ['model.onnx'],
  preferredGroup: { kind: 'KIND_CPU', count: 2 },
  gpus: [],
} as const
const { config, tree } = parsePbtxt(SMALL)
const complete = completeConfig(config, FACTS)
const json = configToJson(complete)

const ROUNDS = 7

/** Prints the best and the middle of seven rounds, in µs per call. */
function measure(name: string, calls: number, run: () => unknown): void {
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now()
    for (let call = 0; call < calls; call += 1) run()
    costs.push(((performance.now() - start) * 1000) / calls)
  }
  costs.sort((a, b) => a - b)
  console.log(`${name.padEnd(42)} best ${costs[0]?.toFixed(1)} µs, median ${costs[ROUNDS >> 1]?.toFixed(1)} µs`)
}

measure('parse a usual config.pbtxt', 2000, () => parsePbtxt(SMALL))
measure('parse one with 20 000 inputs (1 MB)', 1, () => parsePbtxt(LARGE))
measure('complete', 2000, () => completeConfig(config, FACTS))
measure('check', 2000, () => checkConfig(complete, { strictIo: true, gpus: [], tree }))
measure('print as text', 2000, () => printPbtxt(complete))
measure('print as JSON', 2000, () => configToJson(complete))
measure('parse JSON', 2000, () => parseConfigJson(json))
measure('format', 2000, () => formatPbtxt(SMALL))
