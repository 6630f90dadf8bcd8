'use client'
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { codeFolding, foldGutter, foldKeymap } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { ConfigProblem } from '@conch/server/schemas'
import { useEffect, useImperativeHandle, useRef, type RefObject } from 'react'
import { completePbtxt, pbtxt } from './language.ts'
import { theme } from './theme.ts'

export interface EditorHandle {
  /** Puts the cursor there and shows the place. */
  goTo(offset: number): void
}
export interface PbtxtEditorProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly problems: readonly ConfigProblem[]
  readonly label: string
  readonly readOnly?: boolean
  readonly onSave?: () => void
  readonly handle?: RefObject<EditorHandle | null>
}

const COMFORT: Extension = [
  lineNumbers(),
  foldGutter(),
  codeFolding(),
  lintGutter(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  closeBrackets(),
  autocompletion({ override: [completePbtxt] }),
  EditorView.lineWrapping,
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...lintKeymap,
    ...foldKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
  pbtxt,
  theme,
]

/** config.pbtxt with live problems, completion, documentation on hover and one-click repairs. Esc then Tab leaves it. */
export function PbtxtEditor(props: PbtxtEditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  const { value, problems, label, readOnly = false, handle } = props
  const writable = useRef(new Compartment())

  useEffect(() => {
    if (box.current === null) return undefined
    const editor = createEditor(box.current, { latest, label, writable: writable.current })
    view.current = editor
    return () => editor.destroy()
  }, [label])

  useEffect(() => {
    const editor = view.current
    if (editor === null || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value, label])

  useEffect(() => {
    view.current?.dispatch({ effects: writable.current.reconfigure(EditorState.readOnly.of(readOnly)) })
  }, [readOnly, label])

  useEffect(() => {
    const editor = view.current
    if (editor !== null) editor.dispatch(setDiagnostics(editor.state, toDiagnostics(problems, editor.state.doc.length)))
  }, [problems, value, label])

  useImperativeHandle(handle, () => ({ goTo: (offset) => view.current && goTo(view.current, offset) }), [])
  return <div ref={box} className="h-full min-h-0 overflow-hidden" />
}

interface EditorSetup {
  readonly latest: RefObject<PbtxtEditorProps>
  readonly label: string
  readonly writable: Compartment
}

function createEditor(parent: HTMLElement, { latest, label, writable }: EditorSetup): EditorView {
  const save = keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (latest.current.onSave?.(), true) }])
  const listen = EditorView.updateListener.of((update) => {
    if (update.docChanged) latest.current.onChange(update.state.doc.toString())
  })
  const names = EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' })
  const state = EditorState.create({
    doc: latest.current.value,
    extensions: [save, COMFORT, writable.of([]), listen, names],
  })
  return new EditorView({ parent, state })
}

function goTo(view: EditorView, offset: number): void {
  const anchor = Math.min(offset, view.state.doc.length)
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
  view.focus()
}

function toDiagnostics(problems: readonly ConfigProblem[], length: number): Diagnostic[] {
  return problems
    .filter((problem) => problem.line > 0)
    .map(({ from, to, severity, message, fix }) => {
      const start = Math.min(from, length)
      const end = Math.min(Math.max(to, start), length)
      const apply = (view: EditorView) => view.dispatch({ changes: [...(fix?.edits ?? [])] })
      return {
        from: start,
        to: end,
        severity,
        message,
        ...(fix === null ? {} : { actions: [{ name: fix.title, apply }] }),
      }
    })
    .sort((a, b) => a.from - b.from)
}
