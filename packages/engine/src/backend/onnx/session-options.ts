import type { AcceleratorPlan } from './accelerators.ts'
import { CStrings } from './c-strings.ts'
import { checkStatus, receive } from './env.ts'
import type { Env } from './env.ts'
import type { Pointer } from './library.ts'
import type { SessionPlan } from './session-plan.ts'

/** Hands options that follow the plan to `use` and releases them when it is done. */
export async function withSessionOptions<T>(
  env: Env,
  plan: SessionPlan,
  use: (options: Pointer) => Promise<T>,
): Promise<T> {
  const options = receive((out) => env.api.CreateSessionOptions(out))
  try {
    applyPlan(env, plan, options)
    return await use(options)
  } finally {
    env.api.ReleaseSessionOptions(options)
  }
}

function applyPlan(env: Env, plan: SessionPlan, options: Pointer): void {
  const { api } = env
  applyThreads(env, plan, options)
  checkStatus(api.SetSessionExecutionMode(options, plan.parallel ? 1 : 0))
  checkStatus(api.SetSessionGraphOptimizationLevel(options, plan.graphLevel))
  if (plan.memoryArena !== undefined) {
    checkStatus(plan.memoryArena ? api.EnableCpuMemArena(options) : api.DisableCpuMemArena(options))
  }
  if (plan.memoryPattern !== undefined) {
    checkStatus(plan.memoryPattern ? api.EnableMemPattern(options) : api.DisableMemPattern(options))
  }
  for (const [key, value] of plan.sessionEntries) checkStatus(api.AddSessionConfigEntry(options, key, value))
  for (const path of plan.operatorLibraries) checkStatus(api.RegisterCustomOpsLibrary_V2(options, path))
  for (const accelerator of plan.accelerators) appendProvider(env, accelerator, options)
}

function applyThreads({ api, sharesThreads }: Env, plan: SessionPlan, options: Pointer): void {
  if (sharesThreads) {
    checkStatus(api.DisablePerSessionThreads(options))
    return
  }
  checkStatus(api.SetIntraOpNumThreads(options, plan.intraOpThreads))
  checkStatus(api.SetInterOpNumThreads(options, plan.interOpThreads))
}

/** Fails with the library's own words when this build or machine lacks the provider. */
function appendProvider({ api }: Env, { provider, options: wanted }: AcceleratorPlan, options: Pointer): void {
  const keys = new CStrings(Object.keys(wanted))
  const values = new CStrings(Object.values(wanted))
  switch (provider) {
    case 'openvino':
      checkStatus(
        api.SessionOptionsAppendExecutionProvider_OpenVINO_V2(options, keys.pointers, values.pointers, keys.count),
      )
      return
    case 'cuda': {
      const settings = receive((out) => api.CreateCUDAProviderOptions(out))
      try {
        checkStatus(api.UpdateCUDAProviderOptions(settings, keys.pointers, values.pointers, keys.count))
        checkStatus(api.SessionOptionsAppendExecutionProvider_CUDA_V2(options, settings))
      } finally {
        api.ReleaseCUDAProviderOptions(settings)
      }
      return
    }
    case 'tensorrt': {
      const settings = receive((out) => api.CreateTensorRTProviderOptions(out))
      try {
        checkStatus(api.UpdateTensorRTProviderOptions(settings, keys.pointers, values.pointers, keys.count))
        checkStatus(api.SessionOptionsAppendExecutionProvider_TensorRT_V2(options, settings))
      } finally {
        api.ReleaseTensorRTProviderOptions(settings)
      }
    }
  }
}
