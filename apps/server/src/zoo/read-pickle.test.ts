import { expect, it } from 'vitest'
import { readPickle } from './read-pickle.ts'

const read = (...bytes: number[]) => readPickle(Buffer.from(bytes), 0).value

it('reads what Python writes for plain data', () => {
  // pickle.dumps({'a': [1, 300, -2, None, True], 'b': (1,)}, protocol=2), Python 3.11
  const bytes = Buffer.from(
    '80027d71002858010000006171015d7102284b014d2c014afeffffff4e886558010000006271034b01857104752e',
    'hex',
  )
  const { value, end } = readPickle(bytes, 0)
  expect(value).toEqual(
    new Map<string, unknown>([
      ['a', [1, 300, -2, null, true]],
      ['b', [1]],
    ]),
  )
  expect(end).toBe(bytes.length)
})

it('keeps a call as a record and runs nothing', () => {
  // os.system('x'): the name, the arguments, the call.
  expect(read(...Buffer.from('cos\nsystem\nX\x01\0\0\0x\x85R.', 'latin1'))).toEqual({ call: 'os.system', args: ['x'] })
})

it.each([
  ['an unknown instruction', [0x80, 2, 0xff]],
  ['an end too early', [0x4a, 1]],
  ['a pop from nothing', [0x85, 0x2e]],
  ['a mark that was never set', [0x74, 0x2e]],
  ['a memory that was never filled', [0x68, 9, 0x2e]],
])('refuses %s', (_, bytes) => {
  expect(() => read(...bytes)).toThrow(/pickle/)
})
