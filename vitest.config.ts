import { defineConfig } from 'vitest/config'

const conditions = ['@conch/source']

export default defineConfig({
  resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] },
  ssr: { resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'apps/server/{src,test}/**/*.test.ts',
      'apps/console/src/**/*.test.{ts,tsx}',
      'docs/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', '**/.next/**', '**/out/**'],
    // Native libraries (koffi, ONNX Runtime) are loaded per process; threads would share one copy and its global state.
    pool: 'forks',
    execArgv: ['--conditions=@conch/source'],
    restoreMocks: true,
    // Generous: these end tests that hang; a busy machine must not.
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
