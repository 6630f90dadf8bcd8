import { configToJson } from '@conch/protocol'
import type { Exchange } from './exchange.ts'
import { checkVersion } from './infer.ts'
import { send, sendJson } from './reply.ts'

export function answerModelMetadata(exchange: Exchange): void {
  checkVersion(exchange.version)
  const { name, versions, platform, inputs, outputs } = exchange.face.engine.metadata(exchange.model, exchange.version)
  sendJson(exchange, { name, versions, platform, inputs, outputs })
}

export function answerModelConfig(exchange: Exchange): void {
  checkVersion(exchange.version)
  const config = exchange.face.engine.config(exchange.model, exchange.version)
  send(exchange, 200, { type: 'application/json', parts: [Buffer.from(configToJson(config))] })
}

export function answerStatistics(exchange: Exchange): void {
  checkVersion(exchange.version)
  sendJson(exchange, { model_stats: exchange.face.engine.statistics(exchange.model, exchange.version) })
}
