/** What is taken from a recording. */
export interface AudioClip {
  /** Samples −1 … 1 of one channel at the wanted rate. */
  readonly samples: Float32Array
  readonly rate: number
}

/** Mixes channels to one. */
export function mixChannels(channels: readonly Float32Array[]): Float32Array {
  const first = channels[0] ?? new Float32Array(0)
  if (channels.length < 2) return first
  return first.map((_, index) => channels.reduce((sum, channel) => sum + (channel[index] ?? 0), 0) / channels.length)
}

/** Takes `length` samples from `start`; silence fills what the recording does not have. `length` −1 takes all. */
export function cutSamples(samples: Float32Array, start: number, length: number): Float32Array {
  if (length < 0) return samples.subarray(start)
  const out = new Float32Array(length)
  out.set(samples.subarray(start, start + length))
  return out
}

/** The loudest stretch of a length, so that the first try has something to hear. */
export function findLoudest(samples: Float32Array, length: number): number {
  if (length <= 0 || samples.length <= length) return 0
  let energy = 0
  let best = 0
  let most = -1
  for (const [index, value] of samples.entries()) {
    energy += value * value
    if (index >= length) energy -= (samples[index - length] ?? 0) ** 2
    if (index >= length - 1 && energy > most + 1e-9) {
      most = energy
      best = index - length + 1
    }
  }
  return best
}

/** 16-bit inputs take the full range of their integers. */
export function scaleSamples(samples: Float32Array, datatype: string): Float32Array {
  return datatype === 'INT16' ? samples.map((value) => value * 32_767) : samples
}
