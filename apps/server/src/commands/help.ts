import { formatFlags, SERVE_FLAGS, UP_FLAGS } from '../flags.ts'

export interface Command {
  readonly summary: string
  readonly usage: string
  readonly examples: readonly string[]
  /** The option list, when there is one. */
  readonly options?: () => string
  /** Returns the exit code: 0 done, 1 failed, 2 asked for in the wrong way. */
  readonly run: (args: readonly string[]) => Promise<number>
}

const later = (name: string) => async (): Promise<number> => {
  process.stderr.write(`conch ${name}: comes with a later release.\n`)
  return Promise.resolve(2)
}

export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'serve',
    {
      summary: "serve model repositories; takes tritonserver's flags",
      usage: 'conch serve --model-repository=DIR [options]',
      examples: [
        'conch serve --model-repository=examples/models',
        'conch serve --model-repository=/models --model-control-mode=explicit --load-model=iris',
        'conch serve --model-repository=/models --http-port=9000 --metrics-port=9002 --log-verbose=1',
      ],
      options: () => formatFlags(SERVE_FLAGS),
      run: async (args) => (await import('./serve.ts')).runServe(args),
    },
  ],
  [
    'up',
    {
      summary: 'serve, and open the console on 127.0.0.1:8080',
      usage: 'conch up --model-repository=DIR [options]',
      examples: [
        'conch up --model-repository=examples/models',
        'conch up --model-repository=/models --console-port=9080 --data-dir=/var/lib/conch',
      ],
      options: () => formatFlags(UP_FLAGS),
      run: async (args) => (await import('./up.ts')).runUp(args),
    },
  ],
  [
    'config',
    {
      summary: 'check, format or start a config.pbtxt without a server',
      usage: 'conch config check|fmt|init PATH…',
      examples: [
        'conch config check /models                    every model below a repository; exit code 1 when one has an error',
        'conch config fmt /models/iris/config.pbtxt    rewrite it in the usual layout, comments kept (--check only tells)',
        'conch config init /models/iris                propose a config.pbtxt from the files of a model',
      ],
      run: async (args) => (await import('./config.ts')).runConfig(args),
    },
  ],
  [
    'zoo',
    {
      summary: 'list bigger models, add them to a repository, remove them',
      usage: 'conch zoo list | conch zoo add NAME… | conch zoo remove NAME… [--model-repository=DIR]',
      examples: ['conch zoo list', 'conch zoo add minilm --model-repository=examples/models'],
      run: async (args) => (await import('./zoo.ts')).runZoo(args),
    },
  ],
  [
    'perf',
    {
      summary: 'measure a running server (later)',
      usage: 'conch perf -m MODEL [options]',
      examples: ['conch perf -m iris'],
      run: later('perf'),
    },
  ],
  [
    'analyze',
    {
      summary: 'search for a good configuration (later)',
      usage: 'conch analyze MODEL',
      examples: ['conch analyze iris'],
      run: later('analyze'),
    },
  ],
  [
    'batch',
    {
      summary: 'run a model over a file (later)',
      usage: 'conch batch MODEL FILE',
      examples: ['conch batch iris rows.jsonl'],
      run: later('batch'),
    },
  ],
])

/** Help of the whole, or of one command. */
export function printHelp(name: string): number {
  const command = COMMANDS.get(name)
  if (name !== '' && command === undefined) {
    process.stderr.write(`conch: unknown command '${name}'. Commands: ${[...COMMANDS.keys()].join(', ')}.\n`)
    return 2
  }
  process.stdout.write(command === undefined ? formatOverview() : formatCommand(command))
  return 0
}

function formatOverview(): string {
  const width = Math.max(...[...COMMANDS.keys()].map((key) => key.length))
  const rows = [...COMMANDS].map(([key, { summary }]) => `  ${key.padEnd(width)}  ${summary}`)
  return [
    'Conch serves machine-learning models over the KServe v2 protocol, as NVIDIA Triton does.',
    '',
    'Usage: conch COMMAND [options]',
    '',
    'Commands:',
    ...rows,
    '',
    'Examples:',
    '  conch up --model-repository=examples/models      models on port 8000, console on http://127.0.0.1:8080',
    '  conch serve --model-repository=/models           the server alone',
    '  conch config check /models                       for CI: exit code 1 when a configuration has an error',
    '',
    'conch COMMAND --help tells more. conch --version prints the versions.',
    '',
  ].join('\n')
}

function formatCommand(command: Command): string {
  const examples = command.examples.map((example) => `  ${example}`)
  return [
    `Usage: ${command.usage}`,
    '',
    `  ${command.summary}`,
    '',
    'Examples:',
    ...examples,
    command.options?.() ?? '',
    '',
  ].join('\n')
}
