/** A README as blocks: enough of Markdown for a model card, and nothing that could run. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }

export function parseMarkdown(source: string): Block[] {
  const blocks: Block[] = []
  const lines = source.replaceAll('\r', '').split('\n')
  while (lines.length > 0) {
    const line = lines[0] ?? ''
    if (line.trim() === '') lines.shift()
    else blocks.push(takeBlock(line, lines))
  }
  return blocks
}

function takeBlock(line: string, lines: string[]): Block {
  const heading = /^(#{1,6})\s+(.*)$/.exec(line)
  if (heading !== null) {
    lines.shift()
    return { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' }
  }
  if (line.startsWith('```')) return takeFence(lines)
  if (/^( {4}|\t)/.test(line)) {
    const text = takeWhile(lines, (each) => /^( {4}|\t)/.test(each)).map((each) => each.replace(/^( {4}|\t)/, ''))
    return { kind: 'code', text: text.join('\n') }
  }
  if (line.startsWith('|')) return readTable(takeWhile(lines, (each) => each.startsWith('|')))
  if (ITEM.test(line)) return { kind: 'list', items: takeItems(lines) }
  const text = takeWhile(lines, (each) => each.trim() !== '' && !/^(#{1,6}\s|```|\|)/.test(each))
  return { kind: 'text', text: (text.length > 0 ? text : lines.splice(0, 1)).join(' ') }
}

const ITEM = /^\s{0,3}(?:[-*+]|\d+[.)])\s+/

function takeWhile(lines: string[], fits: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !fits(line))
  return lines.splice(0, end < 0 ? lines.length : end)
}

function takeFence(lines: string[]): Block {
  lines.shift()
  const text = takeWhile(lines, (line) => !line.startsWith('```'))
  lines.shift()
  return { kind: 'code', text: text.join('\n') }
}

/** A line that is indented goes on with the item before it. */
function takeItems(lines: string[]): string[] {
  const items: string[] = []
  for (const line of takeWhile(lines, (each) => ITEM.test(each) || (/^\s+\S/.test(each) && each.trim() !== ''))) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  return items
}

function readTable(lines: readonly string[]): Block {
  const cells = (line: string) =>
    line
      .replace(/^\||\|\s*$/g, '')
      .split('|')
      .map((cell) => cell.trim())
  const [head = '', ...rest] = lines
  return { kind: 'table', head: cells(head), rows: rest.filter((line) => !/^\|[\s:|-]+$/.test(line)).map(cells) }
}

export interface Span {
  readonly kind: 'plain' | 'code' | 'bold'
  readonly text: string
}

/** Code and bold inside a line. Links keep their text and show where they lead. */
export function parseSpans(text: string): Span[] {
  const plain = text.replace(/!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)/g, (_match, label: string, target: string) =>
    target === '' || target === label ? label : `${label} (${target})`,
  )
  return plain
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (/^`.+`$/.test(part)) return { kind: 'code', text: part.slice(1, -1) }
      if (/^\*\*.+\*\*$/.test(part)) return { kind: 'bold', text: part.slice(2, -2) }
      return { kind: 'plain', text: part }
    })
}
