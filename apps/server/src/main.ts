import { COMMANDS, printHelp } from './commands/help.ts'

/** The `conch` command. Every subcommand is loaded only when it is asked for: `serve` starts without the others. */
async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '' || name === '--help' || name === '-h' || name === 'help')
    return printHelp(name === 'help' ? (rest[0] ?? '') : '')
  if (name === '--version' || name === '-v' || name === 'version')
    return (await import('./commands/version.ts')).printVersion()
  const command = COMMANDS.get(name)
  if (command === undefined) {
    process.stderr.write(
      `conch: unknown command '${name}'. Commands: ${[...COMMANDS.keys()].join(', ')}. See conch --help.\n`,
    )
    return 2
  }
  if (rest.includes('--help') || rest.includes('-h')) return printHelp(name)
  return command.run(rest)
}

run(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`conch: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(1)
  },
)
