import { expect, it } from 'vitest'
import { createBackendRegistry } from './registry.ts'

it('creates each backend once, when it is asked for', async () => {
  const find = createBackendRegistry()
  const [first, second] = await Promise.all([find('identity'), find('identity')])
  expect(first).toBe(second)
  expect(first.name).toBe('identity')
  expect((await find('onnxruntime')).preferredGroup).toEqual({ kind: 'KIND_CPU', count: 2 })
})

it.each(['nope', '', 'constructor', 'tensorrt'])('does not know %j', async (name) => {
  await expect(createBackendRegistry()(name)).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: expect.stringContaining(
      `unable to find backend library for backend '${name}', try specifying runtime on the model configuration.`,
    ) as string,
  })
})
