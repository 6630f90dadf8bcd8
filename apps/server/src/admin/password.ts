import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** OWASP's scrypt setting: 128 MiB·r·p at N = 2^17 costs too much beside a model; 2^15 takes 32 MiB and some 60 ms. */
const COST = { N: 32768, r: 8, p: 1 }
const KEY_BYTES = 32
/** Compared against when there is no such user, so that a missing name takes as long as a wrong password. */
const NOBODY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${'0'.repeat(32)}$${'0'.repeat(KEY_BYTES * 2)}`

/** `scrypt$N$r$p$salt$key`, hex. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await stretch(password, salt, COST)
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString('hex')}$${key.toString('hex')}`
}

export async function checkPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [kind, n, r, p, salt, key] = (stored ?? NOBODY).split('$')
  if (kind !== 'scrypt' || salt === undefined || key === undefined) return false
  const wanted = Buffer.from(key, 'hex')
  const got = await stretch(password, Buffer.from(salt, 'hex'), { N: Number(n), r: Number(r), p: Number(p) })
  return timingSafeEqual(got, wanted) && stored !== undefined
}

/** One at a time: each needs 32 MiB, and a crowd of sign-ins must not crowd out inference. */
let turn: Promise<unknown> = Promise.resolve()

function stretch(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  const work = () =>
    new Promise<Buffer>((resolve, reject) => {
      const options = { ...cost, maxmem: 256 * cost.N * cost.r }
      scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })
  const mine = turn.then(work)
  turn = mine.catch(() => undefined)
  return mine
}
