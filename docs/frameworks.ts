import { readText } from './repository.ts'

/** What `npm run test:frameworks` tried with one framework, and when. */
interface Tried {
  readonly name: string
  readonly date: string
  readonly python: string
  readonly packages: Readonly<Record<string, string>>
  readonly tried: readonly { readonly what: string; readonly ok: boolean }[]
}

/** The record as a table: one row a framework, with everything that was tried. */
export function renderFrameworks(): string {
  const rows = readFrameworks().map(({ name, date, python, packages, tried }) => {
    const versions = Object.entries(packages).map(([one, version]) => `${one} ${version}`)
    const what = tried.map((one) => (one.ok ? one.what : `**failed:** ${one.what}`)).join(' · ')
    return `| ${name} | ${[`Python ${python}`, ...versions].join(', ')} | ${date} | ${what} |`
  })
  return ['| framework | versions | tried on | what was tried |', '|---|---|---|---|', ...rows].join('\n')
}

export function readFrameworks(): readonly Tried[] {
  return JSON.parse(readText('docs/frameworks.json')) as readonly Tried[]
}
