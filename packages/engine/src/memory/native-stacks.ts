import koffi from 'koffi'

/**
 * Stacks of native calls, as the rooms of other libraries want them: whichever comes first decides for the process. With
 * koffi's own (128 KiB) ONNX Runtime, which recurses, ends the process.
 */
export function configureKoffi(): void {
  const stack = 8 * 1024 * 1024
  try {
    koffi.config({ sync_stack_size: stack, async_stack_size: stack, resident_async_pools: 32, max_async_calls: 4096 })
  } catch {
    // Another room was first, with the same.
  }
}
