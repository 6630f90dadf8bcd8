import { parentPort } from 'node:worker_threads'
import { ConchError } from '@conch/protocol'
import type { Code } from '@conch/protocol'
import type { JsonJob, JsonResult } from './json-jobs.ts'
import { findBuffers, runJsonJob } from './json-jobs.ts'

/** What a thread answers. */
export type JsonAnswer = { readonly result: JsonResult } | { readonly code: Code; readonly message: string }

function answer(job: JsonJob): JsonAnswer {
  try {
    return { result: runJsonJob(job) }
  } catch (error) {
    if (error instanceof ConchError) return { code: error.code, message: error.message }
    return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (job: JsonJob) => {
  const reply = answer(job)
  parentPort?.postMessage(reply, 'result' in reply ? findBuffers(reply.result) : [])
})
