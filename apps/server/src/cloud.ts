import { ConchError } from '@conch/protocol'
import type { Engine } from '@conch/engine'
import { startHttp } from './http/listener.ts'
import type { HttpDependencies, HttpFace } from './http/listener.ts'
import { createSageMakerDoor } from './http/routes/sagemaker.ts'
import { createVertexDoor } from './http/routes/vertex.ts'
import type { ServeOptions } from './options.ts'

type Shared = Omit<HttpDependencies, 'options' | 'door'>

/** The port of SageMaker (reference: cloud §A). */
export function startSageMaker(shared: Shared, { http, sagemaker }: ServeOptions): Promise<HttpFace> {
  const { address, port } = sagemaker
  return startHttp({
    ...shared,
    options: { ...http, address, port, tls: undefined },
    door: createSageMakerDoor(sagemaker),
  })
}

/** The port of Vertex AI (reference: cloud §B). Throws when the platform's settings or the default model are missing. */
export async function startVertex(shared: Shared, { http, vertex }: ServeOptions): Promise<HttpFace> {
  const { address, port, predictRoute, healthRoute } = vertex
  if (predictRoute === undefined) throw undefinedRoute('API_PREDICT_ROUTE')
  if (healthRoute === undefined) throw undefinedRoute('AIP_HEALTH_ROUTE')
  const defaultModel = await findDefault(shared.engine, vertex.defaultModel)
  const door = createVertexDoor({ predictRoute, healthRoute, defaultModel })
  return startHttp({ ...shared, options: { ...http, address, port, tls: undefined }, door })
}

function undefinedRoute(name: string): ConchError {
  return new ConchError('INVALID_ARG', `${name} is not defined for Vertex AI endpoint`)
}

async function findDefault(engine: Engine, named: string): Promise<string> {
  const ready = new Set((await engine.index(true)).map(({ name }) => name))
  if (named !== '' && ready.has(named)) return named
  if (named !== '') throw new ConchError('INVALID_ARG', `Expect the default model '${named}' is loaded`)
  const [only] = ready
  if (only !== undefined && ready.size === 1) return only
  const text = 'Expect the model repository contains only a single model if default model is not specified'
  throw new ConchError(
    'INVALID_ARG',
    `${text} (ready: ${[...ready].join(', ') || 'none'}); see --vertex-ai-default-model`,
  )
}
