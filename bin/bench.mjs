// npm run bench [-- WORDS]: runs every benchmark whose path contains one of the words, one after the other.
// They compare things on this machine in this run; no number here is a gate.
import { spawnSync } from 'node:child_process'
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

try {
  await ensurePackages()
  const words = process.argv.slice(2)
  const benches = findBenches()
  const chosen = benches.filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  if (chosen.length === 0) console.log(`No such benchmark. There are:\n  ${benches.join('\n  ')}`)
  for (const file of chosen) {
    console.log(`\n=== ${file}`)
    const { status } = spawnSync('node', ['--conditions=@conch/source', '--expose-gc', file], {
      cwd: root,
      env,
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  }
} catch (error) {
  fail(error)
}
