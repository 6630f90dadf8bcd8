import { UsageError } from './command-line.ts'
import { defaultAddress } from './option-values.ts'
import type { Environment, Values } from './option-values.ts'

/** A platform's port beside the others. */
export interface CloudOptions {
  readonly enabled: boolean
  readonly address: string
  readonly port: number
}
export interface SageMaker {
  readonly pingMode: 'ready' | 'live'
  readonly defaultModel: string
  readonly inferenceType: 'infer' | 'generate' | 'generate_stream'
  readonly modelsRoot: string
}
export interface Vertex {
  /** Undefined = the platform did not say; then the port cannot be served. */
  readonly predictRoute: string | undefined
  readonly healthRoute: string | undefined
  /** '' = the only model that is ready. */
  readonly defaultModel: string
}

export function parseSageMaker(values: Values, env: Environment): CloudOptions & SageMaker {
  const port = values.int('sagemaker-port', 8080)
  const [, low, high] = /^(\d+)-(\d+)$/.exec(values.text('sagemaker-safe-port-range', '')) ?? []
  const enabled = values.bool('allow-sagemaker', false)
  if (enabled && low !== undefined && (port < Number(low) || port > Number(high))) {
    throw new UsageError(
      'sagemaker-port',
      `--sagemaker-port=${port} is outside of --sagemaker-safe-port-range=${low}-${high}`,
    )
  }
  return {
    enabled,
    address: values.text('sagemaker-address', defaultAddress(values)),
    port,
    pingMode: env['SAGEMAKER_TRITON_PING_MODE'] === 'live' ? 'live' : 'ready',
    defaultModel: env['SAGEMAKER_TRITON_DEFAULT_MODEL_NAME'] ?? 'unspecified_SAGEMAKER_TRITON_DEFAULT_MODEL_NAME',
    inferenceType: parseInferenceType(env['SAGEMAKER_TRITON_INFERENCE_TYPE'] ?? 'infer'),
    modelsRoot: values.text('sagemaker-models-root', '/opt/ml/models'),
  }
}

function parseInferenceType(text: string): SageMaker['inferenceType'] {
  if (text === 'infer' || text === 'generate' || text === 'generate_stream') return text
  throw new UsageError('', `SAGEMAKER_TRITON_INFERENCE_TYPE is '${text}'; expected infer, generate or generate_stream`)
}

export function parseVertex(values: Values, env: Environment, enabled: boolean): CloudOptions & Vertex {
  const port = env['AIP_HTTP_PORT'] === undefined ? 8080 : Number(env['AIP_HTTP_PORT'])
  return {
    enabled: values.bool('allow-vertex-ai', enabled),
    address: values.text('vertex-ai-address', defaultAddress(values)),
    port: values.int('vertex-ai-port', port),
    predictRoute: env['AIP_PREDICT_ROUTE'],
    healthRoute: env['AIP_HEALTH_ROUTE'],
    defaultModel: values.text('vertex-ai-default-model', ''),
  }
}
