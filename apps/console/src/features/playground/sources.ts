import type { Datatype } from '@conch/protocol'
import { placeImage, type ImagePlace } from './image.ts'

export type SourceKind = 'values' | 'text' | 'image' | 'draw' | 'audio'

/** Pads bigger than this are no drawing of a digit any more; one of any size is as big as this. */
const LARGEST_PAD = 64
const SHORTEST_AUDIO = 160

const PICTURE = /image|img|pixel|picture|digit|mnist|photo|vision|ocr|efficientnet|resnet/i
const SOUND = /audio|wave|wav|speech|voice|vad|sound|pcm/i

interface Kind {
  readonly shape: readonly number[]
  readonly datatype: Datatype
  readonly model: string
  readonly input: string
}

/** Which helpers make sense for an input. */
export function listSources(kind: Kind, spot: ImagePlace | null): SourceKind[] {
  const { shape, datatype } = kind
  if (datatype === 'BYTES') return ['text']
  const sources: SourceKind[] = ['values']
  // A row of samples may have the length of a square; a name that speaks of sound settles it.
  const place = SOUND.test(`${kind.model} ${kind.input}`) ? null : spot
  if (place !== null) sources.push('image')
  const pad = place === null ? null : placePad(shape, datatype)
  if (pad !== null && pad.channels === 1 && pad.height <= LARGEST_PAD && pad.width <= LARGEST_PAD) sources.push('draw')
  if (isAudio(shape, datatype)) sources.push('audio')
  return sources
}

/** Where a drawing goes. */
export function placePad(shape: readonly number[], datatype: Datatype): ImagePlace | null {
  return placeImage(shape, datatype, LARGEST_PAD)
}

function isAudio(shape: readonly number[], datatype: Datatype): boolean {
  const last = shape.at(-1)
  if (last === undefined || shape.length > 2 || !['FP32', 'FP16', 'INT16'].includes(datatype)) return false
  return last >= SHORTEST_AUDIO || (last === -1 && shape.length === 2)
}

/** The helper to begin with: names tell a picture from a row of features. */
export function chooseSource(
  sources: readonly SourceKind[],
  names: { model: string; input: string },
  place: ImagePlace | null,
): SourceKind {
  const about = `${names.model} ${names.input}`
  const pictured = PICTURE.test(about) || (place !== null && place.layout !== 'flat')
  if (pictured && sources.includes('draw')) return 'draw'
  if (pictured && sources.includes('image')) return 'image'
  if (SOUND.test(about) && sources.includes('audio')) return 'audio'
  return sources[0] ?? 'values'
}
