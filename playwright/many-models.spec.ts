import { expect, signUp, startStack, test, writeIdentityModel, type Stack } from './stack.ts'

const MANY = 2000
/** Rows in the document, whatever the list's length: what is in sight and a few more. */
const MOST_ROWS = 80

let stack: Stack
test.beforeAll(async () => {
  const fill = async (repository: string) => {
    for (let index = 0; index < MANY; index += 1) await writeIdentityModel(repository, `model-${index}`)
  }
  stack = await startStack({ fill, flags: [] })
})
test.afterAll(() => stack.close())

test('two thousand models scroll and are found', async ({ browser }, info) => {
  const page = await browser.newPage({ baseURL: stack.consoleUrl })
  await signUp(page)
  const table = page.getByRole('table', { name: 'Models' })
  await expect(table).toHaveAttribute('aria-rowcount', String(MANY + 1))
  const frames = await table.evaluate(async (box) => {
    const times: number[] = []
    let rows = 0
    let last = performance.now()
    for (let step = 0; step < 120; step += 1) {
      box.scrollTop += 600
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      times.push(now - last)
      last = now
      rows = Math.max(rows, box.querySelectorAll('[role=row]').length)
    }
    times.sort((a, b) => a - b)
    return { rows, median: times[60] ?? 0, p95: times[114] ?? 0 }
  })
  info.annotations.push({
    type: 'frames',
    description: `median ${frames.median.toFixed(1)} ms, p95 ${frames.p95.toFixed(1)} ms`,
  })
  expect(frames.rows).toBeLessThan(MOST_ROWS)
  await page.getByRole('searchbox', { name: 'Search the models' }).fill('model-1999')
  await expect(table).toHaveAttribute('aria-rowcount', '2')
  await page.waitForURL('**/models?q=model-1999')
  await page.reload()
  await expect(page.getByRole('link', { name: 'model-1999' })).toBeVisible()
  await page.close()
})
