import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DATATYPES, toConfigDatatype } from '@conch/protocol'

const ROOT = path.join(import.meta.dirname, '../../..')

export interface Served {
  /** `host:port` of each. */
  readonly http: string
  readonly grpc: string
  stop(): Promise<void>
}

/** `bin/conch serve` on the example models that need nothing but ONNX Runtime, and on identities made for tests. */
export async function serve(...args: string[]): Promise<Served> {
  const made = makeRepository()
  const models = ['add_sub', 'iris', ...made.models].map((model) => `--load-model=${model}`)
  const child = spawn(
    path.join(ROOT, 'bin/conch'),
    [
      'serve',
      `--model-repository=${path.join(ROOT, 'examples/models')}`,
      `--model-repository=${made.directory}`,
      '--model-control-mode=explicit',
      '--allow-client-shm=true',
      '--allow-metrics=false',
      '--http-address=127.0.0.1',
      '--http-port=0',
      '--grpc-address=127.0.0.1',
      '--grpc-port=0',
      ...models,
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const find = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      }
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      void ended.then(() => reject(new Error(`the server ended:\n${output}`)))
    })
  const take = (chunk: Buffer) => void (output += chunk.toString())
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const [http, grpc] = await Promise.all([
    find(/Started HTTPService at ([\d.:]+)/),
    find(/Started GRPCInferenceService at ([\d.:]+)/),
  ])
  return {
    http,
    grpc,
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(made.directory, { recursive: true })
    },
  }
}

/** `identity_<datatype>` for each, any length; `slow` takes ten seconds; `texts` for the generate extension. */
function makeRepository(): { directory: string; models: string[] } {
  const directory = mkdtempSync(path.join(tmpdir(), 'conch-client-'))
  const add = (name: string, datatype: string, more = '') => {
    mkdirSync(path.join(directory, name, '1'), { recursive: true })
    const io = (tensor: string) => `{ name: "${tensor}0" data_type: ${datatype} dims: [ -1 ] }`
    const text = `backend: "identity"\ninput [ ${io('INPUT')} ]\noutput [ ${io('OUTPUT')} ]\n${more}`
    writeFileSync(path.join(directory, name, 'config.pbtxt'), text)
    return name
  }
  const models = DATATYPES.map((datatype) => add(`identity_${datatype}`, toConfigDatatype(datatype)))
  models.push(add('slow', 'TYPE_FP32', 'parameters { key: "execute_delay_ms" value { string_value: "10000" } }'))
  return { directory, models }
}
