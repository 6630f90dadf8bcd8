#!/usr/bin/env node
/*
 * Prisma's schema engine without its download: the WebAssembly build of the same engine (a registry package), spoken to over
 * the protocol the command line expects (JSON-RPC, one object a line). For SQLite, which is what the console keeps.
 *
 *   PRISMA_SCHEMA_ENGINE_BINARY=$PWD/prisma/schema-engine.mjs npx prisma migrate diff …
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL,
  "finished_at" DATETIME, "migration_name" TEXT NOT NULL, "logs" TEXT, "rolled_back_at" DATETIME,
  "started_at" DATETIME NOT NULL DEFAULT current_timestamp, "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0);`

const options = readArguments(process.argv.slice(2))
const file = resolve((options.url ?? 'file::memory:').replace(/^file:/, '').split('?')[0])

if (options.version) console.log('schema-engine-cli 4.0edf323efd1d98336f3f0a68684b56f689b900d3')
else if (options.cli !== undefined) runCli(options.cli)
else await serve()

function readArguments(args) {
  const found = { datamodels: [], url: undefined, cli: undefined, version: false }
  for (let i = 0; i < args.length; i += 1) {
    if (args[i] === '--datamodels') found.datamodels.push(args[(i += 1)])
    else if (args[i] === '--datasource') found.url = JSON.parse(args[(i += 1)]).url
    else if (args[i] === '--version') found.version = true
    else if (args[i] === 'cli') found.cli = args[(i += 1)]
  }
  return found
}

/** Answers on stderr, one JSON line each; the first is taken for the engine's greeting. */
function runCli(command) {
  const say = (level, fields) =>
    console.error(
      JSON.stringify({ timestamp: new Date().toISOString(), level, target: 'schema_engine::logger', fields }),
    )
  say('INFO', { message: 'Starting schema engine CLI' })
  if (command === 'can-connect-to-database' && !existsSync(file)) {
    say('ERROR', { error_code: 'P1003', message: `Database \`${file}\` does not exist`, is_panic: false })
    process.exitCode = 1
  } else if (command === 'create-database') {
    mkdirSync(dirname(file), { recursive: true })
    if (!existsSync(file)) writeFileSync(file, '')
    say('INFO', { message: 'The database was successfully created.' })
  } else if (command === 'drop-database') {
    rmSync(file, { force: true })
    say('INFO', { message: 'The database was successfully dropped.' })
  } else say('INFO', { message: 'Connection successful' })
}

async function loadEngine() {
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const bytes = readFileSync(resolve(dirname(path), 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': bindings })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return bindings.SchemaEngine
}

/** Where the adapter differs from what the engine was written against. */
function bridge(adapter) {
  const { queryRaw, executeRaw } = adapter
  adapter.queryRaw = async (query) => {
    try {
      return await queryRaw.call(adapter, query)
    } catch (error) {
      // "Not initialised" is no error to the engine, but a missing table is one to the adapter.
      if (!/no such table: _prisma_migrations/.test(JSON.stringify(error) + String(error?.message))) throw error
      return { columnNames: [], columnTypes: [], rows: [] }
    }
  }
  adapter.executeRaw = async (query) => {
    try {
      return await executeRaw.call(adapter, query)
    } catch (error) {
      // Whole scripts come this way; SQLite's driver takes one statement.
      if (query.args.length > 0 || !/more than one statement/.test(String(error?.message) + JSON.stringify(error)))
        throw error
      await adapter.executeScript(query.sql)
      return 0
    }
  }
  return adapter
}

async function serve() {
  // The engine connects at once, also for commands that need no database; the command line makes missing ones by itself.
  const factory = new PrismaBetterSqlite3({ url: existsSync(file) ? `file:${file}` : ':memory:' })
  const open = []
  const keep = async (connecting) => {
    const adapter = bridge(await connecting)
    open.push(adapter)
    return adapter
  }
  const bridged = bindMigrationAwareSqlAdapterFactory({
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: () => keep(factory.connect()),
    connectToShadowDb: () => keep(factory.connectToShadowDb()),
  })
  const close = () => Promise.all(open.splice(0).map((adapter) => adapter.dispose().catch(() => undefined)))
  process.on('SIGTERM', () => void close().then(() => process.exit(0)))

  const SchemaEngine = await loadEngine()
  const datamodels = options.datamodels.map((path) => [path, readFileSync(path, 'utf8')])
  const engine = await SchemaEngine.new(
    { datamodels: datamodels.length > 0 ? datamodels : undefined },
    () => {},
    bridged,
  )
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== '') await answer(engine, factory, JSON.parse(line))
  }
  await close()
}

async function answer(engine, factory, { id, method, params }) {
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  try {
    const result = await call(engine, factory, { method, params })
    if (method === 'diff') {
      if (result.stdout) send({ id, method: 'print', params: { content: result.stdout } })
      send({ id, result: { exitCode: result.exitCode, stdout: null } })
    } else send({ id, result: result ?? null })
  } catch (error) {
    const message = error?.message ?? String(error)
    send({
      id,
      error: {
        code: 4466,
        message: 'An error happened. Check the data field for details.',
        data: { is_panic: false, message, error_code: error?.code ?? null, meta: error?.meta ?? null },
      },
    })
  }
}

async function call(engine, factory, { method, params }) {
  if (method === 'getDatabaseVersion') return engine.version(params)
  if (method === 'reset') return dropEverything(factory)
  if (method === 'markMigrationApplied') await withConnection(factory, (connection) => connection.executeScript(TABLE))
  if (typeof engine[method] !== 'function') throw new Error(`the schema engine has no method '${method}'`)
  return engine[method](params)
}

async function withConnection(factory, work) {
  const connection = await factory.connect()
  try {
    return await work(connection)
  } finally {
    await connection.dispose()
  }
}

/** The engine's own reset does nothing here: the driver is built to protect the schema table it would write to. */
function dropEverything(factory) {
  return withConnection(factory, async (connection) => {
    const sql = `SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view', 'table') AND name NOT LIKE 'sqlite_%' ORDER BY type = 'table'`
    const { rows } = await connection.queryRaw({ sql, args: [], argTypes: [] })
    const drops = rows.map(([type, name]) => `DROP ${type} IF EXISTS "${String(name).replaceAll('"', '""')}";`)
    await connection.executeScript(`PRAGMA foreign_keys = OFF; ${drops.join(' ')} PRAGMA foreign_keys = ON; VACUUM;`)
    return null
  })
}
