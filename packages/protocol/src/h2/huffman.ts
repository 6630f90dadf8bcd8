/**
 * Lengths of the codes of bytes 0 … 255 and of the end mark, as letters: A = 5 bits … Z = 30 (RFC 7541, appendix B). The code is canonical:
 * lengths alone define it, shorter codes first, equal ones in the order of the bytes.
 */
const LENGTHS =
  'ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHFIBCCCCCCCCCCCCCCCCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABCCCCCKGJI' +
  'XPRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRSVVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVSVWVVWWWWWXWWWWWVZ'

const END_MARK = 256
/** Two children a node; a leaf is -1 - symbol, 0 = none yet. */
const TREE = buildTree()

function buildTree(): Int16Array {
  const symbols = Array.from(LENGTHS, (letter, symbol) => ({ symbol, length: letter.charCodeAt(0) - 60 }))
  symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  const tree = new Int16Array(1024)
  let nodes = 1
  let code = 0
  let previous = 0
  for (const { symbol, length } of symbols) {
    code <<= length - previous
    previous = length
    let node = 0
    for (let bit = length - 1; bit > 0; bit -= 1) {
      const child = node * 2 + ((code >>> bit) & 1)
      if (tree[child] === 0) {
        tree[child] = nodes
        nodes += 1
      }
      node = tree[child] ?? 0
    }
    tree[node * 2 + (code & 1)] = -1 - symbol
    code += 1
  }
  return tree
}

/** Decodes a text, one byte a letter. Undefined for what no encoder writes: an end mark, or padding that is not the end mark's first bits. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = ''
  let node = 0
  // Bits since the last letter, and whether all of them were 1.
  let pending = 0
  let ones = true
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    for (let bit = 7; bit >= 0; bit -= 1) {
      const value = (byte >>> bit) & 1
      const next = TREE[node * 2 + value] ?? 0
      pending += 1
      if (value === 0) ones = false
      if (next >= 0) {
        node = next
        continue
      }
      const symbol = -1 - next
      if (symbol === END_MARK) return undefined
      text += String.fromCharCode(symbol)
      node = 0
      pending = 0
      ones = true
    }
  }
  return pending < 8 && ones ? text : undefined
}
