'use client'
import { CodeEditor, type CodeEditorProps } from '../editor/code-editor.tsx'
import { pbtxt } from './language.ts'

/** config.pbtxt with completion, and documentation on hover. */
export function PbtxtEditor(props: CodeEditorProps) {
  return <CodeEditor {...props} language={pbtxt} />
}
