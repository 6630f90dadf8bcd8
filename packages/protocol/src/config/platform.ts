/** What the original knows of a backend: its old platform names and the files it is recognised by. */
interface BackendRow {
  readonly backend: string
  readonly platform: string
  readonly file: string
}

/** In the order in which the original looks for them. */
export const KNOWN_BACKENDS: readonly BackendRow[] = [
  { backend: 'tensorflow', platform: 'tensorflow_savedmodel', file: 'model.savedmodel' },
  { backend: 'tensorflow', platform: 'tensorflow_graphdef', file: 'model.graphdef' },
  { backend: 'tensorrt', platform: 'tensorrt_plan', file: 'model.plan' },
  { backend: 'onnxruntime', platform: 'onnxruntime_onnx', file: 'model.onnx' },
  { backend: 'openvino', platform: '', file: 'model.xml' },
  { backend: 'pytorch', platform: 'pytorch_libtorch', file: 'model.pt' },
  { backend: 'pytorch', platform: 'torch_aoti', file: 'model.pt2' },
  { backend: 'python', platform: '', file: 'model.py' },
]

/** The backend that a platform means; '' for none of the known ones. */
export function backendOfPlatform(platform: string): string {
  if (platform === '') return ''
  return KNOWN_BACKENDS.find((row) => row.platform === platform)?.backend ?? ''
}

/** Whether the backend is one that has a platform name of its own. */
export function hasPlatform(backend: string): boolean {
  return KNOWN_BACKENDS.some((row) => row.backend === backend && row.platform !== '')
}
