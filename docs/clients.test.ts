import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeFiles, encodeFileDescriptor } from '../packages/protocol/src/index.ts'
import { readText, root } from './repository.ts'

interface Snippet {
  readonly title: string
  readonly language: string
  readonly code: string
  /** Lines that its output must hold, in this order; each may be a part of a line. */
  readonly prints: readonly string[]
}

/** Fenced blocks that are followed by what they print. Those marked `skip` are for a person's eyes. */
function readSnippets(text: string): Snippet[] {
  const snippets: Snippet[] = []
  let title = ''
  let open: Omit<Snippet, 'prints'> | undefined
  for (const [, heading, info = '', body = ''] of text.matchAll(/^## (.+)$|^```(.+)\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) title = heading
    else if (info !== 'text') open = info.endsWith(' skip') ? undefined : { title, language: info, code: body }
    else if (open !== undefined) {
      snippets.push({ ...open, prints: body.trimEnd().split('\n') })
      open = undefined
    }
  }
  return snippets
}

const has = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0
const PATH = [process.env['PATH'], '/usr/local/go/bin', path.join(homedir(), 'go/bin')].join(':')
process.env['PATH'] = PATH
const PYTHON = [path.join(root, '.venv/bin/python'), 'python3'].find((one) =>
  has(one, '-c', 'import tritonclient.grpc.aio, tritonclient.http'),
)

/** Why the snippets of a kind cannot run here; undefined = they can. */
function whyNot({ language, code }: Snippet): string | undefined {
  if (language === 'python' && PYTHON === undefined) return 'no Python with tritonclient[all] here'
  if (language === 'go' && !has('go', 'version')) return 'no Go here'
  if (code.startsWith('curl') && !has('curl', '--version')) return 'no curl here'
  if (code.startsWith('grpcurl') && !has('grpcurl', '--version')) return 'no grpcurl here'
  return undefined
}

const addresses = { http: '', grpc: '' }
const server = { stop: () => Promise.resolve() }
const scratch = mkdtempSync(path.join(tmpdir(), 'conch-clients-'))

beforeAll(async () => {
  const models = ['iris', 'add_sub'].map((model) => `--load-model=${model}`)
  const ports = ['--http-address=127.0.0.1', '--http-port=0', '--grpc-address=127.0.0.1', '--grpc-port=0']
  const args = ['serve', '--model-repository=examples/models', '--model-control-mode=explicit', '--allow-metrics=false']
  const child = spawn(path.join(root, 'bin/conch'), [...args, ...models, ...ports, '--grpc-reflection=true'], {
    cwd: root,
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  server.stop = () => {
    child.kill('SIGKILL')
    return ended
  }
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      addresses.http = /Started HTTPService at ([\d.:]+)/.exec(output)?.[1] ?? ''
      addresses.grpc = /Started GRPCInferenceService at ([\d.:]+)/.exec(output)?.[1] ?? ''
      if (addresses.http !== '' && addresses.grpc !== '') resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void ended.then(() => reject(new Error(`the server ended:\n${output}`)))
  })
}, 120_000)
afterAll(async () => {
  await server.stop()
  rmSync(scratch, { recursive: true })
})

const run = promisify(execFile)
const NODE = ['--conditions=@conch/source', '--input-type=module-typescript', '-e']

async function execute({ language, code }: Snippet): Promise<string> {
  const text = code.replaceAll('localhost:8000', addresses.http).replaceAll('localhost:8001', addresses.grpc)
  const options = { cwd: root, env: { ...process.env, PATH, NO_COLOR: '1' } }
  if (language === 'sh') return (await run('sh', ['-ec', text], options)).stdout
  if (language === 'ts') return (await run(process.execPath, [...NODE, text], options)).stdout
  if (language === 'python') return (await run(PYTHON ?? 'python3', ['-c', text], options)).stdout
  const file = path.join(scratch, 'main.go')
  writeFileSync(file, text)
  return (await run('go', ['run', file], options)).stdout
}

const snippets = readSnippets(readText('docs/clients.md'))

it('has snippets of every kind, each with what it prints', () => {
  const kinds = Map.groupBy(snippets, ({ title }) => title)
  expect([...kinds.keys()]).toEqual(['curl', 'Python', 'TypeScript', 'Go', 'grpcurl'])
  expect(readText('docs/clients.md').match(/^```(?:sh|python|ts|go)$/gm)).toHaveLength(snippets.length)
})

for (const [index, snippet] of snippets.entries()) {
  const reason = whyNot(snippet)
  const hint = reason === undefined ? '' : ` (${reason})`
  it.skipIf(reason !== undefined)(
    `${snippet.title}, snippet ${index + 1} prints what it says${hint}`,
    { timeout: 240_000 },
    async () => {
      let rest = await execute(snippet)
      for (const line of snippet.prints) {
        expect(rest).toContain(line)
        rest = rest.slice(rest.indexOf(line) + line.length)
      }
    },
  )
}

it.skipIf(PYTHON === undefined)('the .proto files are those of Triton’s own client (needs tritonclient)', () => {
  const input = describeFiles().map((file) => Buffer.from(encodeFileDescriptor(file)).toString('hex'))
  const options = { cwd: root, input: input.join('\n'), encoding: 'utf8' } as const
  const { stdout, stderr } = spawnSync(PYTHON ?? 'python3', ['docs/compare_descriptors.py'], options)
  expect(stdout + stderr).toMatch(/^1\d\d compared\n$/)
})
