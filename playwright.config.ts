import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'playwright',
  outputDir: '.cache/playwright',
  // One machine serves both the browser and Conch: journeys run one after the other.
  workers: 1,
  forbidOnly: true,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  use: {
    // `npm test` names the browser it found or installed.
    launchOptions: { executablePath: process.env['CONCH_CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
    viewport: { width: 1440, height: 900 },
    screenshot: 'only-on-failure',
    trace: 'retain-on-failure',
  },
})
