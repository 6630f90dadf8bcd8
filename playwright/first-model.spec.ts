import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { EXAMPLES, expect, sendLoad, signUp, startStack, test, type Stack } from './stack.ts'

const run = promisify(execFile)
let stack: Stack

test.beforeAll(async () => {
  stack = await startStack()
})
test.afterAll(() => stack.close())

/** Lets a file fall on the field, as the mouse would. */
async function dropFile(page: Page, file: string, name: string): Promise<void> {
  const base64 = (await readFile(file)).toString('base64')
  const transfer = await page.evaluateHandle(
    ([data, title]) => {
      const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
      const dropped = new DataTransfer()
      dropped.items.add(new File([bytes], title))
      return dropped
    },
    [base64, name] as const,
  )
  await page.getByTestId('drop').dispatchEvent('drop', { dataTransfer: transfer })
}

test('from a fresh server to a model that answers and moves the charts', async ({ browser }) => {
  const page = await browser.newPage({ baseURL: stack.consoleUrl })

  await test.step('a person signs up', () => signUp(page))

  await test.step('a broken file is refused with its reason', async () => {
    await page.goto('/deploy')
    await page.setInputFiles('input[aria-label="Model file"]', {
      name: 'torn.onnx',
      mimeType: '',
      buffer: Buffer.from('torn apart'),
    })
    await expect(page.getByRole('alert').filter({ hasText: 'cannot be read as ONNX' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Save and load' })).toBeDisabled()
    await page.getByRole('button', { name: 'Throw away' }).click()
    await page.getByRole('link', { name: 'Models', exact: true }).click()
  })

  await test.step('drops an ONNX file and sees it checked', async () => {
    await expect(page.getByRole('heading', { name: 'No models yet' })).toBeVisible()
    await page.getByRole('link', { name: 'Deploy the first one' }).click()
    await dropFile(page, path.join(EXAMPLES, 'iris/1/model.onnx'), 'flowers.onnx')
    await expect(page.getByRole('heading', { name: 'Signature' })).toBeVisible()
    await expect(page.getByText('probabilities', { exact: true })).toBeVisible()
    await expect(page.getByText('Everything fits')).toBeVisible()
    await expect(page.getByRole('textbox', { name: 'Proposed config.pbtxt' })).toContainText('onnxruntime')
  })

  await test.step('a mistake in the config is named and repaired with one click', async () => {
    const editor = page.getByRole('textbox', { name: 'Proposed config.pbtxt' })
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.insertText('\nmax_batchsize: 8\n')
    await expect(page.getByText('did you mean max_batch_size')).toBeVisible()
    await page.keyboard.press('Control+z')
    await expect(page.getByText('Everything fits')).toBeVisible()
  })

  await test.step('deploys it', async () => {
    await expect(page.getByLabel('Model', { exact: true })).toHaveValue('flowers')
    await page.getByRole('button', { name: 'Save and load' }).click()
    await expect(page.getByRole('heading', { name: 'flowers, version 1, is serving' })).toBeVisible()
  })

  await test.step('asks it in the playground', async () => {
    await page.getByRole('link', { name: 'Try it in the playground' }).click()
    await page.getByLabel('Values of input').fill('5.1, 3.5, 1.4, 0.2')
    await page.getByRole('button', { name: /^Send/ }).first().click()
    const answer = page.getByRole('region', { name: 'Output probabilities' })
    await expect(answer).toBeVisible()
    await expect(answer.getByRole('list', { name: 'Most likely' })).toContainText('class 0')
    await expect(page.getByTestId('timing')).toContainText('Inference')
  })

  await test.step('runs the same request from a terminal', async () => {
    await page.getByRole('tab', { name: 'Code' }).click()
    const curl = await page.getByTestId('snippet').innerText()
    const { stdout } = await run('bash', ['-c', curl])
    expect(JSON.parse(stdout)).toMatchObject({ model_name: 'flowers', outputs: [{ data: [0] }, { datatype: 'FP32' }] })
    await page.getByRole('button', { name: 'Python', exact: true }).click()
    const python = await page.getByTestId('snippet').innerText()
    expect((await run('python3', ['-c', python])).stdout).toContain('probabilities [1, 3]')
  })

  await test.step('watches the charts move', async () => {
    const body = JSON.stringify({ inputs: [{ name: 'input', datatype: 'FP32', shape: [1, 4], data: [6, 3, 5, 2] }] })
    const load = sendLoad(`${stack.httpUrl}/v2/models/flowers/infer`, body)
    await page.keyboard.press('Escape')
    await page.locator('body').click({ position: { x: 700, y: 880 } })
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.waitForURL('**/live')
    const chart = page.getByRole('figure', { name: /^Requests: flowers [1-9]/ })
    await expect(chart).toBeVisible()
    const line = chart.locator('path.recharts-line-curve').first()
    const before = await line.getAttribute('d')
    await expect(async () => expect(await line.getAttribute('d')).not.toBe(before)).toPass({ timeout: 10_000 })
    expect(await load.stop()).toBeGreaterThan(10)
  })

  await test.step('finds it in the list and in the audit', async () => {
    await page.getByRole('link', { name: 'Models', exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: 'flowers' })
    await expect(row).toContainText('Ready')
    await page.getByRole('link', { name: 'Audit' }).click()
    await expect(page.getByRole('row').filter({ hasText: 'deployed a version' })).toContainText('flowers')
  })
  await page.close()
})
