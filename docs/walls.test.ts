import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from './repository.ts'

async function cruiseTree(baseDir: string): Promise<ICruiseResult> {
  const options: ICruiseOptions = await extractOptions(path.join(root, '.dependency-cruiser.cjs'))
  const { output } = await cruise(['apps', 'packages', 'docs'], { ...options, baseDir }, undefined, {
    tsConfig: extractTsConfig(path.join(root, 'tsconfig.base.json')),
  })
  if (typeof output === 'string') throw new TypeError('the report came as text')
  return output
}

it('finds every wall standing', async () => {
  const { summary } = await cruiseTree(root)
  // A checker that reads nothing finds nothing (it happened with another TypeScript).
  expect(summary.totalCruised).toBeGreaterThan(50)
  expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([])
})

/** Each file breaks the wall it is named for, and no other. */
const PLANTED: Readonly<Record<string, { readonly file: string; readonly imports: string }>> = {
  'no-cycle': { file: 'packages/protocol/src/round-again.ts', imports: './round.ts' },
  'packages-know-no-app': { file: 'packages/client/src/app.ts', imports: '../../../apps/server/src/main.ts' },
  'apps-meet-by-type': { file: 'apps/console/src/api/value.ts', imports: '../../../server/src/admin/root.ts' },
  'apps-meet-at-the-router': { file: 'apps/console/src/api/deep.ts', imports: 'type ../../../server/src/options.ts' },
  'schemas-are-plain': { file: 'apps/server/src/admin/models/models.schema.ts', imports: '../session.ts' },
  'front-door-only': { file: 'packages/client/src/deep.ts', imports: '../../protocol/src/tensor.ts' },
  'front-door-only-for-documents': { file: 'docs/deep.test.ts', imports: '../packages/protocol/src/tensor.ts' },
  'protocol-stands-alone': { file: 'packages/protocol/src/reads.ts', imports: 'node:fs' },
  'console-never-holds-the-engine': { file: 'packages/client/src/holds.ts', imports: '../../engine/src/index.ts' },
  'rooms-meet-only-in-the-hallway': {
    file: 'packages/engine/src/schedule/peeks.ts',
    imports: '../instance/pool.ts',
  },
  'the-hallway-is-two-files': { file: 'packages/engine/src/annex.ts', imports: './instance/pool.ts' },
  'contracts-are-leaves': { file: 'packages/engine/src/cache/contract.ts', imports: './local.ts' },
  'request-is-a-leaf': { file: 'packages/engine/src/request.ts', imports: './instance/contract.ts' },
  'siblings-are-strangers': { file: 'packages/engine/src/backend/onnx/backend.ts', imports: '../identity/backend.ts' },
  'faces-are-strangers': { file: 'apps/server/src/http/peeks.ts', imports: '../metrics/listener.ts' },
  'nouns-are-strangers': { file: 'apps/server/src/admin/perf/run-perf.ts', imports: '../models/load.ts' },
  'features-are-strangers': { file: 'apps/console/src/features/live/peeks.ts', imports: '../models/table.ts' },
  'console-flows-down': { file: 'apps/console/src/ui/peeks.ts', imports: '../features/models/table.ts' },
  'no-junk-drawers': { file: 'packages/client/src/uses.ts', imports: './utils.ts' },
  'no-inner-barrels': { file: 'packages/client/src/barrels.ts', imports: './perf/index.ts' },
  'src-never-imports-tests': { file: 'packages/client/src/tests.ts', imports: './some.test.ts' },
  resolvable: { file: 'packages/client/src/missing.ts', imports: './nowhere.ts' },
  'declared-dependencies-only': { file: 'packages/client/src/undeclared.ts', imports: 'left-pad' },
  'one-home-for-onnxruntime-node': { file: 'packages/engine/src/backend/x.ts', imports: 'onnxruntime-node' },
  'one-home-for-koffi': { file: 'packages/engine/src/instance/x.ts', imports: 'koffi' },
  'one-home-for-prom-client': { file: 'apps/server/src/metrics/x.ts', imports: 'prom-client' },
  'one-home-for-redis': { file: 'packages/engine/src/instance/y.ts', imports: '@redis/client' },
  'one-home-for-aws': { file: 'packages/engine/src/repository/gcs/x.ts', imports: '@aws-sdk/client-s3' },
  'one-home-for-google-cloud': { file: 'packages/engine/src/repository/azure/x.ts', imports: '@google-cloud/storage' },
  'one-home-for-azure': { file: 'packages/engine/src/repository/s3/x.ts', imports: '@azure/storage-blob' },
  'one-home-for-grpc': { file: 'apps/server/src/http/x.ts', imports: '@grpc/grpc-js' },
  'one-home-for-prisma': { file: 'apps/server/src/admin/audit/x.ts', imports: '@prisma/client' },
  'one-home-for-ws': { file: 'apps/server/src/http/y.ts', imports: 'ws' },
  'one-home-for-tus-server': { file: 'apps/server/src/http/z.ts', imports: '@tus/server' },
}

/** What the plants import, and edges that must stay allowed. */
const SCENERY: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'planted', dependencies: {} }),
  'node_modules/left-pad/package.json': JSON.stringify({ name: 'left-pad', version: '1.0.0', main: 'index.js' }),
  'node_modules/left-pad/index.js': '',
  'packages/protocol/src/round.ts': `import './round-again.ts'`,
  'packages/protocol/src/tensor.ts': '',
  'packages/engine/src/index.ts': '',
  'packages/engine/src/instance/pool.ts': `import type {} from './contract.ts'`,
  'packages/engine/src/instance/contract.ts': '',
  'packages/engine/src/schedule/dynamic.ts': `import type {} from '../instance/contract.ts'`,
  'packages/engine/src/engine.ts': `import './instance/pool.ts'`,
  'packages/engine/src/cache/local.ts': '',
  'packages/engine/src/backend/identity/backend.ts': '',
  'packages/client/src/utils.ts': '',
  'packages/client/src/perf/index.ts': '',
  'packages/client/src/some.test.ts': '',
  'apps/server/src/main.ts': '',
  'apps/server/src/options.ts': '',
  'apps/server/src/metrics/listener.ts': '',
  'apps/server/src/admin/root.ts': '',
  'apps/server/src/admin/session.ts': '',
  'apps/server/src/admin/models/load.ts': '',
  'apps/server/src/admin/perf/perf.schema.ts': `import '../models/models.schema.ts'`,
  'apps/console/src/api/client.ts': `import type {} from '../../../server/src/admin/root.ts'`,
  'apps/console/src/features/models/table.ts': `import '../../../../server/src/admin/perf/perf.schema.ts'`,
}

function plant(folder: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
  writeFileSync(path.join(folder, file), text)
}

describe('each wall bites', () => {
  let folder = ''
  let broken: readonly (readonly [rule: string, from: string])[] = []

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'conch-walls-'))
    for (const [file, text] of Object.entries(SCENERY)) plant(folder, file, text)
    for (const { file, imports } of Object.values(PLANTED)) {
      const [, type = '', name = ''] = /^(type )?(.*)$/.exec(imports) ?? []
      plant(folder, file, type === '' ? `import '${name}'` : `import type {} from '${name}'`)
    }
    const { summary } = await cruiseTree(folder)
    broken = summary.violations.map(({ rule, from }) => [rule.name, from])
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each(Object.entries(PLANTED))('%s', (rule, { file }) => {
    expect(broken.filter(([name]) => name === rule).map(([, from]) => from)).toContain(file)
  })

  it('and none bites an allowed import', () => {
    const plants = new Set(Object.values(PLANTED).map(({ file }) => file))
    const innocent = broken.filter(([, from]) => !plants.has(from))
    expect(innocent).toEqual([])
  })

  it('and every rule has its plant', async () => {
    const { forbidden = [] } = (await extractOptions(path.join(root, '.dependency-cruiser.cjs'))).ruleSet ?? {}
    expect(new Set(forbidden.map((rule) => rule.name))).toEqual(new Set(Object.keys(PLANTED)))
  })
})
