import { mixChannels, type AudioClip } from './audio.ts'

/** Decodes any sound the browser knows; the context resamples it to the rate. */
export async function decodeAudio(file: File, rate: number): Promise<AudioClip> {
  const context = new OfflineAudioContext(1, 1, rate)
  const buffer = await context.decodeAudioData(await file.arrayBuffer())
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel))
  return { samples: mixChannels(channels), rate: buffer.sampleRate }
}
