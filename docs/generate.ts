/** The parts of the documents that are drawn from the code: `npm run docs` writes them, docs.test.ts compares. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { type Flag, UP_FLAGS } from '../apps/server/src/flags.ts'
import { describeFiles, printProto } from '../packages/protocol/src/index.ts'
import { readCapabilities } from './behaviours.ts'
import { renderLimits } from './limits.ts'
import { renderFrameworks } from './frameworks.ts'
import { listFiles, readText, root } from './repository.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const TESTS = '\\.(test|suite|test-d)\\.ts$'
const SUPERSET = new Set(['Beyond the original', 'Console'])

function renderFlags(): string {
  const suite = listFiles('apps/server/test/conformance/test_*.py').map((file) => ({ file, text: readText(file) }))
  const rows = UP_FLAGS.map((flag) => {
    const file = suite.find(({ text }) => new RegExp(`--${flag.name}\\b(?!-)`).test(text))?.file
    return `| \`--${flag.name}\` | ${cell(flag.help)} | ${describeEffect(flag)} | \`${file ?? 'apps/server/src/options.test.ts'}\` |`
  })
  return ['| flag | meaning | here | test |', '|---|---|---|---|', ...rows].join('\n')
}

function describeEffect(flag: Flag): string {
  if (flag.idle !== '') return `accepted, changes nothing: ${cell(flag.idle)}`
  return SUPERSET.has(flag.group) ? '*superset*' : 'as the original'
}

function renderBehaviours(): string {
  return readCapabilities()
    .map(({ file, title, behaviours }) => {
      const rows = behaviours.map(({ test, text, superset, status }) => {
        const words = superset ? `${cell(text)} *(superset)*` : cell(text)
        return `| ${words} | ${cell(status)} | \`${test}\` |`
      })
      return [`### ${title}`, '', `\`${file}\``, '', '| promise | kept | test |', '|---|---|---|', ...rows].join('\n')
    })
    .join('\n\n')
}

/** The rooms of the engine and who imports whom, contracts included. */
async function renderRooms(): Promise<string> {
  const options = await extractOptions(path.join(root, '.dependency-cruiser.cjs'))
  const rules = { baseDir: root, validate: false, includeOnly: '^packages/engine/src', exclude: TESTS }
  const { output } = await cruise(['packages/engine/src'], { ...options, ...rules }, undefined, {
    tsConfig: extractTsConfig(path.join(root, 'tsconfig.base.json')),
  })
  if (typeof output === 'string') throw new TypeError('the report came as text')
  const roomOf = (file: string): string => file.split('/')[3] ?? ''
  const arrows = output.modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => [roomOf(source), roomOf(resolved)] as const),
  )
  const targets = Map.groupBy(
    arrows.filter(([from, to]) => from !== to),
    ([from]) => from,
  )
  const lines = [...targets].map(([from, all]) => {
    return `  ${from} --> ${[...new Set(all.map(([, to]) => to))].toSorted((a, b) => (a < b ? -1 : 1)).join(' & ')}`
  })
  return ['```mermaid', 'flowchart LR', ...lines.toSorted(), '```'].join('\n')
}

/** Puts `text` between `<!-- name -->` and `<!-- /name -->`. */
export function fill(document: string, name: string, text: string): string {
  const [before, rest] = document.split(`<!-- ${name} -->\n`)
  const after = rest?.split(`<!-- /${name} -->`)[1]
  if (before === undefined || after === undefined) throw new Error(`the marks of "${name}" are missing`)
  return `${before}<!-- ${name} -->\n${text}\n<!-- /${name} -->${after}`
}

/** Path → text, as they should be. */
export async function renderDocuments(): Promise<Readonly<Record<string, string>>> {
  const flags = fill(readText('docs/compat.md'), 'flags', renderFlags())
  const limits = fill(flags, 'limits', renderLimits())
  const compat = fill(limits, 'frameworks', renderFrameworks())
  return {
    'docs/compat.md': fill(compat, 'behaviours', renderBehaviours()),
    'ARCHITECTURE.md': fill(readText('ARCHITECTURE.md'), 'rooms', await renderRooms()),
    ...Object.fromEntries(describeFiles().map((file) => [`docs/proto/${file.name}`, printProto(file)])),
  }
}

if (import.meta.main)
  for (const [file, text] of Object.entries(await renderDocuments())) writeFileSync(path.join(root, file), text)
