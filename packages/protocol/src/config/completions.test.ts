import { expect, it } from 'vitest'
import { completionsAt } from './completions.ts'
import { describeField } from './describe.ts'
import { allMessages, enumerationOf } from './descriptor.ts'

/** `|` marks the place. */
const labelsAt = (marked: string) => completionsAt(marked.replace('|', ''), marked.indexOf('|')).map((one) => one.label)

it.each([
  ['|', ['name', 'backend', 'input'], ['dims', 'TYPE_FP32']],
  ['name: "a" |', ['backend', 'input'], ['name']],
  ['dynamic_batching { } |', ['input'], ['sequence_batching', 'dynamic_batching']],
  ['input [ { name: "a" | } ]', ['dims', 'data_type'], ['name', 'backend']],
  ['input { } input { | }', ['name'], ['backend']],
  ['input { data_type: | }', ['TYPE_FP32', 'TYPE_STRING'], ['TYPE_INVALID', 'dims']],
  ['input { data_type: TYPE_F| }', ['TYPE_FP32'], ['dims']],
  ['input { data_type: TYPE_FP32 | }', ['dims'], ['TYPE_FP32']],
  ['instance_group < kind:| >', ['KIND_CPU'], ['name']],
  ['response_cache { enable: |', ['true', 'false'], []],
  ['parameters { key: "a" value { | } }', ['string_value'], ['key']],
  ['parameters [ { | } ]', ['key', 'value'], []],
  ['input { dims: [ 1, 2 ] | }', ['optional'], []],
  ['max_batch_size: 8 inp|ut', ['input'], []],
])('suggests for %s', (marked, some, none) => {
  const labels = labelsAt(marked)
  expect(labels).toEqual(expect.arrayContaining(some))
  for (const label of none) expect(labels).not.toContain(label)
})

it.each(['# com|ment', 'name: "a|b"', 'max_batch_size: |', 'zzz { | }', 'input { dims: [ | ] }'])(
  'suggests nothing for %s',
  (marked) => {
    expect(labelsAt(marked)).toEqual([])
  },
)

it('replaces the word it stands in', () => {
  const [first] = completionsAt('input { data_type: TYPE_F }', 24)
  expect(first).toMatchObject({ from: 19, to: 25 })
  expect(completionsAt('back', 4).find((one) => one.label === 'backend')).toMatchObject({
    from: 0,
    to: 4,
    insert: 'backend: ""',
    detail: 'string backend = 17',
  })
})

it('describes fields by path', () => {
  expect(describeField('input[0].dims')).toMatchObject({
    declaration: 'repeated int64 dims = 4',
    parent: 'inference.ModelInput',
    defaultValue: '[]',
  })
  expect(describeField('parameters["a.b"].string_value')).toMatchObject({ declaration: 'string string_value = 1' })
  expect(describeField('parameters')?.declaration).toBe('map<string, ModelParameter> parameters = 14')
  expect(describeField('dynamic_batching')?.excludes).toEqual(['sequence_batching', 'ensemble_scheduling'])
  expect(describeField('input.data_type')?.values).toContainEqual({
    name: 'TYPE_FP32',
    number: 11,
    doc: expect.stringContaining('4 bytes'),
  })
  expect(describeField('nope')).toBeUndefined()
  expect(describeField('name.nope')).toBeUndefined()
})

it('has a type for every field and words for every field and value', () => {
  let count = 0
  for (const message of allMessages()) {
    expect(new Set(message.fields.map((field) => field.number)).size).toBe(message.fields.length)
    for (const field of message.fields) {
      count += 1
      expect(field.doc).toMatch(/\w.*[.…?]$/)
      expect(field.number).toBeGreaterThan(0)
      if (field.type !== 'enum') continue
      for (const [name, number] of enumerationOf(field.typeName).values) {
        expect(enumerationOf(field.typeName).names.get(number)).toBe(name)
        expect(enumerationOf(field.typeName).docs[name]).toMatch(/\.$/)
      }
    }
  }
  expect(count).toBeGreaterThan(150)
})
