import { parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import { checkRuntime } from './runtime.ts'

const check = (backend: string, runtime: string) =>
  checkRuntime(parsePbtxt(`name: "m" backend: "${backend}" runtime: "${runtime}"`).config, '3')

it.each([
  ['onnxruntime', ''],
  ['onnxruntime', 'libtriton_onnxruntime.so'],
  ['python', 'libtriton_python.so'],
  ['pytorch', 'model.py'],
  ['mine', 'model.py'],
])('%s may say that its runtime is %j', (backend, runtime) => {
  expect(() => check(backend, runtime)).not.toThrow()
})

it.each([
  ['onnxruntime', '/tmp/x'],
  ['onnxruntime', 'model.py'],
  ['identity', 'libtriton_onnxruntime.so'],
  ['python', '../python/libtriton_python.so'],
])('%s has no runtime %s', (backend, runtime) => {
  const text = `unable to find backend library '${runtime}' for model 'm', searched: 'm/3' 'm' '${backend}' `
  expect(() => check(backend, runtime)).toThrow(expect.objectContaining({ code: 'INVALID_ARG' }))
  expect(() => check(backend, runtime)).toThrow(text)
})
