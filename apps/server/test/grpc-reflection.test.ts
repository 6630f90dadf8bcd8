import { decodeMessage, describeFiles, encodeFileDescriptor, encodeMessage } from '@conch/protocol'
import { expect, it } from 'vitest'
import { UP_FLAGS } from '../src/flags.ts'
import { METHODS } from '../src/grpc/service.ts'
import { parseServeOptions } from '../src/options.ts'
import { begin, frame, openGrpc, unframe } from './open-grpc.ts'

const V1 = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const ALPHA = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo'

/** Asks on one stream; the answers without the questions that they repeat. */
async function ask(method: string, questions: readonly object[], ...args: string[]) {
  const { session } = await openGrpc({}, ...args)
  const { stream, ended } = begin(session, method)
  for (const question of questions) stream.write(frame(encodeMessage('ServerReflectionRequest', question)))
  stream.end()
  const { status, body } = await ended
  const answers = unframe(body).map((bytes) => decodeMessage('ServerReflectionResponse', bytes))
  expect(answers.map((answer) => answer['original_request'])).toEqual(questions)
  return { status, answers }
}

function readFiles(answer: Readonly<Record<string, unknown>> | undefined): string[] {
  const { file_descriptor_proto: files } = (answer ?? {})['file_descriptor_response'] as {
    file_descriptor_proto: Uint8Array[]
  }
  return files.map((bytes) => Buffer.from(bytes).toString('hex'))
}

it.each([V1, ALPHA])('%s lists the services and gives their files', async (method) => {
  const symbols = [
    'inference.GRPCInferenceService',
    'inference.GRPCInferenceService.ModelInfer',
    'inference.ModelInferRequest.InferInputTensor',
  ]
  const questions = [
    { list_services: '' },
    ...symbols.map((symbol) => ({ file_containing_symbol: symbol })),
    { file_by_filename: 'model_config.proto' },
    { file_containing_symbol: 'grpc.health.v1.HealthCheckResponse.ServingStatus' },
    { all_extension_numbers_of_type: 'inference.ModelConfig' },
  ]
  const { status, answers } = await ask(method, questions, '--grpc-reflection=true')
  const [config, service, health] = describeFiles().map((file) => encodeFileDescriptor(file))
  const files = (...all: (Uint8Array | undefined)[]) => all.map((bytes) => Buffer.from(bytes ?? []).toString('hex'))
  expect(status).toBe('0')
  expect(answers[0]).toMatchObject({
    list_services_response: {
      service: [
        { name: 'inference.GRPCInferenceService' },
        { name: 'grpc.health.v1.Health' },
        { name: 'grpc.reflection.v1.ServerReflection' },
        { name: 'grpc.reflection.v1alpha.ServerReflection' },
      ],
    },
  })
  for (const answer of answers.slice(1, 4)) expect(readFiles(answer)).toEqual(files(service, config))
  expect(readFiles(answers[4])).toEqual(files(config))
  expect(readFiles(answers[5])).toEqual(files(health))
  expect(answers[6]).toMatchObject({ all_extension_numbers_response: { base_type_name: 'inference.ModelConfig' } })
})

it('says what it does not know, and goes on', async () => {
  const questions = [
    { file_containing_symbol: 'inference.Nothing' },
    { file_by_filename: '../../etc/passwd' },
    { file_containing_symbol: 'constructor' },
    { all_extension_numbers_of_type: 'x' },
    { host: 'h' },
  ]
  const { status, answers } = await ask(V1, questions, '--grpc-reflection=true')
  expect(status).toBe('0')
  expect(answers).toHaveLength(questions.length)
  for (const answer of answers) expect(answer['error_response']).toEqual({ error_code: 5, error_message: 'not found' })
  expect(answers[4]).toMatchObject({ valid_host: 'h' })
})

it.each([[], ['--grpc-reflection=false']])(
  'is not there unless it was asked for, as in the original: %s',
  async (...args) => {
    const { session } = await openGrpc({}, ...args)
    const { stream, ended } = begin(session, V1)
    stream.end(frame(encodeMessage('ServerReflectionRequest', { list_services: '' })))
    expect(await ended).toMatchObject({ status: '12' })
  },
)

it('is there with the console, unless it is switched off', () => {
  expect(UP_FLAGS.some(({ name }) => name === 'grpc-reflection')).toBe(true)
  const reflects = (args: string[], command: 'serve' | 'up') => parseServeOptions(args, {}, command).grpc.reflection
  expect([reflects([], 'serve'), reflects([], 'up'), reflects(['--grpc-reflection=false'], 'up')]).toEqual([
    false,
    true,
    false,
  ])
})

it('is restricted as metadata is', async () => {
  const { session } = await openGrpc({}, '--grpc-reflection=true', '--grpc-restricted-protocol=metadata:key=secret')
  const { stream, ended } = begin(session, V1)
  stream.end(frame(encodeMessage('ServerReflectionRequest', { list_services: '' })))
  expect(await ended).toMatchObject({ status: '14' })
})

it('describes every method that the port has, and no other', () => {
  const described = describeFiles().flatMap((file) =>
    file.services.flatMap(({ name, methods }) => methods.map((method) => `/${file.package}.${name}/${method.name}`)),
  )
  expect(described).toEqual([...METHODS.keys()])
})
