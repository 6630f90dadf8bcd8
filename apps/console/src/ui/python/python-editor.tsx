'use client'
import { autocompletion } from '@codemirror/autocomplete'
import { python } from '@codemirror/lang-python'
import { indentUnit } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { CodeEditor, type CodeEditorProps } from '../editor/code-editor.tsx'

const language: Extension = [python(), indentUnit.of('    '), autocompletion()]

export function PythonEditor(props: CodeEditorProps) {
  return <CodeEditor {...props} language={language} />
}
