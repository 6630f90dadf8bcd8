import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { foldService, StreamLanguage, type StreamParser } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView, hoverTooltip } from '@codemirror/view'
import { completionsAt, describeField, parsePbtxt } from '@conch/protocol'
import { fieldAt } from './field-at.ts'

interface PbtxtState {
  depth: number
}

/** Colours only; what is right and wrong is said by the parser that the server uses too. */
const parser: StreamParser<PbtxtState> = {
  name: 'pbtxt',
  startState: () => ({ depth: 0 }),
  token(stream, state) {
    if (stream.eatSpace()) return null
    if (stream.match(/^#.*/)) return 'comment'
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string'
    if (stream.match(/^-?(?:0x[0-9a-f]+|\d[\d.]*(?:e[-+]?\d+)?f?)/i)) return 'number'
    if (stream.match(/^[{[<]/)) return shift(state, 1)
    if (stream.match(/^[}\]>]/)) return shift(state, -1)
    if (stream.match(/^(?:true|false)\b/)) return 'bool'
    if (stream.match(/^[A-Z][A-Z0-9_]+\b/)) return 'atom'
    if (stream.match(/^[A-Za-z_][\w.]*/)) return 'propertyName'
    stream.next()
    return 'punctuation'
  },
  indent(state, textAfter, context) {
    const closing = /^\s*[}\]>]/.test(textAfter) ? 1 : 0
    return Math.max(0, state.depth - closing) * context.unit
  },
  languageData: {
    commentTokens: { line: '#' },
    closeBrackets: { brackets: ['{', '[', '"'] },
    indentOnInput: /^\s*[}\]>]$/,
  },
}

function shift(state: PbtxtState, by: number): string {
  state.depth = Math.max(0, state.depth + by)
  return 'bracket'
}

/** A block folds from its opening bracket to the line of the closing one. */
const folding = foldService.of((state, lineStart, lineEnd) => {
  const text = state.doc.sliceString(lineStart, lineEnd)
  const open = Math.max(text.lastIndexOf('{'), text.lastIndexOf('['))
  if (open < 0 || /[}\]]/.test(text.slice(open))) return null
  let depth = 0
  for (let at = lineStart + open; at < state.doc.length; at += 1) {
    const char = state.doc.sliceString(at, at + 1)
    if (char === '{' || char === '[') depth += 1
    if ((char === '}' || char === ']') && --depth === 0)
      return at > lineEnd ? { from: lineStart + open + 1, to: at } : null
  }
  return null
})

/** Fields and values that fit at the cursor, from the schema. */
function completePbtxt(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/[\w]+/)
  if (before === null && !context.explicit) return null
  const found = completionsAt(context.state.doc.toString(), context.pos)
  const first = found[0]
  if (first === undefined) return null
  return {
    from: first.from,
    to: first.to,
    validFor: /^\w*$/,
    options: found.map(({ label, detail, doc, insert }) => ({
      label,
      detail,
      info: doc,
      type: insert === label ? 'constant' : 'property',
      apply: (view, _completion, ...[from, to]) => {
        // The cursor goes into the empty brackets or quotes that were written.
        const hole = insert.search(/(?<=\{ ) \}|(?<=\[ ) \]|(?<=")"/)
        view.dispatch({
          changes: { from, to, insert },
          selection: { anchor: from + (hole < 0 ? insert.length : hole) },
        })
      },
    })),
  }
}

const hoverDocs = hoverTooltip((view, offset) => {
  const at = fieldAt(parsePbtxt(view.state.doc.toString()).tree, offset)
  const field = at === undefined ? undefined : describeField(at.path)
  if (at === undefined || field === undefined) return null
  return {
    pos: at.from,
    end: at.to,
    above: true,
    create: () => {
      const dom = document.createElement('div')
      dom.className = 'cm-field-docs'
      const head = dom.appendChild(document.createElement('code'))
      head.textContent = field.declaration
      dom.appendChild(document.createElement('p')).textContent = field.doc
      const facts = [
        field.defaultValue === '' ? '' : `Default: ${field.defaultValue}`,
        field.excludes.length === 0 ? '' : `Not together with ${field.excludes.join(', ')}`,
        field.values.length === 0 ? '' : field.values.map((value) => value.name).join(' · '),
      ].filter(Boolean)
      for (const fact of facts) dom.appendChild(document.createElement('p')).textContent = fact
      return { dom }
    },
  }
})

export const pbtxt: Extension = [
  StreamLanguage.define(parser),
  folding,
  EditorView.lineWrapping,
  autocompletion({ override: [completePbtxt] }),
  hoverDocs,
]
