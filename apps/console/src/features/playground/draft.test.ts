import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isJsonNumber, parseDraft, printDraft, splitValues, type Draft } from './draft.ts'

it('keeps every digit of 64-bit integers and long decimals', () => {
  const text = '{"inputs":[{"name":"x","datatype":"INT64","shape":[2],"data":[9007199254740993,-9223372036854775808]}]}'
  const draft = parseDraft(text)
  expect(draft.inputs[0]?.values).toEqual(['9007199254740993', '-9223372036854775808'])
  expect(printDraft(draft)).toContain('[9007199254740993, -9223372036854775808]')
})

it('flattens nested data and keeps what the form does not show', () => {
  const draft = parseDraft(
    '{"id":"7","parameters":{"sequence_id":18446744073709551615},"outputs":[{"name":"y","parameters":{"classification":3}}],"inputs":[{"name":"x","datatype":"FP32","shape":[2,2],"parameters":{"x":1},"data":[[1,2.50],[3e4,4]]}]}',
  )
  expect(draft.inputs[0]).toMatchObject({ values: ['1', '2.50', '3e4', '4'], parameters: '{ "x": 1 }' })
  expect(draft).toMatchObject({ id: '7', parameters: '{ "sequence_id": 18446744073709551615 }' })
  expect(parseDraft(printDraft(draft))).toEqual(draft)
})

it('says what it cannot show', () => {
  expect(() => parseDraft('{"inputs":3}')).toThrow('"inputs"')
  expect(() => parseDraft('{"inputs":[{"name":"x","datatype":"FP31","shape":[1]}]}')).toThrow('datatype')
  expect(() => parseDraft('{')).toThrow(SyntaxError)
})

const tensor = fc.oneof(
  fc.record({ datatype: fc.constant('BYTES' as const), values: fc.array(fc.string()) }),
  fc.record({
    datatype: fc.constant('FP64' as const),
    values: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value))),
  }),
  fc.record({
    datatype: fc.constant('INT64' as const),
    values: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  }),
  fc.record({ datatype: fc.constant('BOOL' as const), values: fc.array(fc.constantFrom('true', 'false')) }),
)

it('round-trips any draft through JSON', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string({ minLength: 1 }), tensor)), fc.string(), (inputs, id) => {
      const draft: Draft = {
        id,
        parameters: '',
        outputs: '',
        inputs: inputs.map(([name, rest]) => ({
          name,
          shape: [rest.values.length],
          source: '',
          parameters: '',
          ...rest,
        })),
      }
      expect(parseDraft(printDraft(draft))).toEqual(draft)
    }),
  )
})

it('reads values however they are written', () => {
  expect(splitValues('[[1, 2.5],\n [3 4]]')).toEqual(['1', '2.5', '3', '4'])
  expect(splitValues('+.5 -.25 1. 007 1.e5 abc')).toEqual(['0.5', '-0.25', '1', '7', '1e5', 'abc'])
  expect(isJsonNumber('01')).toBe(false)
})
