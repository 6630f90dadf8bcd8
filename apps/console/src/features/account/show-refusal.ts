import type { FieldValues, Path, UseFormSetError } from 'react-hook-form'
import { readFailure } from '../../api/failure.ts'

/** Puts the server's complaints at their fields; what belongs to no field goes to the whole form. */
export function showRefusal<T extends FieldValues>(error: unknown, setError: UseFormSetError<T>): void {
  const failure = readFailure(error)
  const fields = Object.entries(failure.fields).filter(([name]) => name !== '')
  for (const [name, message] of fields) setError(name as Path<T>, { message })
  if (fields.length === 0) setError('root', { message: failure.message })
}
