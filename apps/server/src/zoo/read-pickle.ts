/**
 * The part of Python's pickle format (protocol 2) that a checkpoint of tensors needs. Nothing is executed: names of
 * functions stay names, and a call becomes a record of its name and arguments.
 */
export type Pickled =
  | null
  | boolean
  | number
  | bigint
  | string
  | Pickled[]
  | Map<Pickled, Pickled>
  | { readonly call: string; readonly args: Pickled }
  | { readonly name: string }
  | { readonly persistent: Pickled }

const MARK = Symbol('mark')

class Machine {
  readonly bytes: Buffer
  at: number
  readonly stack: (Pickled | typeof MARK)[] = []
  readonly memo = new Map<number, Pickled>()

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes
    this.at = at
  }

  take(size: number): Buffer {
    if (this.at + size > this.bytes.length) throw new Error('the pickle ends too early')
    this.at += size
    return this.bytes.subarray(this.at - size, this.at)
  }

  line(): string {
    const end = this.bytes.indexOf(10, this.at)
    const text = this.take(end - this.at).toString()
    this.at += 1
    return text
  }

  push(value: Pickled): void {
    this.stack.push(value)
  }

  pop(): Pickled {
    const value = this.stack.pop()
    if (value === undefined || value === MARK) throw new Error('the pickle takes more than it has put')
    return value
  }

  top(): Pickled {
    const value = this.pop()
    this.push(value)
    return value
  }

  popToMark(): Pickled[] {
    const from = this.stack.lastIndexOf(MARK)
    if (from < 0) throw new Error('the pickle closes what it did not open')
    return this.stack.splice(from).slice(1) as Pickled[]
  }
}

function setItems(target: Pickled, items: readonly Pickled[]): void {
  if (!(target instanceof Map)) throw new Error('the pickle sets an item of something that has none')
  for (let i = 0; i + 1 < items.length; i += 2) target.set(items[i] ?? null, items[i + 1] ?? null)
}

function reduce(m: Machine): void {
  const args = m.pop()
  const callee = m.pop()
  if (typeof callee !== 'object' || callee === null || !('name' in callee)) throw new Error('the pickle calls no name')
  m.push(callee.name === 'collections.OrderedDict' ? new Map() : { call: callee.name, args })
}

function readLong(m: Machine): bigint {
  const size = m.take(1).readUInt8()
  const digits = [...m.take(size)].reverse()
  return BigInt.asIntN(size * 8, BigInt(`0x00${digits.map((d) => d.toString(16).padStart(2, '0')).join('')}`))
}

function recall(m: Machine, key: number): Pickled {
  const value = m.memo.get(key)
  if (value === undefined) throw new Error('the pickle recalls what it did not remember')
  return value
}

/** Instructions by opcode. */
const INSTRUCTIONS: Readonly<Record<number, (m: Machine) => void>> = {
  0x80: (m) => void m.take(1),
  0x8a: (m) => m.push(readLong(m)),
  0x88: (m) => m.push(true),
  0x89: (m) => m.push(false),
  0x85: (m) => m.push([m.pop()]),
  0x86: (m) => m.push([m.pop(), m.pop()].reverse()),
  0x87: (m) => m.push([m.pop(), m.pop(), m.pop()].reverse()),
  0x28: (m) => void m.stack.push(MARK),
  0x29: (m) => m.push([]),
  0x4a: (m) => m.push(m.take(4).readInt32LE()),
  0x4b: (m) => m.push(m.take(1).readUInt8()),
  0x4d: (m) => m.push(m.take(2).readUInt16LE()),
  0x4e: (m) => m.push(null),
  0x51: (m) => m.push({ persistent: m.pop() }),
  0x52: reduce,
  0x58: (m) => m.push(m.take(m.take(4).readUInt32LE()).toString('utf8')),
  0x5d: (m) => m.push([]),
  // BUILD sets attributes of the object below; only data is wanted here.
  0x62: (m) => void m.pop(),
  0x63: (m) => m.push({ name: `${m.line()}.${m.line()}` }),
  0x65: (m) => {
    const items = m.popToMark()
    const list = m.top()
    if (Array.isArray(list)) list.push(...items)
  },
  0x68: (m) => m.push(recall(m, m.take(1).readUInt8())),
  0x6a: (m) => m.push(recall(m, m.take(4).readUInt32LE())),
  0x71: (m) => void m.memo.set(m.take(1).readUInt8(), m.top()),
  0x72: (m) => void m.memo.set(m.take(4).readUInt32LE(), m.top()),
  0x73: (m) => {
    const items = [m.pop(), m.pop()].reverse()
    setItems(m.top(), items)
  },
  0x74: (m) => m.push(m.popToMark()),
  0x75: (m) => {
    const items = m.popToMark()
    setItems(m.top(), items)
  },
  0x7d: (m) => m.push(new Map()),
}

/** Reads one pickle; `end` is the position behind it. */
export function readPickle(bytes: Buffer, at: number): { readonly value: Pickled; readonly end: number } {
  const machine = new Machine(bytes, at)
  for (;;) {
    const code = machine.take(1).readUInt8()
    if (code === 0x2e) return { value: machine.pop(), end: machine.at }
    const instruction = INSTRUCTIONS[code]
    if (instruction === undefined) throw new Error(`the pickle uses the unknown instruction 0x${code.toString(16)}`)
    instruction(machine)
  }
}
