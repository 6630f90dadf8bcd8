/** `npm run test:soak [-- SECONDS]`: the long run, five minutes unless told otherwise. */
import { measureGrowth, soak } from './soak.ts'

/** Megabytes over the second half of a long run. */
const MOST_GROWTH = 16

const seconds = Number(process.argv[2] ?? 300)
const report = await soak(seconds)
const growth = measureGrowth(report.memory)
const { memory, ...counts } = report
process.stdout.write(`${JSON.stringify(counts, null, 2)}\n`)
process.stdout.write(
  `memory in MB, once a second: ${memory.map(Math.round).join(' ')}\ngrowth ${growth.toFixed(1)} MB\n`,
)
process.exitCode = report.wrong.length > 0 || report.exitCode !== 0 || growth > MOST_GROWTH ? 1 : 0
