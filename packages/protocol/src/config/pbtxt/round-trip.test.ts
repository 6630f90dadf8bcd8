import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Field } from '../descriptor.ts'
import { createMessage, enumerationOf, isBig, messageOf, ROOT } from '../descriptor.ts'
import { parseConfigJson } from '../json-parse.ts'
import { configToJson } from '../json-print.ts'
import { applyEdits } from '../problem.ts'
import type { ModelConfig } from '../schema.ts'
import { editPbtxt } from './edit.ts'
import { formatPbtxt } from './format.ts'
import { parsePbtxt } from './parser.ts'
import { printPbtxt } from './print.ts'
import type { MessageNode } from './tree.ts'
import { findNode, originsOf } from './tree.ts'

const RANGES: Record<string, [bigint, bigint]> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
}
const SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const clamp = (value: bigint) => (value > SAFE ? SAFE : value < -SAFE ? -SAFE : value)

function scalarOf(field: Field): fc.Arbitrary<unknown> {
  if (field.type === 'string') return fc.string({ unit: 'binary' })
  if (field.type === 'bool') return fc.boolean()
  if (field.type === 'enum') return fc.constantFrom(...enumerationOf(field.typeName).values.keys())
  if (field.type === 'float') return fc.float({ noNaN: true })
  if (field.type === 'double') return fc.double({ noNaN: true })
  const [least, most] = RANGES[field.type] ?? [0n, 0n]
  if (isBig(field)) return fc.bigInt(least, most)
  return fc.bigInt(clamp(least), clamp(most)).map(Number)
}

function valueOf(field: Field): fc.Arbitrary<unknown> {
  const one = field.type === 'message' ? messageArbitrary(field.typeName) : scalarOf(field)
  if (field.label === 'many') return fc.array(one, { maxLength: 2 })
  if (field.label === 'one') return one
  const key = field.keyType === 'uint64' ? fc.bigInt(0n, 2n ** 64n - 1n).map(String) : fc.string({ unit: 'binary' })
  return fc.array(fc.tuple(key, one), { maxLength: 2 }).map((entries) => Object.fromEntries(entries))
}

/** Any subset of the fields, at most one of each oneof. */
function messageArbitrary(name: string): fc.Arbitrary<Record<string, unknown>> {
  const { fields } = messageOf(name)
  const parts = fields.map((field) => fc.option(valueOf(field), { nil: undefined, freq: 2 }))
  return fc.tuple(...parts).map((values) => {
    const made = createMessage(name)
    const taken = new Set<string>()
    for (const [index, value] of values.entries()) {
      const field = fields[index]
      if (field === undefined || value === undefined || taken.has(field.oneof)) continue
      if (field.oneof !== '') taken.add(field.oneof)
      made[field.name] = value
    }
    return made
  })
}
const anyConfig = messageArbitrary(ROOT) as unknown as fc.Arbitrary<ModelConfig>

it('what is printed as text reads back the same', () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const { config: read, problems } = parsePbtxt(printPbtxt(config))
      expect(problems).toEqual([])
      expect(read).toEqual(config)
    }),
    { numRuns: 150 },
  )
})

it('what is printed as JSON reads back the same', () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const { config: read, problems } = parseConfigJson(configToJson(config))
      expect(problems).toEqual([])
      // JSON has one zero: -0 is printed as 0.
      expect(configToJson(read)).toBe(configToJson(config))
      expect(printPbtxt(read)).toBe(printPbtxt(config).replaceAll(': -0\n', ': 0\n'))
    }),
    { numRuns: 150 },
  )
})

it('formatting keeps the meaning and is stable', () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const text = formatPbtxt(printPbtxt(config))
      expect(parsePbtxt(text).config).toEqual(config)
      expect(formatPbtxt(text)).toBe(text)
    }),
    { numRuns: 60 },
  )
})

const SAMPLE = `# head
name: "m" # the name
backend: "onnxruntime"; max_batch_size: 8

input [ { name: "A" data_type: TYPE_FP32 dims: [ 16, -1 ] }, # first
  { name: "B" data_type: 11 dims: 4 dims: 0x5 } ]
parameters { key: "k" value { string_value: "v" } }
dynamic_batching < preferred_batch_size: [ 4, 8 ] >
# tail`

/** Everything between, before and behind the nodes, and the nodes themselves. */
function render(node: MessageNode, text: string): string {
  let result = ''
  let at = node.start
  for (const field of node.fields) {
    result += text.slice(at, field.start)
    let inner = field.start
    for (const value of field.values) {
      result += text.slice(inner, value.start)
      result += value.kind === 'message' ? render(value, text) : text.slice(value.start, value.end)
      inner = value.end
    }
    result += text.slice(inner, field.separatorEnd)
    at = field.separatorEnd
  }
  return result + text.slice(at, node.end)
}

it('a tree that was not changed is its text, whatever the text', () => {
  const pieces = [
    'name: "a"',
    'input {',
    '}',
    ' ',
    '\n',
    '# c\n',
    'dims: [1, 2]',
    ',',
    ';',
    '[',
    ']',
    'zzz: 1',
    '"',
    'ü',
    '\0',
    'max_batch_size 4',
    '<',
    '>',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces)), (parts) => {
      const text = parts.join('')
      expect(render(parsePbtxt(text).tree.root, text)).toBe(text)
    }),
  )
  expect(render(parsePbtxt(SAMPLE).tree.root, SAMPLE)).toBe(SAMPLE)
})

it('fixes can be applied to any text', () => {
  const pieces = [
    'nam: "a"',
    'input [ {',
    '} ]',
    ' ',
    '\n',
    'dims: [1, 2,]',
    '“x”',
    'data_type: FP32',
    'max_batch_size 4',
    'backend: x',
    '${A}',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces)), (parts) => {
      const text = parts.join(' ')
      for (const { fix, offset, length } of parsePbtxt(text).problems) {
        expect(offset + length).toBeLessThanOrEqual(text.length + 1)
        for (const edit of fix?.edits ?? []) expect(edit.from <= edit.to && edit.to <= text.length).toBe(true)
        applyEdits(text, fix?.edits ?? [])
      }
    }),
  )
})

it('knows where every value comes from', () => {
  const origins = originsOf(parsePbtxt(SAMPLE).tree)
  expect(
    Object.fromEntries(
      [...origins].map(([path, origin]) => [path, `${origin.line} ${SAMPLE.slice(origin.start, origin.end)}`]),
    ),
  ).toEqual({
    name: '2 "m"',
    backend: '3 "onnxruntime"',
    max_batch_size: '3 8',
    'input[0].name': '5 "A"',
    'input[0].data_type': '5 TYPE_FP32',
    'input[0].dims[0]': '5 16',
    'input[0].dims[1]': '5 -1',
    'input[1].name': '6 "B"',
    'input[1].data_type': '6 11',
    'input[1].dims[0]': '6 4',
    'input[1].dims[1]': '6 0x5',
    'parameters["k"].string_value': '7 "v"',
    'dynamic_batching.preferred_batch_size[0]': '8 4',
    'dynamic_batching.preferred_batch_size[1]': '8 8',
  })
  const { tree } = parsePbtxt(SAMPLE)
  for (const [path, { start }] of origins) expect(findNode(tree, path)?.value?.start).toBe(start)
})

it.each([
  ['max_batch_size', 16, ['max_batch_size: 8', 'max_batch_size: 16']],
  ['name', undefined, ['name: "m" # the name', '# the name']],
  ['input[1].dims[1]', 7, ['0x5', '7']],
  ['input[1].dims', [1, 2], ['dims: 4 dims: 0x5', 'dims: [ 1, 2 ]']],
  ['input[0].dims', [16], ['dims: [ 16, -1 ]', 'dims: [ 16 ]']],
  ['input[0].dims[0]', undefined, ['16, -1', '-1']],
  ['input[0].optional', true, ['dims: [ 16, -1 ] }', 'dims: [ 16, -1 ] optional: true }']],
  ['input[0].reshape.shape', [16, -1], ['dims: [ 16, -1 ] }', 'dims: [ 16, -1 ] reshape { shape: 16 shape: -1 } }']],
  ['parameters["k"].string_value', 'w"', ['"v"', '"w\\""']],
  ['parameters["k"]', undefined, ['parameters { key: "k" value { string_value: "v" } }\n', '']],
  [
    'parameters["n"].string_value',
    '1',
    ['\n# tail', '\nparameters {\n  key: "n"\n  value {\n    string_value: "1"\n  }\n}\n# tail'],
  ],
  ['dynamic_batching.max_queue_delay_microseconds', 5n, ['[ 4, 8 ] >', '[ 4, 8 ] max_queue_delay_microseconds: 5 >']],
  ['dynamic_batching', undefined, ['dynamic_batching < preferred_batch_size: [ 4, 8 ] >\n', '']],
  ['response_cache.enable', true, ['\n# tail', '\nresponse_cache {\n  enable: true\n}\n# tail']],
  ['no_such_field', 1, ['', '']],
])('edits %s and nothing else', (path, value, [before, after]) => {
  const edited = editPbtxt(SAMPLE, path, value)
  expect(edited).toBe(SAMPLE.replace(before ?? '', () => after ?? ''))
  expect(parsePbtxt(edited).problems).toEqual([])
})

it('adds to an empty text and to a message on several lines', () => {
  expect(editPbtxt('', 'max_batch_size', 4)).toBe('max_batch_size: 4\n')
  expect(editPbtxt('# c', 'name', 'a')).toBe('# c\nname: "a"\n')
  expect(editPbtxt('input {\n  name: "a" # n\n}\n', 'input[0].dims', [1])).toBe(
    'input {\n  name: "a" # n\n  dims: [ 1 ]\n}\n',
  )
  expect(editPbtxt('response_cache {}', 'response_cache.enable', true)).toBe('response_cache {\n  enable: true\n}')
})

it('an edit gives the config that was asked for', () => {
  const scalars = [
    'name',
    'max_batch_size',
    'default_model_filename',
    'optimization.graph.level',
    'input[0].name',
    'version_policy.latest.num_versions',
  ]
  fc.assert(
    fc.property(fc.constantFrom(...scalars), fc.constantFrom(SAMPLE, '', 'input { }'), (path, text) => {
      const value = /size|level|versions/.test(path) ? 3 : 'x'
      const edited = editPbtxt(text, path, value)
      const { tree, problems } = parsePbtxt(edited)
      const found = findNode(tree, path)?.value
      expect(problems).toEqual([])
      expect(found?.kind === 'scalar' && found.value).toBe(value)
    }),
  )
})
