import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect, PERSON, signUp, startStack, test, writeIdentityModel, type Stack } from './stack.ts'

/** Within this the console must say that the server is gone. */
const LOSS_MS = 5000
const PHONE = { width: 390, height: 844 }

const SCREENS = [
  '/models',
  '/models/iris',
  '/models/iris?tab=config',
  '/models/iris?tab=effective',
  '/models/iris?tab=versions',
  '/models/iris?tab=files',
  '/models/iris?tab=stats',
  '/models/broken',
  '/deploy',
  '/deploy?write=python',
  '/deploy?edit=digits_preprocess&version=1',
  '/models/digits_preprocess?tab=code',
  '/playground',
  '/playground/digits',
  '/live',
  '/log',
  '/audit',
  '/users',
  '/account',
]

let stack: Stack
test.beforeAll(async ({ browser }) => {
  stack = await startStack({
    examples: ['iris', 'digits', 'digits_preprocess'],
    fill: (repository) => writeIdentityModel(repository, 'broken.$'),
  })
  const page = await browser.newPage({ baseURL: stack.consoleUrl })
  await signUp(page)
  await page.close()
})
test.afterAll(() => stack.close())

async function signIn(page: Page, to = '/models'): Promise<void> {
  await page.goto(`${stack.consoleUrl}/login?next=${encodeURIComponent(to)}`)
  await page.getByLabel('Name').fill(PERSON.name)
  await page.getByLabel('Password').fill(PERSON.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((url) => url.pathname === to.split('?')[0])
}

/** Screens are looked at when nothing on them is still being fetched. */
async function settle(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
  await expect(page.locator('.animate-pulse.bg-hover')).toHaveCount(0)
}

async function findViolations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary?.split('\n')[1] ?? ''}`),
    )
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every screen can be used by everybody, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(`${stack.consoleUrl}/login`)
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
    expect(await findViolations(page)).toEqual([])
    await signIn(page)
    const found: string[] = []
    for (const screen of SCREENS) {
      await page.goto(stack.consoleUrl + screen)
      await settle(page)
      found.push(...(await findViolations(page)).map((violation) => `${screen} ${violation}`))
    }
    expect(found).toEqual([])
  })
}

test('every screen fits a phone', async ({ page }) => {
  await page.setViewportSize(PHONE)
  await signIn(page)
  for (const screen of SCREENS) {
    await page.goto(stack.consoleUrl + screen)
    await settle(page)
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('main > *, main section')]
        .filter((each) => each.getBoundingClientRect().right > window.innerWidth + 1)
        .map((each) => each.outerHTML.slice(0, 120)),
    )
    expect(wide, screen).toEqual([])
  }
})

test('a lost server is named within five seconds and found again without a reload', async ({ page }) => {
  await signIn(page)
  await expect(page.getByText(/^Live ·/)).toBeVisible()
  await page.evaluate(() => Object.assign(window, { untouched: true }))
  await stack.crash()
  await expect(page.getByText('Connection lost.')).toBeVisible({ timeout: LOSS_MS })
  await stack.start()
  await expect(page.getByText('Connection lost.')).toBeHidden()
  await expect(page.getByRole('row').filter({ hasText: 'iris' })).toContainText('Ready')
  expect(await page.evaluate(() => 'untouched' in window)).toBe(true)
})

test('the keyboard reaches everything: palette, jumps, shortcuts, Esc', async ({ page }) => {
  await signIn(page)
  await expect(page.getByRole('row').filter({ hasText: 'iris' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Jump to a model').fill('digits')
  await expect(page.getByRole('option', { name: /^digits / })).toBeVisible()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/models/digits')
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.waitForURL('**/audit')
})

test('a model is unloaded and comes back by Undo', async ({ page }) => {
  await signIn(page)
  await page.getByRole('button', { name: 'Actions for iris' }).click()
  await page.getByRole('menuitem', { name: 'Unload' }).click()
  const row = page.getByRole('row').filter({ hasText: 'iris' })
  await expect(row).toContainText('Not loaded')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(row).toContainText('Ready')
})

test('a drawn digit is recognised', async ({ page }) => {
  await signIn(page, '/playground/digits')
  const pad = page.getByTestId('pad')
  const box = await pad.boundingBox()
  if (box === null) throw new Error('the pad is not on the screen')
  const at = (x: number, y: number) => [box.x + x * box.width, box.y + y * box.height] as const
  await page.mouse.move(...at(0.5, 0.15))
  await page.mouse.down()
  for (let step = 0; step <= 24; step += 1) {
    const angle = (step / 24) * 2 * Math.PI
    await page.mouse.move(...at(0.5 + 0.24 * Math.sin(angle), 0.5 - 0.35 * Math.cos(angle)))
  }
  await page.mouse.up()
  await page.keyboard.press('Control+Enter')
  const best = page.getByRole('list', { name: 'Most likely' }).getByRole('listitem').first()
  await expect(best).toContainText(/0|zero/)
})
