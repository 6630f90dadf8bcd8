// npm run bench [-- WORDS]: runs every benchmark whose path contains one of the words, one after the other.
// They compare things on this machine in this run; no number here is a gate. Those that measure what was promised send
// a row { name, limit, measured, unit, note } each, and all of them end up in one table.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { ensurePackages, env, fail, root } from './setup.mjs'

function findBenches() {
  const workspaces = [...readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`), 'apps/server']
  const folders = workspaces
    .map((workspace) => path.join(workspace, 'bench'))
    .filter((folder) => existsSync(path.join(root, folder)))
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((name) => path.join(folder, String(name))),
  )
  return files.filter((file) => file.endsWith('.bench.ts'))
}

/** Resolves to the exit code; what the benchmark reports goes into `targets`. */
function runBench(file, targets) {
  return new Promise((resolve) => {
    const child = spawn('node', ['--conditions=@conch/source', '--expose-gc', file], {
      cwd: root,
      env,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    child.on('message', ({ target }) => target && targets.push(target))
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function printTargets(targets) {
  if (targets.length === 0) return
  const rows = targets.map(({ name, limit, measured, unit, note }) => {
    return [name, `≤ ${limit} ${unit}`, `${measured}`, measured <= limit ? 'ok' : 'over', note]
  })
  const table = [['target', 'limit', 'measured', '', 'note'], ...rows]
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  console.log('\n=== targets')
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
}

try {
  await ensurePackages()
  const words = process.argv.slice(2)
  const benches = findBenches()
  const chosen = benches.filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  if (chosen.length === 0) console.log(`No such benchmark. There are:\n  ${benches.join('\n  ')}`)
  const targets = []
  for (const file of chosen) {
    console.log(`\n=== ${file}`)
    if ((await runBench(file, targets)) !== 0) process.exitCode = 1
  }
  printTargets(targets)
} catch (error) {
  fail(error)
}
