import { expect, it } from 'vitest'
import { DATATYPES } from '../datatype.ts'
import { toConfigDatatype, toProtocolDatatype } from './datatype-name.ts'

it('maps every wire type to a config type and back', () => {
  for (const datatype of DATATYPES) expect(toProtocolDatatype(toConfigDatatype(datatype))).toBe(datatype)
  expect(toConfigDatatype('BYTES')).toBe('TYPE_STRING')
})

it.each(['TYPE_INVALID', 'TYPE_BYTES', 'FP32', '99', ''])('knows no wire type for %j', (type) => {
  expect(toProtocolDatatype(type)).toBeUndefined()
})
