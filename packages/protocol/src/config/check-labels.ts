import type { CheckOptions, Complaints } from './complaints.ts'

/** Files that the config names must be there; their texts carry the path as the original's do. */
export function checkLabels(complaints: Complaints, files: NonNullable<CheckOptions['files']>): void {
  const { name, output } = complaints.config
  for (const [index, { label_filename: file, name: tensor }] of output.entries()) {
    if (file === '') continue
    const path = `output[${String(index)}].label_filename`
    if (escapes(file)) {
      const original = `label file path '${file}' for output '${tensor}' in model '${name}' is outside model directory`
      complaints.add(path, original, { code: 'UNSUPPORTED' })
    } else if (!files.has(file)) {
      const original = `failed to open text file for read ${files.directory}/${file}: No such file or directory`
      complaints.add(path, original, { code: 'INTERNAL' })
    }
  }
}

/** Whether a relative path leaves the directory it starts in. */
function escapes(path: string): boolean {
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1
    else if (part !== '' && part !== '.') depth += 1
    if (depth < 0) return true
  }
  return path.startsWith('/')
}
