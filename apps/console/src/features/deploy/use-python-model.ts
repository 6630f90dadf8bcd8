'use client'
import { useState } from 'react'
import { mergeLines } from './merge-lines.ts'
import { writePythonConfig } from './python-config.ts'
import { checkForm, FIRST_FORM, readSignature, type FormProblem, type PythonForm } from './python-form.ts'
import { writePythonTemplate } from './python-template.ts'

export interface PythonModel {
  readonly form: PythonForm
  setForm(form: PythonForm): void
  readonly problems: readonly FormProblem[]
  /** Of the last form that had no problems. */
  readonly configText: string
  readonly code: string
  /** A person has changed the template. */
  readonly edited: boolean
  setCode(code: string): void
  /** The form has changed since the code was edited. */
  readonly outdated: boolean
  /** Puts the new signature into the edited code; answers how many places both have changed. */
  takeSignature(): number
  /** Back to the template. */
  reset(): void
}

/** Code that a person has touched, and the template that it began with. */
interface Own {
  readonly code: string
  readonly base: string
}

/** A form and the source that goes with it: the source follows the form until somebody edits it. */
export function usePythonModel(): PythonModel {
  const [form, setForm] = useState(FIRST_FORM)
  const [good, setGood] = useState(() => readSignature(FIRST_FORM))
  const [own, setOwn] = useState<Own | null>(null)
  const template = good === null ? '' : writePythonTemplate(good)
  const keep = (code: string, base: string) => setOwn(code === template ? null : { code, base })
  return {
    form,
    setForm: (next) => {
      setForm(next)
      setGood((now) => readSignature(next) ?? now)
    },
    problems: checkForm(form),
    configText: good === null ? '' : writePythonConfig(good),
    code: own?.code ?? template,
    edited: own !== null,
    setCode: (code) => keep(code, own?.base ?? template),
    outdated: own !== null && own.base !== template,
    takeSignature: () => {
      if (own === null) return 0
      const { text, conflicts } = mergeLines(own.base, own.code, template)
      keep(text, template)
      return conflicts
    },
    reset: () => setOwn(null),
  }
}
