// npm test: sets up what is missing, runs every check in order and ends with a table.
//   npm test -- --only=unit,walls           these checks
//   npm test -- --skip=conformance          all but these
//   npm test -- --only=conformance -k json  what follows goes to the one check that was chosen
import { mkdirSync, rmSync } from 'node:fs'
import { checkDisk, checkNode, ensurePackages, fail, seconds, SetupError } from './setup.mjs'
import { RESULTS, steps } from './test-steps.mjs'

function parseArguments(args) {
  const chosen = { only: undefined, skip: [], extra: [] }
  for (const arg of args) {
    const [, name, list] = /^--(only|skip)=(.*)$/.exec(arg) ?? []
    if (name === undefined) chosen.extra.push(arg)
    else chosen[name] = checkNames(list.split(','))
  }
  return chosen
}

function checkNames(names) {
  const known = steps.map((step) => step.name)
  const wrong = names.filter((name) => !known.includes(name))
  if (wrong.length > 0) throw new SetupError(`No such check: ${wrong.join(', ')}. There are: ${known.join(', ')}.`)
  return names
}

async function runStep(step, extra) {
  process.stdout.write(`\n=== ${step.name}: ${step.what}\n`)
  const began = performance.now()
  try {
    const result = await step.run(extra)
    return { step, ...result, time: seconds(began) }
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`)
    return { step, passed: 0, failed: 1, note: 'could not run', time: seconds(began) }
  }
}

function printTable(results) {
  process.stdout.write('\n')
  for (const { step, passed, failed, note, time } of results) {
    const verdict = failed === 0 ? 'ok  ' : 'FAIL'
    const counts = `${passed} passed, ${failed} failed${note === '' ? '' : `, ${note}`}`
    process.stdout.write(`  ${verdict}  ${step.name.padEnd(12)} ${time.padStart(9)}  ${counts}\n`)
  }
}

try {
  const { only, skip, extra } = parseArguments(process.argv.slice(2))
  const chosen = steps.filter(({ name }) => (only ?? [name]).includes(name) && !skip.includes(name))
  if (extra.length > 0 && chosen.length !== 1)
    throw new SetupError(`${extra.join(' ')}: choose the one check that this goes to, with --only=NAME.`)
  checkNode()
  checkDisk(0.5)
  await ensurePackages()
  rmSync(RESULTS, { recursive: true, force: true })
  mkdirSync(RESULTS, { recursive: true })

  const results = []
  for (const step of chosen) results.push(await runStep(step, extra))
  printTable(results)
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1
  process.stdout.write(`\n${sum('passed')} passed, ${sum('failed')} failed\n`)
} catch (error) {
  fail(error)
}
