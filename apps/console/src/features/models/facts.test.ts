import { expect, it } from 'vitest'
import { readFacts } from './facts.ts'

const facts = (values: Record<string, string>) =>
  Object.fromEntries(
    readFacts(Object.entries(values).map(([path, value]) => ({ path, value, origin: 'file' as const }))),
  )

it('reads what a model is from its effective config', () => {
  expect(
    facts({
      backend: '"onnxruntime"',
      max_batch_size: '8',
      'dynamic_batching.preserve_ordering': 'false',
      'instance_group[0].kind': 'KIND_CPU',
      'instance_group[0].count': '2',
      'version_policy.latest.num_versions': '1',
    }),
  ).toEqual({
    Backend: 'onnxruntime',
    'Largest batch': '8',
    Batching: 'dynamic',
    Instances: '2 × CPU',
    'Version policy': 'the latest',
  })
})

it('says that there is no batch dimension instead of zero', () => {
  expect(facts({ max_batch_size: '0', 'version_policy.specific.versions[0]': '3' })).toEqual({
    'Largest batch': 'no batch dimension',
    Batching: 'none',
    'Version policy': 'only 3',
  })
})
