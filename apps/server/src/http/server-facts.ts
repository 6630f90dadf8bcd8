import type { Exchange } from './exchange.ts'
import { send, sendEmpty, sendRefusal } from './reply.ts'

export function answerServerMetadata(exchange: Exchange): void {
  send(exchange, 200, { type: 'application/json', parts: [exchange.face.metadata] })
}

export function answerLive(exchange: Exchange): void {
  answerHealth(exchange, exchange.face.engine.live())
}

export async function answerReady(exchange: Exchange): Promise<void> {
  answerHealth(exchange, await exchange.face.engine.ready())
}

function answerHealth(exchange: Exchange, healthy: boolean): void {
  if (exchange.face.engine.phase === 'exiting') {
    // The original says 503 here, and nowhere else.
    send(exchange, 503, { type: 'text/plain', parts: [EXITING] })
  } else sendEmpty(exchange, healthy ? 200 : 400, 'text/plain')
}
const EXITING = Buffer.from('{"error":"Server exiting"}')

export async function answerModelReady(exchange: Exchange): Promise<void> {
  const { face, model, version } = exchange
  if (await face.engine.modelReady(model, version)) sendEmpty(exchange, 200, 'text/plain')
  else sendRefusal(exchange, 400, { type: 'text/plain', text: 'Model version not ready' })
}
