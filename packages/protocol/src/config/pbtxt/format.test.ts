import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatPbtxt } from './format.ts'
import { parsePbtxt } from './parser.ts'

it('lays out fields one a line and keeps comments, blank lines and spelling', () => {
  const text = `#  head
name:"m",max_batch_size:0x8;   # eight


backend : "a"   'b'
input [ { name: "A" data_type: TYPE_FP32 dims: [16,-1] }, # first
{ # inside
name:"B"
  # last
}]
# before
optimization{graph{level:1}}
version_policy: {
}
instance_group < kind : KIND_CPU
 count:- 1 >
output { dims: [ 1, # one
 2 ] }
# tail`
  expect(formatPbtxt(text)).toBe(`#  head
name: "m"
max_batch_size: 0x8 # eight

backend: "a" 'b'
input [
  { name: "A" data_type: TYPE_FP32 dims: [ 16, -1 ] }, # first
  { # inside
    name: "B"
    # last
  }
]
# before
optimization { graph { level: 1 } }
version_policy {}
instance_group {
  kind: KIND_CPU
  count: -1
}
output {
  dims: [
    1, # one
    2
  ]
}
# tail
`)
})

it('puts a comment behind a value that holds a #', () => {
  expect(formatPbtxt('name:"#a" # c\n# d')).toBe('name: "#a" # c\n# d\n')
})

it('leaves a text with errors alone', () => {
  expect(formatPbtxt('name   "a"')).toBe('name   "a"')
})

it('keeps meaning and every comment, and is stable', () => {
  const pieces = [
    'name: "a"',
    'input {',
    '}',
    ' ',
    '\n',
    '\n\n',
    '# c\n',
    'dims: [ 1,',
    '2 ]',
    'dims: 3',
    ',',
    ';',
    'optimization',
    'metric_tags { key: "a" value: "b" }',
    '"b"',
    'input [ {',
    '} ]',
    '\r\n',
    '\t',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      fc.pre(parsePbtxt(text).problems.length === 0)
      const formatted = formatPbtxt(text)
      expect(parsePbtxt(formatted).problems).toEqual([])
      expect(parsePbtxt(formatted).config).toEqual(parsePbtxt(text).config)
      expect(parsePbtxt(formatted).tree.comments.length).toBe(parsePbtxt(text).tree.comments.length)
      expect(formatPbtxt(formatted)).toBe(formatted)
    }),
    { numRuns: 1000 },
  )
})
