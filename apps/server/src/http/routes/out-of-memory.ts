/** What frameworks say when memory is spent; SageMaker then unloads models and tries again (reference: cloud §A.2). */
const WORDS = [
  'CUDA out of memory',
  'CUDA_OUT_OF_MEMORY',
  'Out of memory',
  'Out Of Memory',
  'out of memory',
  'MemoryError',
  'OutOfMemory',
  'OOM',
  'Dst tensor is not initialized',
  'Src tensor is not initialized',
  'CNMEM_STATUS_OUT_OF_MEMORY',
  'CUDNN_STATUS_NOT_INITIALIZED',
  'CUBLAS_STATUS_ALLOC_FAILED',
  'CUBLAS_STATUS_NOT_INITIALIZED',
  'Failed to allocate memory',
  'failed to allocate memory',
  'No space left on device',
]

export function isOutOfMemory(message: string): boolean {
  return WORDS.some((words) => message.includes(words))
}
