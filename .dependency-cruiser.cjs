// The walls of ARCHITECTURE.md. docs/walls.test.ts plants a violation of each and sees the rule bite.
const ENGINE = '^packages/engine/src/'
const TESTS = '\\.(test|suite|test-d|bench)\\.tsx?$'

/** The client has a second door, for what a browser cannot do (docs/adr/0006). */
const DOORS = '^packages/([^/]+/src/(index|testing)|client/src/node)\\.ts$'

/** A foreign package may be imported from exactly one place. */
const oneHome = (name, packages, homes) => ({
  name: `one-home-for-${name}`,
  severity: 'error',
  from: { pathNot: [...homes, TESTS, '/bench/'] },
  to: { path: packages.flatMap((entry) => [`(^|/)node_modules/${entry}/`, `^${entry}(/|$)`]) },
})

const wall = (name, from, to) => ({ name, severity: 'error', from, to })

module.exports = {
  forbidden: [
    wall('no-cycle', {}, { circular: true }),
    wall('packages-know-no-app', { path: '^packages/' }, { path: '^apps/' }),
    wall(
      'apps-meet-by-type',
      { path: '^apps/([^/]+)/' },
      { path: '^apps/', pathNot: ['^apps/$1/', '\\.?schemas?\\.ts$'], dependencyTypesNot: ['type-only'] },
    ),
    wall(
      'apps-meet-at-the-router',
      { path: '^apps/console/' },
      {
        path: '^apps/server/',
        pathNot: ['^apps/server/(src|dist)/admin/root\\.', '^apps/server/(src|dist)/admin/.*schemas?\\.'],
      },
    ),
    wall(
      'schemas-are-plain',
      { path: '^apps/server/src/admin/.*schemas?\\.ts$' },
      { pathNot: ['schemas?\\.ts$', '^packages/protocol/src/index\\.ts$', '(^|/)node_modules/zod/'] },
    ),
    wall(
      'front-door-only',
      { path: '^(apps|packages)/([^/]+)/' },
      { path: '^packages/', pathNot: ['^packages/$2/', DOORS] },
    ),
    wall(
      'front-door-only-for-documents',
      { path: '^(docs|playwright|prisma)/' },
      { path: '^packages/', pathNot: DOORS },
    ),
    wall(
      'protocol-stands-alone',
      { path: '^packages/protocol/src/', pathNot: TESTS },
      { pathNot: '^packages/protocol/src/', dependencyTypesNot: ['npm'] },
    ),
    wall('console-never-holds-the-engine', { path: '^(apps/console|packages/client)/' }, { path: '^packages/engine/' }),
    wall(
      'rooms-meet-only-in-the-hallway',
      { path: `${ENGINE}([^/]+)/`, pathNot: TESTS },
      { path: ENGINE, pathNot: [`${ENGINE}$1/`, `${ENGINE}[^/]+/contract\\.ts$`, `${ENGINE}request\\.ts$`] },
    ),
    wall(
      'the-hallway-is-two-files',
      { path: `${ENGINE}[^/]+\\.ts$`, pathNot: [`${ENGINE}(engine|model|index|testing)\\.ts$`, TESTS] },
      { path: `${ENGINE}[^/]+/`, pathNot: `${ENGINE}[^/]+/contract\\.ts$` },
    ),
    wall(
      'contracts-are-leaves',
      { path: `${ENGINE}([^/]+)/contract\\.ts$` },
      { path: ENGINE, pathNot: [`${ENGINE}[^/]+/contract\\.ts$`, `${ENGINE}request\\.ts$`] },
    ),
    wall('request-is-a-leaf', { path: `${ENGINE}request\\.ts$` }, { path: ENGINE }),
    wall(
      'siblings-are-strangers',
      { path: `${ENGINE}(backend|repository)/([^/]+)/`, pathNot: TESTS },
      { path: `${ENGINE}$1/[^/]+/`, pathNot: `${ENGINE}$1/$2/` },
    ),
    wall(
      'faces-are-strangers',
      // A command is no face: it is who calls the rooms that do its work. Nor is tracing: faces report to it (ADR 10).
      { path: '^apps/server/src/([^/]+)/', pathNot: ['^apps/server/src/commands/', TESTS] },
      { path: '^apps/server/src/[^/]+/', pathNot: ['^apps/server/src/$1/', '^apps/server/src/tracing/'] },
    ),
    // A noun's schema is its contract: others may import that, and nothing else of it.
    wall(
      'nouns-are-strangers',
      { path: '^apps/server/src/admin/([^/]+)/', pathNot: TESTS },
      { path: '^apps/server/src/admin/[^/]+/', pathNot: ['^apps/server/src/admin/$1/', '\\.schema\\.ts$'] },
    ),
    wall(
      'features-are-strangers',
      { path: '^apps/console/src/features/([^/]+)/', pathNot: TESTS },
      { path: '^apps/console/src/features/[^/]+/', pathNot: '^apps/console/src/features/$1/' },
    ),
    wall('console-flows-down', { path: '^apps/console/src/(ui|api)/' }, { path: '^apps/console/src/(features|app)/' }),
    wall(
      'no-junk-drawers',
      {},
      { path: '^(apps|packages)/.*/(utils?|helpers?|common|misc|shared|lib)(/|\\.tsx?$)', pathNot: 'node_modules' },
    ),
    wall('no-inner-barrels', {}, { path: '^(apps|packages)/[^/]+/src/.+/index[.]tsx?$' }),
    wall(
      'src-never-imports-tests',
      { path: '^(apps|packages)/[^/]+/src/', pathNot: TESTS },
      { path: [`^(apps|packages)/.*${TESTS}`, '^(apps|packages)/[^/]+/(test|bench)/'] },
    ),
    wall(
      'declared-dependencies-only',
      { path: '^(apps|packages)/[^/]+/src/', pathNot: TESTS },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    wall('resolvable', {}, { couldNotResolve: true, pathNot: '\\.(css|svg)$' }),

    oneHome('onnxruntime-node', ['onnxruntime-node'], [`${ENGINE}backend/onnx/`]),
    oneHome('koffi', ['koffi'], [`${ENGINE}native/contract\\.ts$`]),
    oneHome('prom-client', ['prom-client'], [`${ENGINE}observe/`]),
    oneHome('redis', ['@redis/client', 'redis', 'ioredis'], [`${ENGINE}cache/`]),
    oneHome('aws', ['@aws-sdk/[^/]+'], [`${ENGINE}repository/s3/`]),
    oneHome('google-cloud', ['@google-cloud/[^/]+'], [`${ENGINE}repository/gcs/`]),
    oneHome('azure', ['@azure/[^/]+'], [`${ENGINE}repository/azure/`]),
    oneHome('grpc', ['@grpc/[^/]+', '@connectrpc/[^/]+'], ['^apps/server/src/grpc/', '^packages/client/src/grpc']),
    oneHome(
      'prisma',
      ['@prisma/client', '@prisma/adapter-[^/]+', 'better-sqlite3'],
      ['^apps/server/src/admin/db[^/]*\\.ts', '^prisma/'],
    ),
    oneHome('ws', ['ws'], ['^apps/server/src/admin/']),
    oneHome('tus-server', ['@tus/[^/]+'], ['^apps/server/src/admin/']),
  ],
  options: {
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.next|out|coverage|gen)/|(^|/)next-env\\.d\\.ts$' },
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@conch/source', 'import', 'node', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.d.ts', '.mjs', '.js', '.json', '.css'],
    },
  },
}
