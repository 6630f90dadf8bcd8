import { fstatSync, ftruncateSync, readSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { MemoryFile } from './memory-file.ts'

const opened: MemoryFile[] = []
function open(size: number): MemoryFile {
  const file = new MemoryFile('conch-test', size)
  opened.push(file)
  return file
}
afterEach(() => {
  for (const file of opened.splice(0)) file.close()
})

describe.runIf(process.platform === 'linux')('a memory file', () => {
  it('is seen by whoever has its descriptor', () => {
    const file = open(4_096)
    file.write(64, Uint8Array.of(1, 2, 3), [])
    const seen = Buffer.alloc(3)
    readSync(file.descriptor, seen, 0, 3, 64)
    expect([...seen]).toEqual([1, 2, 3])
    expect([...file.read(64, 3, [])]).toEqual([1, 2, 3])
  })

  it('keeps what it holds when it grows, and cannot be made smaller', () => {
    const file = open(4_096)
    file.write(0, Uint8Array.of(7), [])
    file.grow(1 << 20)
    file.write((1 << 20) - 1, Uint8Array.of(8), [])
    expect(file.read(0, 1, [])[0]).toBe(7)
    expect(() => ftruncateSync(file.descriptor, 4_096)).toThrow('EPERM')
    file.grow(10)
    expect(file.size).toBe(1 << 20)
  })

  it('follows another owner, as far as there is something', () => {
    const file = open(4_096)
    ftruncateSync(file.descriptor, 8_192)
    file.follow(8_192)
    expect(file.read(8_000, 192, [])).toHaveLength(192)
    expect(() => file.follow(1 << 30)).toThrow('smaller than the announced')
  })

  it.each([
    [-1, 1],
    [4_096, 1],
    [4_000, 97],
    [0.5, 1],
    [Number.NaN, 1],
    [0, -1],
    [2 ** 60, 1],
  ])('refuses bytes at %d+%d', (offset, length) => {
    expect(() => open(4_096).read(offset, length, [])).toThrow('outside of a memory file')
  })

  it('copies large tensors on another thread, also while it grows or is closed', async () => {
    const size = 8 << 20
    const file = open(2 * size)
    const bytes = Buffer.alloc(size, 5)
    const wait: Promise<void>[] = []
    file.write(size, bytes, wait)
    file.grow(4 * size)
    expect(wait).toHaveLength(1)
    await Promise.all(wait.splice(0))
    const copy = file.read(size, size, wait)
    file.close()
    await Promise.all(wait)
    expect(Buffer.compare(copy, bytes)).toBe(0)
  })

  it('gives pages back', () => {
    const file = open(1 << 20)
    file.write(0, Buffer.alloc(1 << 20, 1), [])
    const before = fstatSync(file.descriptor).blocks
    file.discard(4_096, (1 << 20) - 4_096)
    expect(fstatSync(file.descriptor).blocks).toBeLessThan(before / 10)
    expect(file.read(0, 1, [])[0]).toBe(1)
    expect(file.read(8_192, 1, [])[0]).toBe(0)
  })

  it('can be closed twice, and is of no use then', () => {
    const file = open(4_096)
    file.close()
    file.close()
    expect(() => file.read(0, 1, [])).toThrow('outside of a memory file')
  })
})
