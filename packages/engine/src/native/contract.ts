import koffi from 'koffi'

const STACK = 8 * 1024 * 1024

/**
 * Native calls of every room. Stacks are settled once for the process, by whoever loads a library first: with koffi's own
 * (128 KiB for calls that wait) ONNX Runtime, which recurses with the depth of a graph, ends it. Who imports koffi from
 * here cannot come too early; nobody may import it from elsewhere.
 */
try {
  koffi.config({ sync_stack_size: STACK, async_stack_size: STACK, resident_async_pools: 32, max_async_calls: 4096 })
} catch {
  // Settled already, when this file is loaded twice in one process.
}

export { koffi }
