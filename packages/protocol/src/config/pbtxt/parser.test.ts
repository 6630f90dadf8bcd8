import { expect, it } from 'vitest'
import { applyEdits } from '../problem.ts'
import { parsePbtxt } from './parser.ts'

const errorsOf = (text: string | Uint8Array) =>
  parsePbtxt(text).problems.filter((problem) => problem.severity === 'error')

/** Reference: engine/textproto.md and field-cases annex A; each was also tried with the C++ parser 3.21. */
it.each([
  ['', {}],
  ['# only a comment', {}],
  ['input: {}', { input: [{ name: '' }] }],
  ['input: [ {} ] input { }', { input: [{ name: '' }, { name: '' }] }],
  ['name: "a", max_batch_size: 4;', { name: 'a', max_batch_size: 4 }],
  ['max_batch_size: -1', { max_batch_size: -1 }],
  ['max_batch_size: - 5', { max_batch_size: -5 }],
  ['max_batch_size: 0x10', { max_batch_size: 16 }],
  ['max_batch_size: 020', { max_batch_size: 16 }],
  ['backend:"x"platform:"y"', { backend: 'x', platform: 'y' }],
  ['name: "" name: "b"', { name: 'b' }],
  ['max_batch_size: 0 max_batch_size: 1', { max_batch_size: 1 }],
  ['input { dims: 1 dims: [2, 3] }', { input: [{ dims: [1, 2, 3] }] }],
  ['input { data_type: 11 }', { input: [{ data_type: 'TYPE_FP32' }] }],
  ['input { data_type: 99 }', { input: [{ data_type: '99' }] }],
  ['input < name: "a" >', { input: [{ name: 'a' }] }],
  ['name: "a" \'b\'\n"c"', { name: 'abc' }],
  ['name: "\\x41\\101\\t\\"\\u00fc\\ud83d\\ude00"', { name: 'AA\t"ü😀' }],
  ['name: "\\303\\274"', { name: 'ü' }],
  ['name: "grüße ${NOT_FILLED}"', { name: 'grüße ${NOT_FILLED}' }],
  ['name: "a"\r\nmax_batch_size: 1', { name: 'a', max_batch_size: 1 }],
  ['name: "a"\rmax_batch_size: 1', { name: 'a', max_batch_size: 1 }],
  ['response_cache { enable: t }', { response_cache: { enable: true } }],
  ['response_cache { enable: 0 }', { response_cache: { enable: false } }],
  [
    'dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 }',
    { dynamic_batching: { max_queue_delay_microseconds: 2n ** 64n - 1n } },
  ],
  [
    'sequence_batching { direct { minimum_slot_utilization: 0.5f } }',
    { sequence_batching: { direct: { minimum_slot_utilization: 0.5 } } },
  ],
  ['parameters { key: "A", value { string_value: "1" } }', { parameters: { A: { string_value: '1' } } }],
  [
    'parameters [ { key: "A" }, { value { string_value: "q" } } ]',
    { parameters: { A: { string_value: '' }, '': { string_value: 'q' } } },
  ],
  ['metric_tags { key: "a" value: "1" } metric_tags { key: "a" value: "2" }', { metric_tags: { a: '2' } }],
  ['metric_tags { key: "__proto__" value: "1" }', { metric_tags: Object.fromEntries([['__proto__', '1']]) }],
  [
    'dynamic_batching { priority_queue_policy { key: 3 value { timeout_action: DELAY } } }',
    { dynamic_batching: { priority_queue_policy: { 3: { timeout_action: 'DELAY' } } } },
  ],
  ['version_policy: { all: {} }', { version_policy: { all: {} } }],
  [
    'model_warmup { inputs { key: "x" value { zero_data: false } } }',
    { model_warmup: [{ inputs: { x: { zero_data: false } } }] },
  ],
])('accepts %j', (text, expected) => {
  expect(errorsOf(text)).toEqual([])
  expect(parsePbtxt(text).config).toMatchObject(expected)
})

it.each([
  ['name "a"', '1:6: Expected ":", found ""a"".'],
  ['max_batch_size: "4"', '1:17: Expected integer, got: "4"'],
  ['max_batch_size: 4.0', '1:17: Expected integer, got: 4.0'],
  ['max_batch_size: 1e2', '1:17: Expected integer, got: 1e2'],
  ['max_batch_size: +4', '1:17: Expected integer, got: +'],
  ['max_batch_size: 2147483648', '1:17: Integer out of range (2147483648)'],
  ['max_batch_size: -2147483649', '1:18: Integer out of range (2147483649)'],
  ['dynamic_batching { max_queue_delay_microseconds: -1 }', '1:50: Expected integer, got: -'],
  ['response_cache { enable: yes }', '1:30: Invalid value for boolean field "enable". Value: "yes".'],
  ['response_cache { enable: TRUE }', '1:31: Invalid value for boolean field "enable". Value: "TRUE".'],
  ['response_cache { enable: "true" }', '1:26: Expected identifier, got: "true"'],
  ['response_cache { enable: 2 }', '1:26: Integer out of range (2)'],
  ['input { data_type: FP32 }', '1:25: Unknown enumeration value of "FP32" for field "data_type".'],
  ['input { data_type: "TYPE_FP32" }', '1:20: Expected integer or identifier, got: "TYPE_FP32"'],
  ['foo: 1', '1:4: Message type "inference.ModelConfig" has no field named "foo".'],
  ['input {\n\tshapes: 1 }', '2:15: Message type "inference.ModelInput" has no field named "shapes".'],
  ['parameters { A: "1" }', '1:15: Message type "inference.ModelConfig.ParametersEntry" has no field named "A".'],
  ['maxBatchSize: 1', '1:13: Message type "inference.ModelConfig" has no field named "maxBatchSize".'],
  ['name: "a" name: "b"', '1:15: Non-repeated field "name" is specified multiple times.'],
  [
    'dynamic_batching {} sequence_batching {}',
    '1:39: Field "sequence_batching" is specified along with field "dynamic_batching", another member of oneof "scheduling_choice".',
  ],
  ['input { dims: [1,] }', '1:18: Expected integer, got: ]'],
  ['input [ {}, ]', '1:13: Expected "{", found "]".'],
  ['input [ {} {} ]', '1:12: Expected ",", found "{".'],
  ['input { dims [1] }', '1:14: Expected ":", found "[".'],
  ['input: "b"', '1:8: Expected "{", found ""b"".'],
  ['input { name: "a" >', '1:19: Expected "}", found ">".'],
  ['input { name: "a"', '1:18: Expected identifier, got: '],
  ['name: "a",, backend: "b"', '1:11: Expected identifier, got: ,'],
  ['[ext.name]: 1', '1:11: Extension "ext.name" is not defined or is not an extension of "inference.ModelConfig".'],
  ['// c', '1:1: Expected identifier, got: /'],
  ['{"backend": "x"}', '1:1: Expected identifier, got: {'],
  ['name: foo', '1:7: Expected string, got: foo'],
  ['name: ["a"]', '1:7: Expected string, got: ['],
  ['name: "a\\q"', '1:10: Invalid escape sequence in string literal.'],
  ['name: "a', '1:9: Unexpected end of string.'],
  ['name: "a\nb"', '1:9: String literals cannot cross line boundaries.'],
  ['max_batch_size: 08', '1:18: Numbers starting with leading zero must be in octal.'],
  ['max_batch_size: 1a', '1:18: Need space between number and identifier.'],
  ['max_batch_size: ${MBS}', '1:17: Expected integer, got: $'],
  ['sequence_batching { direct { minimum_slot_utilization: 0x10 } }', '1:56: Expect a decimal number, got: 0x10'],
  ['name: “a”', '1:7: Interpreting non ascii codepoint 226.'],
  ['name:\u00a0"a"', '1:6: Interpreting non ascii codepoint 194.'],
  ['name: "ü" foo: 1', '1:15: Message type "inference.ModelConfig" has no field named "foo".'],
  ['\0name: "a"', '1:1: Invalid control characters encountered in text.'],
])('refuses %j as the original does', (text, original) => {
  expect(errorsOf(text)[0]?.original).toBe(original)
  expect(errorsOf(text)[0]?.message.startsWith(original)).toBe(true)
})

it.each([
  ['max_batch_size: ${MBS}', 'max_batch_size', 'template variable ${MBS} was not filled in'],
  ['maxBatchSize: 1', '', 'did you mean max_batch_size?'],
  ['foo: 1\ninput { dims: [1,] }', '', ''],
  ['input { kind: KIND_CPU }', 'input[0]', 'kind belongs to'],
  ['input {} input { dims: [ 1, 2, ] }', 'input[1].dims', 'a list must not end with a comma'],
  ['input { data_type: BYTES }', 'input[0].data_type', 'did you mean TYPE_STRING?'],
  ['name: “a”', 'name', '“ (U+201C) is a typographic quote'],
  ['name:\u00a0"a"', 'name', 'U+00A0 is a no-break space'],
  ['// c', '', 'comments start with #'],
  ['{"backend": "x"}', '', 'not JSON'],
  ['name: "a"\nname: "b"', 'name', 'first given on line 1'],
  ['name: "a\nbackend: "b"', 'name', 'the closing quote is missing'],
  ['parameters { A: "1" }', 'parameters[0]', '{ key: "A" value { … } }'],
  ['input { dims: 1', 'input[0]', 'a closing } is missing'],
  ['name: "a" }', '', 'one } too many'],
])('explains %j', (text, path, hint) => {
  const [problem] = errorsOf(text)
  expect(problem?.path).toBe(path)
  expect(problem?.message).toContain(hint)
})

it.each([
  ['max_batch_size: "8"', 'max_batch_size: 8'],
  ['max_batch_size: 8.0', 'max_batch_size: 8'],
  ['max_batch_size 8', 'max_batch_size: 8'],
  ['max_batch_size = 8', 'max_batch_size : 8'],
  ['maxBatchSize: 8', 'max_batch_size: 8'],
  ['name: foo', 'name: "foo"'],
  ['input { data_type: "FP32" }', 'input { data_type: TYPE_FP32 }'],
  ['input { data_type: float32 }', 'input { data_type: TYPE_FP32 }'],
  ['input { dims: [1, 2,] }', 'input { dims: [1, 2] }'],
  ['input [ {}, ]', 'input [ {} ]'],
  ['input [ {} {} ]', 'input [ {}, {} ]'],
  ['input [ {}\noutput [ {} ]', 'input [ {}]\noutput [ {} ]'],
  ['response_cache { enable: yes }', 'response_cache { enable: true }'],
  ['name:\u00a0"a"', 'name: "a"'],
  ['// c', '# c'],
  ['name: "a\nbackend: "b"', 'name: "a"\nbackend: "b"'],
  ['\uFEFFname: "a"', 'name: "a"'],
])('repairs %j', (text, repaired) => {
  const fix = parsePbtxt(text).problems[0]?.fix
  expect(applyEdits(text, fix?.edits ?? [])).toBe(repaired)
  expect(errorsOf(repaired)).toEqual([])
})

it('reports every problem of a text and reads the rest', () => {
  const text =
    'nme: "a"\nmax_batch_size: eight\ninput [ { name: "I" data_typ: TYPE_FP32 dims: [ 1, ] }, { dims: x } ]\nbackend: "onnxruntime"\n'
  const { config, problems } = parsePbtxt(text)
  expect(problems.map((problem) => [problem.line, problem.path])).toEqual([
    [1, ''],
    [2, 'max_batch_size'],
    [3, 'input[0]'],
    [3, 'input[0].dims'],
    [3, 'input[1].dims'],
  ])
  expect(config).toMatchObject({ backend: 'onnxruntime', input: [{ name: 'I', dims: [1] }, { dims: [] }] })
})

it('strips a byte order mark with a warning, also from bytes', () => {
  for (const text of ['\uFEFFname: "a"', new TextEncoder().encode('\uFEFFname: "a"')]) {
    const { config, problems } = parsePbtxt(text)
    expect(config.name).toBe('a')
    expect(problems.map((problem) => problem.severity)).toEqual(['warning'])
  }
})

it('names UTF-16 and bytes that are not UTF-8', () => {
  const utf16 = new Uint8Array(Uint16Array.from('name: "a"', (char) => char.charCodeAt(0)).buffer)
  expect(errorsOf(Uint8Array.from([0xff, 0xfe, ...utf16]))[0]?.message).toMatch(
    /^1:1: Interpreting non ascii codepoint 255\..*UTF-16/,
  )
  expect(errorsOf(Uint8Array.from([0x6e, 0xff]))[0]?.message).toContain('byte 0xff is not UTF-8')
})

it('keeps dimensions beyond 2^53 with a warning', () => {
  const { problems } = parsePbtxt('input { dims: 9007199254740993 }')
  expect(problems[0]).toMatchObject({ severity: 'warning', path: 'input[0].dims' })
  expect(problems[0]?.message).toContain('9007199254740993 is beyond 2^53')
})

it.each([
  ['{', '{', 10],
  ['NUL', '\0', 10],
  ['input {', 'input { ', 2],
  ['[', '[', 2],
  ['<', '<', 2],
  ['quote', '"', 2],
  ['digits', '9', 2],
  ['an open list', 'input{dims:[', 2],
  ['backslash', '"\\', 2],
  ['non ascii', 'é', 2],
  ['comma', ',', 2],
  ['comments', '#\n', 2],
  ['good text', 'input { dims: [1, 2] }\n', 2],
  ['map entries', 'metric_tags { key: "a" value: "b" }\n', 2],
  ['a field that is still default', 'backend: ""\n', 2],
])(
  'reads megabytes of %s in linear time',
  (_, unit, megabytes) => {
    const text = unit.repeat(Math.ceil((megabytes * 2 ** 20) / unit.length))
    const start = performance.now()
    const { problems } = parsePbtxt(text)
    expect(problems.length).toBeLessThanOrEqual(100)
    // Generous: a quadratic reader needs hours for these.
    expect(performance.now() - start).toBeLessThan(20_000)
  },
  60_000,
)
