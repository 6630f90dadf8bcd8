import { expect, it } from 'vitest'
import { readPythonSettings } from './settings.ts'

it('has the original’s presets', () => {
  expect(readPythonSettings({})).toEqual({
    memorySize: 1_048_576,
    memoryGrowth: 1_048_576,
    stubTimeout: 30,
    executionTimeout: 0,
  })
})

it('reads what is set', () => {
  const settings = {
    'shm-default-byte-size': '2097152',
    'shm-growth-byte-size': '4096',
    'stub-timeout-seconds': ' 5s',
    'thread-pool-size': '8',
    'shm-region-prefix-name': 'mine',
    shm_message_queue_size: '10',
    'execution-timeout-seconds': '2',
    'auto-complete-config': 'true',
  }
  expect(readPythonSettings(settings)).toEqual({
    memorySize: 2_097_152,
    memoryGrowth: 4_096,
    stubTimeout: 5,
    executionTimeout: 2_000,
  })
})

it.each([
  ['shm-default-byte-size', '1048575', "shm-default-byte-size can't be smaller than 4 MiBs"],
  ['shm-growth-byte-size', '0', "shm-growth-byte-size can't be smaller than or equal to zero."],
  ['stub-timeout-seconds', '-1', "stub-timeout-seconds can't be smaller than or equal to zero."],
  ['thread-pool-size', '0', "thread-pool-size can't be less than 1."],
  ['shm-region-prefix-name', '', 'shm-region-prefix-name must at least contain one character.'],
  ['shm-region-prefix-name', 'a;b', 'Invalid shared memory region name: contains invalid characters'],
  ['thread-pool-size', 'many', 'stol'],
  ['shm_message_queue_size', '99999999999999999999', 'stol'],
  ['execution-timeout-seconds', '-1', "execution-timeout-seconds can't be smaller than zero."],
])('refuses %s=%s', (name, value, message) => {
  expect(() => readPythonSettings({ [name]: value })).toThrow(expect.objectContaining({ code: 'INVALID_ARG', message }))
})
