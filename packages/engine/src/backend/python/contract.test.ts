import { toConfigDatatype } from '@conch/protocol'
import { afterAll, describe } from 'vitest'
import { describeBackend } from '../contract.suite.ts'
import { createPythonBackend } from './backend.ts'
import { closePythonModels, ECHO, makePythonModel, NO_PYTHON, PYTHON } from './models.suite.ts'

afterAll(closePythonModels)

describe.skipIf(PYTHON === undefined)(`with ${PYTHON ?? NO_PYTHON}`, () => {
  describeBackend({
    name: 'python',
    create: createPythonBackend,
    echo: async (datatype) => {
      const { config, context } = await makePythonModel({ code: ECHO, datatype: toConfigDatatype(datatype) })
      return { config, context, input: 'IN', output: 'OUT' }
    },
  })
})
