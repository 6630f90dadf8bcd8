import { expect, it } from 'vitest'
import { checkPassword, hashPassword } from './password.ts'

it('knows the right password and no other, each with its own salt', async () => {
  const [one, two] = await Promise.all([hashPassword('pässword'), hashPassword('pässword')])
  expect(one).not.toBe(two)
  expect(one).toMatch(/^scrypt\$32768\$8\$1\$[0-9a-f]{32}\$[0-9a-f]{64}$/)
  expect(await checkPassword('pässword', one)).toBe(true)
  expect(await checkPassword('pa\u0308ssword', one)).toBe(true)
  expect(await checkPassword('password', one)).toBe(false)
  expect(await checkPassword('', one)).toBe(false)
})

it('takes as long for nobody as for somebody, and never lets nobody in', async () => {
  expect(await checkPassword('x', undefined)).toBe(false)
  expect(await checkPassword('x', 'plain$x')).toBe(false)
})
