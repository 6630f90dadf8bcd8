import { COMMANDS, printHelp } from './commands/help.ts'

const HELP = new Set(['', '--help', '-h'])
const VERSION = new Set(['--version', '-v', 'version'])

/** The `conch` command. Every subcommand is loaded only when it is asked for: `serve` starts without the others. */
async function run([name = '', ...rest]: readonly string[]): Promise<number> {
  if (HELP.has(name)) return printHelp('')
  if (name === 'help') return printHelp(rest[0] ?? '')
  if (VERSION.has(name)) return (await import('./commands/version.ts')).printVersion()
  const command = COMMANDS.get(name)
  if (command === undefined || rest.includes('--help') || rest.includes('-h')) return printHelp(name)
  return command.run(rest)
}

// A reader that has seen enough (`conch … | head`) is no failure; a server goes on without one.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' && !['serve', 'up'].includes(process.argv[2] ?? '')) process.exit(0)
})

run(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`conch: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(1)
  },
)
