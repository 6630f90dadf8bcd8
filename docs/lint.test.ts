import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readText, root } from './repository.ts'

const nest = (depth: number): string => (depth === 0 ? 'next()' : `if (Math.random() > 0.5) { ${nest(depth - 1)} }`)

/** Rule → a file that breaks it. */
const PLANTED: Readonly<Record<string, string>> = {
  'typescript(no-floating-promises)': 'export function go(): void { Promise.resolve(1) }',
  'typescript(no-misused-promises)':
    'export const go = (): void => { [1].forEach(async () => { await Promise.resolve() }) }',
  'typescript(switch-exhaustiveness-check)': `export function go(x: 'a' | 'b'): void { switch (x) { case 'a': break } }`,
  'typescript(no-explicit-any)': 'export const x: any = 1',
  'typescript(no-non-null-assertion)': 'export const go = (x?: string): string => x!',
  'typescript(consistent-type-imports)': `import { Stats } from 'node:fs'\nexport type X = Stats`,
  'unicorn(prefer-node-protocol)': `import { sep } from 'path'\nexport const x = sep`,
  'import(no-default-export)': 'export default 1',
  'node(no-process-env)': 'export const x = process.env',
  'eslint(no-console)': 'console.log(1)\nexport {}',
  'eslint(eqeqeq)': 'export const go = (x: unknown): boolean => x == 1',
  'eslint(max-lines)': 'export {}\n' + ';[].at(0)\n'.repeat(401),
  'eslint(max-lines-per-function)': `export function go(): void {\n${'  Math.random()\n'.repeat(61)}}`,
  'eslint(max-params)': 'export const go = (a: 1, b: 1, c: 1, d: 1): number => a + b + c + d',
  'eslint(max-depth)': `declare function next(): void\nexport function go(): void { ${nest(4)} }`,
  'eslint(complexity)': `export const go = (x: number): boolean => ${Array.from({ length: 13 }, (_, i) => `x === ${i}`).join(' || ')}`,
}

let folder = ''
let found: readonly { readonly code?: string; readonly filename: string }[] = []

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'conch-lint-'))
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    readText('tsconfig.base.json').replace('"types": ["node"]', '"types": []'),
  )
  Object.values(PLANTED).forEach((text, index) => writeFileSync(path.join(folder, `plant-${index}.ts`), text))
  writeFileSync(path.join(folder, 'CamelCase.ts'), 'export const x = 1')
  writeFileSync(path.join(folder, 'empty.test.ts'), `import { it } from 'vitest'\nit('checks nothing', () => {})`)
  writeFileSync(path.join(folder, 'env.ts'), 'export const x = process.env')
  const config = path.join(root, '.oxlintrc.json')
  const { stdout } = spawnSync('oxlint', ['--type-aware', '-c', config, '--format=json', '.'], {
    cwd: folder,
    encoding: 'utf8',
  })
  found = (JSON.parse(stdout) as { diagnostics: typeof found }).diagnostics
})
afterAll(() => rmSync(folder, { recursive: true }))

const findings = (file: string) => found.filter(({ filename }) => filename === file).map(({ code }) => code)

it.each(Object.keys(PLANTED).map((rule, index) => [rule, `plant-${index}.ts`]))('%s bites', (rule, file) => {
  expect(findings(file)).toContain(rule)
})
it('file names are kebab-case, and a test has to check something', () => {
  expect(findings('CamelCase.ts')).toContain('unicorn(filename-case)')
  expect(findings('empty.test.ts')).toContain('vitest(expect-expect)')
})
it('env.ts may read the environment', () => {
  expect(findings('env.ts')).toEqual([])
})
