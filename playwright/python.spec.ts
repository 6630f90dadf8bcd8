import type { Page } from '@playwright/test'
import { expect, signUp, startStack, test, type Stack } from './stack.ts'

/** Named by `npm test` when no Python on the PATH has numpy. */
const PYTHON = process.env['CONCH_PYTHON'] ?? ''
const FLAGS = PYTHON === '' ? [] : [`--backend-config=python,python-executable=${PYTHON}`]

let stack: Stack
test.beforeAll(async () => {
  stack = await startStack({
    examples: ['digits', 'digits_preprocess', 'digits_image'],
    flags: ['--load-model=*', ...FLAGS],
  })
})
test.afterAll(() => stack.close())

async function replaceSource(page: Page, change: (code: string) => string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'model.py' })
  await editor.click()
  await page.keyboard.press('Control+a')
  const code = await editor.evaluate((box) =>
    [...box.querySelectorAll('.cm-line')].map((line) => line.textContent ?? '').join('\n'),
  )
  await page.keyboard.insertText(change(code))
}

test('a model written in the console answers, and shows the line where it fails', async ({ browser }) => {
  const page = await browser.newPage({ baseURL: stack.consoleUrl })
  const editor = page.getByRole('textbox', { name: 'model.py' })
  const save = page.getByRole('button', { name: 'Save and load' })
  await signUp(page)

  await test.step('the source follows the form', async () => {
    await page.goto('/deploy')
    await page.getByRole('button', { name: 'Write a Python model' }).click()
    await page.getByLabel('Model', { exact: true }).fill('doubler')
    await page.getByLabel('Name of input INPUT').fill('VALUES')
    await page.getByLabel('Name of output OUTPUT').fill('DOUBLED')
    await expect(editor).toContainText('doubled = values.copy()')
    await expect(page.getByText('The source can be compiled')).toBeVisible()
  })

  await test.step('a mistake is named with its line, and nothing can be saved', async () => {
    await replaceSource(page, (code) => code.replace('values.copy()', 'values *'))
    await expect(page.getByRole('list', { name: 'Problems' })).toContainText('SyntaxError: invalid syntax')
    await expect(save).toBeDisabled()
    await replaceSource(page, (code) =>
      code
        .replace('doubled = values *', 'doubled = values * 2')
        .replace('self.name = ', 'print("ready to double")\n        self.name = ')
        .replace(
          '            # Your work',
          '            if (values < 0).any():\n                raise ValueError("only positive numbers")\n            # Your work',
        ),
    )
    await expect(page.getByText('The source can be compiled')).toBeVisible()
  })

  await test.step('a new input gets into the source, beside what was written', async () => {
    await page.getByRole('button', { name: 'Add an input' }).click()
    await page.getByLabel('Name of input INPUT1').fill('UNUSED')
    await page.getByRole('checkbox', { name: 'optional' }).last().check()
    await page.getByRole('button', { name: 'Take the new signature' }).click()
    await expect(editor).toContainText('unused = None if unused is None')
    await expect(editor).toContainText('values * 2')
  })

  await test.step('it loads', async () => {
    await expect(page.getByText('The source can be compiled')).toBeVisible()
    await save.click()
    await expect(page.getByRole('heading', { name: 'doubler, version 1, is serving' })).toBeVisible()
  })

  await test.step('it answers in the playground', async () => {
    await page.getByRole('link', { name: 'Try it in the playground' }).click()
    await page.getByLabel('Values of VALUES').fill('1.5, 2')
    await expect(page.getByText('is missing')).toBeHidden()
    await page.getByRole('button', { name: /^Send/ }).first().click()
    await expect(page.getByRole('region', { name: 'Output DOUBLED' })).toContainText('4')
  })

  await test.step('its exception is shown with file, line and code', async () => {
    await page.getByLabel('Values of VALUES').fill('1, -2')
    await page.getByRole('button', { name: /^Send/ }).first().click()
    const alert = page.getByRole('alert').filter({ hasText: 'The model’s code failed' })
    await expect(alert).toContainText('ValueError: only positive numbers')
    await expect(alert).toContainText(/1\/model\.py, line \d+, in execute/)
    await expect(alert.locator('pre')).toContainText('raise ValueError("only positive numbers")')
  })

  await test.step('its page tells of its process and what it printed', async () => {
    await page.getByRole('link', { name: 'doubler' }).first().click()
    await expect(page.getByRole('heading', { name: 'Instances' })).toBeVisible()
    await expect(page.getByRole('list', { name: 'Log of this model' })).toContainText('ready to double')
    await page.getByRole('tab', { name: 'Code' }).click()
    await expect(page.getByRole('textbox', { name: 'model.py of doubler, version 1' })).toContainText('values * 2')
  })

  await test.step('a version that does not load is shown at its line, and the one before goes on', async () => {
    await page.getByRole('button', { name: 'Edit as a new version' }).click()
    await expect(editor).toContainText('values * 2')
    await replaceSource(page, (code) => code.replace('print("ready to double")', 'raise RuntimeError("no weights")'))
    await expect(page.getByText('The source can be compiled')).toBeVisible()
    await save.click()
    const alert = page.getByRole('alert').filter({ hasText: 'Version 2 is saved, but does not load' })
    await expect(alert).toContainText('RuntimeError: no weights')
    await expect(alert).toContainText(/2\/model\.py, line \d+, in initialize/)
    await expect(alert).toContainText('The version before goes on serving.')
    await expect(page.locator('.cm-lintRange-error')).toContainText('raise RuntimeError')
    await replaceSource(page, (code) => code.replace('raise RuntimeError("no weights")', 'print("better")'))
    await expect(page.getByText('The source can be compiled')).toBeVisible()
    await save.click()
    await expect(page.getByRole('heading', { name: 'doubler, version 3, is serving' })).toBeVisible()
  })
  await page.close()
})
