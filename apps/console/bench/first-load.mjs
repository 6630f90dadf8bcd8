// Weighs the scripts that a first visit loads: gzip, without the polyfill for old browsers.
//   node apps/console/bench/first-load.mjs [page …]     after `npm run build -w @conch/console`; default: every page
// Fails when the Models page is heavier than promised.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const OUT = path.join(import.meta.dirname, '../out')
const PROMISED_KIB = 250
const WATCHED = 'models'

function listPages() {
  return readdirSync(OUT, { recursive: true })
    .filter((name) => name.endsWith('.html'))
    .map((name) => name.slice(0, -'.html'.length))
    .toSorted((a, b) => a.localeCompare(b))
}

function listScripts(html) {
  const tags = html.match(/<script\b[^>]*>/g) ?? []
  const modern = tags.filter((tag) => !/\bnomodule\b/i.test(tag))
  return [...new Set(modern.map((tag) => /\bsrc="([^"]+)"/.exec(tag)?.[1]).filter(Boolean))]
}

function weigh(page) {
  const scripts = listScripts(readFileSync(path.join(OUT, `${page}.html`), 'utf8'))
  const sizes = scripts.map((src) => gzipSync(readFileSync(path.join(OUT, decodeURI(src).split('?')[0]))).length)
  return { page, scripts: scripts.length, kib: sizes.reduce((sum, size) => sum + size, 0) / 1024 }
}

const pages = process.argv.length > 2 ? process.argv.slice(2) : listPages()
let heavy = false
for (const { page, scripts, kib } of pages.map(weigh)) {
  const over = page === WATCHED && kib > PROMISED_KIB
  heavy ||= over
  console.log(
    `${page.padEnd(20)} ${kib.toFixed(1).padStart(7)} KiB in ${scripts} scripts${over ? `, more than ${PROMISED_KIB}` : ''}`,
  )
}
process.exitCode = heavy ? 1 : 0
