import { describe, expect, it } from 'vitest'
import { readFrameworks } from './frameworks.ts'
import { listFiles, readText } from './repository.ts'

const LISTS = 'packages/engine/test/frameworks'

describe('the record of npm run test:frameworks', () => {
  it.each(listFiles(`${LISTS}/*.txt`))('was made with the packages of %s', (file) => {
    const name = file.slice(LISTS.length + 1, -'.txt'.length)
    const record = readFrameworks().find((one) => one.name === name)
    const pinned = readText(file).trim().split('\n')
    const tried = Object.entries(record?.packages ?? {}).map(([one, version]) => `${one}==${version}`)
    expect(tried).toEqual(expect.arrayContaining(pinned))
  })

  it('knows of no failure', () => {
    const failed = readFrameworks().flatMap(({ name, tried }) =>
      tried.filter(({ ok }) => !ok).map(({ what }) => `${name}: ${what}`),
    )
    expect(failed).toEqual([])
  })
})
