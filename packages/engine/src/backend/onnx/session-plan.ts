import { availableParallelism } from 'node:os'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { InstanceSpec } from '../contract.ts'
import { planAccelerators } from './accelerators.ts'
import type { AcceleratorPlan } from './accelerators.ts'
import { readBoolean, readInteger } from './parameter.ts'

/** How a session is to be created, read from a config; plain data. */
export interface SessionPlan {
  /** 0 = one thread per core. */
  readonly intraOpThreads: number
  readonly interOpThreads: number
  readonly parallel: boolean
  /** GraphOptimizationLevel of the C API. */
  readonly graphLevel: number
  /** Undefined = ONNX Runtime's default. */
  readonly memoryArena: boolean | undefined
  readonly memoryPattern: boolean | undefined
  readonly sessionEntries: readonly (readonly [string, string])[]
  readonly runEntries: readonly (readonly [string, string])[]
  /** Paths of libraries with custom operators, as written. */
  readonly operatorLibraries: readonly string[]
  readonly accelerators: readonly AcceleratorPlan[]
}

/** Instances of a config that does not say how many. */
export const DEFAULT_INSTANCES = 2

const SESSION_ENTRIES = ['session.use_device_allocator_for_initializers']
const RUN_ENTRIES = ['memory.enable_memory_arena_shrinkage']

/** Throws INVALID_ARG with the original's texts (ONNX backend §4, §5). */
export function planSession(config: ModelConfig, spec: Pick<InstanceSpec, 'kind' | 'deviceId'>): SessionPlan {
  const { parameters } = config
  const read = <T>(key: string, parse: (text: string) => T): T | undefined => {
    const text = parameters[key]?.string_value
    return text === undefined ? undefined : parse(text)
  }
  const pick = (keys: readonly string[]) => keys.flatMap((key) => read(key, (text) => [[key, text] as const]) ?? [])
  return {
    intraOpThreads: read('intra_op_thread_count', readInteger) ?? chooseThreads(config),
    interOpThreads: read('inter_op_thread_count', readInteger) ?? 0,
    parallel: read('execution_mode', readExecutionMode) ?? false,
    graphLevel: chooseGraphLevel(config.optimization?.graph?.level ?? 0),
    memoryArena: read('enable_mem_arena', readBoolean),
    memoryPattern: read('enable_mem_pattern', readBoolean),
    // Idle workers that spin would take the cores from the thread that answers requests.
    sessionEntries: [
      ['session.intra_op.allow_spinning', '0'],
      ['session.inter_op.allow_spinning', '0'],
      ...pick(SESSION_ENTRIES),
    ],
    runEntries: pick(RUN_ENTRIES),
    operatorLibraries: config.model_operations?.op_library_filename ?? [],
    accelerators: planAccelerators(config, spec),
  }
}

/**
 * Cores divided by the model's instances, at least 1: together they use the machine once. (The original gives every
 * instance a thread per core; with its two instances on two cores that is four threads on two cores.)
 */
function chooseThreads({ instance_group: groups }: ModelConfig): number {
  const counts = groups.filter(({ passive }) => !passive).map(({ count }) => (count > 0 ? count : DEFAULT_INSTANCES))
  const instances = groups.length === 0 ? DEFAULT_INSTANCES : counts.reduce((sum, count) => sum + count, 0)
  return Math.max(1, Math.floor(availableParallelism() / Math.max(1, instances)))
}

function readExecutionMode(text: string): boolean {
  const mode = readInteger(text)
  if (mode === 0 || mode === 1) return mode === 1
  const rule = 'Invalid configuration value provided. Expected values for  execution_mode are 0 or 1'
  throw new ConchError('INVALID_ARG', `${rule} but got ${mode} .`)
}

function chooseGraphLevel(level: number): number {
  const [disabled, basic, extended, all] = [0, 1, 2, 99]
  if (level === -1) return basic
  if (level === 1) return extended
  return level === 2 ? disabled : all
}
