import { promisify } from 'node:util'
import { koffi } from '../native/contract.ts'

const LIBRARY = 'libnvidia-ml.so.1'
const UUID_SIZE = 96
const NAME_SIZE = 96

/** A call of the library; 0 = it worked. Run on the thread pool: a driver that is busy takes milliseconds. */
type Call = (...args: unknown[]) => Promise<number>
type Address = bigint

/** What NVIDIA's management library says of one GPU; undefined = it does not say. */
export interface Gpu {
  readonly uuid: string
  readonly name: string
  /** 0 … 1. */
  utilization(): Promise<number | undefined>
  /** Bytes. */
  memory(): Promise<{ readonly total: number; readonly used: number } | undefined>
  /** Watts. */
  power(): Promise<number | undefined>
  powerLimit(): Promise<number | undefined>
  /** Joules since the driver was loaded. */
  energy(): Promise<number | undefined>
}

interface Calls {
  readonly init: Call
  readonly count: Call
  readonly handle: Call
  readonly uuid: Call
  readonly name: Call
  readonly utilization: Call
  readonly memory: Call
  readonly power: Call
  readonly powerLimit: Call
  readonly energy: Call
}

/** Referenced for ever: koffi unloads a library that is collected, under its functions. */
const loaded: object[] = []

/** The GPUs of the machine; undefined where there is no NVIDIA driver. */
export async function openGpus(library = LIBRARY): Promise<readonly Gpu[] | undefined> {
  const calls = bind(library)
  if (calls === undefined || (await calls.init()) !== 0) return undefined
  const count = (await readNumber(calls.count)) ?? 0
  const gpus = await Promise.all(Array.from({ length: count }, (_, index) => openGpu(calls, index)))
  return gpus.filter((gpu) => gpu !== undefined)
}

function bind(path: string): Calls | undefined {
  try {
    const library = koffi.load(path)
    loaded.push(library)
    const find = (name: string, ...parameters: (string | ReturnType<typeof koffi.out>)[]): Call => {
      const { async: call } = library.func(name, 'int', parameters)
      return promisify(call) as Call
    }
    const rates = koffi.struct({ gpu: 'uint', memory: 'uint' })
    const memory = koffi.struct({ total: 'uint64_t', free: 'uint64_t', used: 'uint64_t' })
    return {
      init: find('nvmlInit_v2'),
      count: find('nvmlDeviceGetCount_v2', '_Out_ uint *'),
      handle: find('nvmlDeviceGetHandleByIndex_v2', 'uint', '_Out_ void **'),
      uuid: find('nvmlDeviceGetUUID', 'void *', 'char *', 'uint'),
      name: find('nvmlDeviceGetName', 'void *', 'char *', 'uint'),
      utilization: find('nvmlDeviceGetUtilizationRates', 'void *', koffi.out(koffi.pointer(rates))),
      memory: find('nvmlDeviceGetMemoryInfo', 'void *', koffi.out(koffi.pointer(memory))),
      power: find('nvmlDeviceGetPowerUsage', 'void *', '_Out_ uint *'),
      powerLimit: find('nvmlDeviceGetEnforcedPowerLimit', 'void *', '_Out_ uint *'),
      energy: find('nvmlDeviceGetTotalEnergyConsumption', 'void *', '_Out_ uint64_t *'),
    }
  } catch {
    return undefined
  }
}

async function openGpu(calls: Calls, index: number): Promise<Gpu | undefined> {
  const pointer: [Address | null] = [null]
  const failed = (await calls.handle(index, pointer)) !== 0
  const [handle] = pointer
  if (failed || handle === null) return undefined
  const uuid = await readText((bytes) => calls.uuid(handle, bytes, bytes.length), UUID_SIZE)
  if (uuid === undefined) return undefined
  const scaled = async (call: Call, unit: number) => {
    const value = await readNumber((out) => call(handle, out))
    return value === undefined ? undefined : value / unit
  }
  return {
    uuid,
    name: (await readText((bytes) => calls.name(handle, bytes, bytes.length), NAME_SIZE)) ?? '',
    async utilization() {
      const rates = { gpu: 0, memory: 0 }
      return (await calls.utilization(handle, rates)) === 0 ? rates.gpu / 100 : undefined
    },
    async memory() {
      const sizes: { total: number | bigint; used: number | bigint } = { total: 0, used: 0 }
      if ((await calls.memory(handle, sizes)) !== 0) return undefined
      return { total: Number(sizes.total), used: Number(sizes.used) }
    },
    // The library counts in milliwatts and millijoules.
    power: () => scaled(calls.power, 1_000),
    powerLimit: () => scaled(calls.powerLimit, 1_000),
    energy: () => scaled(calls.energy, 1_000),
  }
}

async function readNumber(call: Call): Promise<number | undefined> {
  const out: [number | bigint | null] = [null]
  return (await call(out)) === 0 && out[0] !== null ? Number(out[0]) : undefined
}

async function readText(call: (bytes: Uint8Array) => Promise<number>, size: number): Promise<string | undefined> {
  const bytes = Buffer.alloc(size)
  if ((await call(bytes)) !== 0) return undefined
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end < 0 ? size : end)
}
