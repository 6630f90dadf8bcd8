import { afterEach, expect, it } from 'vitest'
import {
  activeRequest,
  batchOf,
  closeInstances,
  configOf,
  contextOf,
  execute,
  openInstance,
  outputsOf,
  tensor,
} from '../contract.suite.ts'
import { createOnnxBackend } from './backend.ts'
import { openEnv } from './env.ts'

afterEach(closeInstances)

// The environment is one per process, and so is this test's.
it('shares its threads among sessions when the settings say so', async () => {
  await expect(openEnv({ 'enable-global-threadpool': 'maybe' })).rejects.toThrow("failed to convert 'maybe' to boolean")
  const settings = { 'enable-global-threadpool': 'true', intra_op_thread_count: '2' }
  const context = contextOf('echo_float', { settings })
  const { instance } = await openInstance(createOnnxBackend(), await configOf('echo_float'), context)
  expect((await openEnv({})).sharesThreads).toBe(true)
  const sent = tensor('IN', 'FP32', [1, 1_000])
  const [answer] = await execute(instance, batchOf([activeRequest([sent])], ['OUT']))
  expect(Buffer.compare(outputsOf(answer)[0]!.data, sent.data)).toBe(0)
})
