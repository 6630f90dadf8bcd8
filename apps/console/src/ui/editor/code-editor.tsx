'use client'
import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language'
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
import { colours } from './colours.ts'
import { theme } from './theme.ts'

export interface EditorHandle {
  /** Puts the cursor there and shows the place. */
  goTo(offset: number): void
}
export interface CodeEditorProps {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Undefined leaves the marks that are there where they are. */
  readonly problems: readonly ConfigProblem[] | undefined
  readonly label: string
  readonly readOnly?: boolean
  readonly onSave?: () => void
  readonly handle?: RefObject<EditorHandle | null>
}
interface Props extends CodeEditorProps {
  /** Colours, completion and what else a language brings; the same for the life of the editor. */
  readonly language: Extension
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
  bracketMatching(),
  indentOnInput(),
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...lintKeymap,
    ...foldKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
  colours,
  theme,
]

/** A text with live problems and one-click repairs. Esc then Tab leaves it. */
export function CodeEditor(props: Props) {
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const latest = useRef<Props>(props)
  useEffect(() => {
    latest.current = props
  })
  const { value, problems, label, readOnly = false, handle, language } = props
  const writable = useRef(new Compartment())

  useEffect(() => {
    if (box.current === null) return undefined
    const editor = createEditor(box.current, { latest, label, writable: writable.current, language })
    view.current = editor
    return () => editor.destroy()
  }, [label, language])

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
    if (editor === null || problems === undefined) return
    editor.dispatch(setDiagnostics(editor.state, toDiagnostics(problems, editor.state.doc.length)))
  }, [problems, value, label])

  useImperativeHandle(handle, () => ({ goTo: (offset) => view.current && goTo(view.current, offset) }), [])
  return <div ref={box} className="h-full min-h-0 overflow-hidden" />
}

interface EditorSetup {
  readonly latest: RefObject<Props>
  readonly label: string
  readonly writable: Compartment
  readonly language: Extension
}

function createEditor(parent: HTMLElement, { latest, label, writable, language }: EditorSetup): EditorView {
  const save = keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (latest.current.onSave?.(), true) }])
  const listen = EditorView.updateListener.of((update) => {
    if (update.docChanged) latest.current.onChange(update.state.doc.toString())
  })
  const names = EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' })
  const state = EditorState.create({
    doc: latest.current.value,
    extensions: [save, language, COMFORT, writable.of([]), listen, names],
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
