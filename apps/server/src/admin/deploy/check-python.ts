import { ConchError } from '@conch/protocol'
import { z } from 'zod'
import type { AdminContext } from '../context.ts'
import { listFolder } from '../model-files.ts'
import type { ConfigProblem } from '../model.schema.ts'
import { askSourceCheck } from '../python-program.ts'
import type { checkPythonSchema, PythonCheck } from './deploy.schema.ts'

const count = z.int().min(0)
const answerSchema = z.object({
  python: z.string(),
  problems: z.array(
    z.object({
      severity: z.enum(['error', 'warning']),
      message: z.string(),
      line: count,
      column: count,
      from: count,
      to: count,
    }),
  ),
})

/** What is wrong with a model's source, by the server's own Python; it is read, never run. */
export async function checkPython(
  { services }: AdminContext,
  input: z.infer<typeof checkPythonSchema>,
): Promise<PythonCheck> {
  const { code, inputs, outputs, requirements } = input
  const siblings = await listSiblings(services, input)
  const question = { source: code, inputs, outputs, siblings, packages: requirements.trim() !== '' }
  try {
    const { python, problems } = answerSchema.parse(await askSourceCheck(services.python, question))
    return { python, problems: problems.map((problem) => ({ ...problem, ...NO_MORE })), note: null }
  } catch (error) {
    // Without a Python nothing can be said about the source; saying so is better than an editor that does not work.
    if (!(error instanceof ConchError)) throw error
    return { python: null, problems: [], note: error.message }
  }
}

const NO_MORE: Pick<ConfigProblem, 'path' | 'expected' | 'fix'> = { path: '', expected: null, fix: null }

/** Modules that lie beside the source can be imported without being installed. */
async function listSiblings(
  { repositories }: AdminContext['services'],
  { model, basedOn }: z.infer<typeof checkPythonSchema>,
): Promise<readonly string[]> {
  if (model === undefined || basedOn === undefined) return []
  const folder = await repositories.find(model)
  if (folder === undefined) return []
  const files = await listFolder(folder.directory)
  const names = files.flatMap(({ path }) => {
    const [first = '', ...rest] = path.split('/')
    // The model's folder and the version's are both searched for modules.
    return first === basedOn && rest.length > 0 ? [rest[0] ?? ''] : [first]
  })
  return [...new Set(names.map((name) => name.replace(/\.py$/, '')))]
}
