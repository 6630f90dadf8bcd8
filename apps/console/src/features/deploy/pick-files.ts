/** A file to upload, with its place inside the dropped folder. */
export interface Picked {
  readonly file: File
  readonly path: string
}

/** What the server takes: one .onnx or .zip, or the files of one folder. */
export type Choice =
  | { readonly kind: 'single'; readonly files: readonly Picked[] }
  | { readonly kind: 'folder'; readonly files: readonly Picked[] }
  | { readonly kind: 'refused'; readonly reason: string }

const MOST_FILES = 2000
/** What file managers leave behind, and never part of a model. */
const LITTER = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX\/.*|\.git\/.*|\._[^/]*)$/

export function chooseFiles(picked: readonly Picked[]): Choice {
  const files = picked.filter(({ path }) => !LITTER.test(path))
  const only = files.length === 1 ? files[0] : undefined
  if (files.length === 0)
    return { kind: 'refused', reason: 'There is no file in it. Drop an .onnx file, a .zip, or a model’s folder.' }
  if (files.length > MOST_FILES) {
    return {
      kind: 'refused',
      reason: `${files.length} files are more than the ${MOST_FILES} that can be uploaded at once. Pack them into a .zip.`,
    }
  }
  const empty = files.find(({ file }) => file.size === 0 && /\.(onnx|zip)$/i.test(file.name))
  if (empty !== undefined) return { kind: 'refused', reason: `“${empty.path}” is empty. Was it copied completely?` }
  if (only === undefined) return { kind: 'folder', files }
  if (/\.(onnx|zip)$/i.test(only.path) && !only.path.includes('/')) return { kind: 'single', files }
  if (only.path.includes('/')) return { kind: 'folder', files }
  return {
    kind: 'refused',
    reason: `“${only.file.name}” is neither an .onnx file nor a .zip. For other models drop the whole folder, with its config.pbtxt.`,
  }
}

/** Reads what was dropped, folders included. */
export async function readDrop(transfer: DataTransfer): Promise<Picked[]> {
  // The list is emptied when the event is over, so everything is taken before anything is awaited.
  const dropped = [...transfer.items]
    .filter((item) => item.kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const found = await Promise.all(
    dropped.map(({ entry, file }) => (entry === null ? readLoose(file) : readEntry(entry, ''))),
  )
  return found.flat()
}

function readLoose(file: File | null): Promise<Picked[]> {
  return Promise.resolve(file === null ? [] : [{ file, path: file.name }])
}

export function readInput(list: FileList | null): Picked[] {
  return [...(list ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }))
}

async function readEntry(entry: FileSystemEntry, prefix: string): Promise<Picked[]> {
  const path = prefix + entry.name
  if (entry.isFile) return [{ file: await readFile(entry as FileSystemFileEntry), path }]
  const children = await readFolder((entry as FileSystemDirectoryEntry).createReader())
  const found = await Promise.all(children.map((child) => readEntry(child, `${path}/`)))
  return found.flat()
}

function readFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** A browser hands a folder out in pieces of a hundred. */
async function readFolder(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}
