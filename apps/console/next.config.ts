import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'
import { PHASE_DEVELOPMENT_SERVER } from 'next/constants.js'

/** Where `next dev` finds a running `conch up`. */
const SERVER = process.env['CONCH_CONSOLE_SERVER'] ?? 'http://127.0.0.1:8080'

/** Turbopack knows no custom export condition, so the workspaces' sources are named here. */
const SOURCES = {
  '@conch/protocol': '../../packages/protocol/src/index.ts',
  '@conch/server/schemas': '../server/src/admin/schemas.ts',
}

export default function configure(phase: string): NextConfig {
  const base: NextConfig = {
    images: { unoptimized: true },
    // `npm run types` is the one place where types are checked.
    typescript: { ignoreBuildErrors: true },
    transpilePackages: ['@conch/protocol', '@conch/server'],
    turbopack: { root: fileURLToPath(new URL('../../', import.meta.url)), resolveAlias: SOURCES },
    devIndicators: false,
    poweredByHeader: false,
  }
  if (phase !== PHASE_DEVELOPMENT_SERVER) return { ...base, output: 'export' }
  return {
    ...base,
    allowedDevOrigins: ['127.0.0.1'],
    // The second is what the admin face does with names in production.
    rewrites: () =>
      Promise.resolve([
        { source: '/api/:path*', destination: `${SERVER}/api/:path*` },
        { source: '/:page(models|playground)/:name([^_].*)', destination: '/:page/_' },
      ]),
  }
}
