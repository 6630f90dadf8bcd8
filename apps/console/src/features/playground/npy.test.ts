import { expect, it } from 'vitest'
import { parseNpy } from './npy.ts'

function npy(header: string, data: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(header.padEnd(53) + '\n')
  const head = new Uint8Array([0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, text.length & 255, text.length >> 8])
  return new Uint8Array([...head, ...text, ...data])
}
const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer)

it('reads floats and exact 64-bit integers', () => {
  const floats = parseNpy(
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", bytesOf(new Float32Array([0.1, 2, -3, 4]))),
  )
  expect(floats).toEqual({ datatype: 'FP32', shape: [2, 2], values: ['0.1', '2', '-3', '4'] })
  const whole = parseNpy(
    npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", bytesOf(new BigInt64Array([9007199254740993n]))),
  )
  expect(whole).toEqual({ datatype: 'INT64', shape: [1], values: ['9007199254740993'] })
})

it('turns column order into row order', () => {
  const array = parseNpy(
    npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", new Uint8Array([1, 4, 2, 5, 3, 6])),
  )
  expect(array.values).toEqual(['1', '2', '3', '4', '5', '6'])
})

it('reads a scalar', () => {
  expect(parseNpy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", new Uint8Array([1])))).toEqual({
    datatype: 'BOOL',
    shape: [],
    values: ['true'],
  })
})

it('says why a file cannot be used', () => {
  expect(() => parseNpy(new Uint8Array(20))).toThrow('not a .npy')
  expect(() => parseNpy(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", new Uint8Array(8)))).toThrow(
    'c8',
  )
  expect(() => parseNpy(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", new Uint8Array(4)))).toThrow(
    'big-endian',
  )
  expect(() => parseNpy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }", new Uint8Array(4)))).toThrow(
    'ends',
  )
})

it('reads half floats', () => {
  const halves = new Uint16Array([0x3c00, 0xc000, 0x0001, 0x7bff])
  const { values } = parseNpy(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }", bytesOf(halves)))
  expect(values).toEqual(['1', '-2', '5.9604645e-8', '65504'])
})
