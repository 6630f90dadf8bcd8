/**
 * What a request to a Python model costs: `node --conditions=@conch/source packages/engine/bench/python.bench.ts [python]`.
 * Time, and the processor time of the server and of the model's process, per request; and how long an instance takes to start,
 * beside `python -c "import numpy"`.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { InferRequest } from '@conch/protocol'
import { createEngine } from '../src/engine.ts'
import { floats, makeDirectory, testOptions, testRequest } from '../src/testing.ts'

const python = process.argv[2] ?? 'python3'
const config = (dims: string, more = '') => `backend: "python" max_batch_size: 0
input [ { name: "A" data_type: TYPE_FP32 dims: [ ${dims} ] }, { name: "B" data_type: TYPE_FP32 dims: [ ${dims} ] } ]
output [ { name: "SUM" data_type: TYPE_FP32 dims: [ ${dims} ] } ] ${more}`

const ADD = `
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        out = []
        for r in requests:
            a = pb_utils.get_input_tensor_by_name(r, "A").as_numpy()
            b = pb_utils.get_input_tensor_by_name(r, "B").as_numpy()
            out.append(pb_utils.InferenceResponse([pb_utils.Tensor("SUM", a + b)]))
        return out
`
const chain = (next: string) => `
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceRequest(model_name="${next}", requested_output_names=["SUM"], inputs=r.inputs()).exec() for r in requests]
`

const repository = await makeDirectory({
  'add/config.pbtxt': config('-1'),
  'add/1/model.py': ADD,
  'four/config.pbtxt': config('-1', 'instance_group { count: 4 kind: KIND_CPU }'),
  'four/1/model.py': ADD,
  'outer/config.pbtxt': config('-1'),
  'outer/1/model.py': chain('middle'),
  'middle/config.pbtxt': config('-1'),
  'middle/1/model.py': chain('add'),
})
const backendConfig = { python: { 'python-executable': python } }
const engine = createEngine(testOptions([repository.directory], { startupModels: ['*'], backendConfig }))
await engine.start()

/** Microseconds of user and system time of the processes that this one has started. */
function readChildren(): number {
  const tick = 10_000
  let total = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(fields[1]) === process.pid) total += (Number(fields[11]) + Number(fields[12])) * tick
    } catch {
      continue
    }
  }
  return total
}

async function measure(
  name: string,
  requests: number,
  plan: { lanes: number; request: () => InferRequest },
): Promise<void> {
  const run = async (count: number) => {
    let left = count
    const lane = async () => {
      while (left-- > 0) await engine.infer(plan.request())
    }
    await Promise.all(Array.from({ length: plan.lanes }, lane))
  }
  await run(Math.ceil(requests / 5))
  const [children, own, start] = [readChildren(), process.cpuUsage(), performance.now()]
  await run(requests)
  const micros = ((performance.now() - start) * 1_000) / requests
  const { user, system } = process.cpuUsage(own)
  const cpu = `${((user + system) / requests).toFixed(0)} µs server, ${((readChildren() - children) / requests).toFixed(0)} µs models`
  console.log(`${name.padEnd(34)} ${micros.toFixed(0).padStart(7)} µs a request; processor: ${cpu}`)
}

const small = (model: string) => () => testRequest(model, [floats('A', [16], 3), floats('B', [16], 1)])
const [a, b] = [floats('A', [1_310_720], 3), floats('B', [1_310_720], 1)]
for (const lanes of [1, 8, 32])
  await measure(`add, 16 floats, ${lanes} at once`, 20_000, { lanes, request: small('add') })
await measure('add, 4 instances, 32 at once', 20_000, { lanes: 32, request: small('four') })
await measure('a chain of three models', 5_000, { lanes: 1, request: small('outer') })
await measure('add, 5 MB each', 200, { lanes: 1, request: () => testRequest('add', [a, b]) })

const times = async (work: () => Promise<void> | void) => {
  const start = performance.now()
  for (let i = 0; i < 10; i++) await work()
  return (performance.now() - start) / 10
}
await engine.unload('add', false)
const load = await times(async () => {
  await engine.load('add')
  await engine.unload('add', false)
})
const bare = await times(() => void execFileSync(python, ['-c', 'import numpy']))
console.log(`load and unload ${load.toFixed(0)} ms; python -c "import numpy" ${bare.toFixed(0)} ms`)
await engine.stop()
await repository.remove()
