import { toConfigDatatype } from '@conch/protocol'
import type { Datatype } from '@conch/protocol'
import { configOf, contextOf, describeBackend } from './contract.suite.ts'
import { createIdentityBackend } from './identity/backend.ts'
import { createOnnxBackend } from './onnx/backend.ts'

/** The fixture's names of the element types. */
const ONNX_NAMES: Readonly<Record<Datatype, string>> = {
  BOOL: 'BOOL',
  UINT8: 'UINT8',
  UINT16: 'UINT16',
  UINT32: 'UINT32',
  UINT64: 'UINT64',
  INT8: 'INT8',
  INT16: 'INT16',
  INT32: 'INT32',
  INT64: 'INT64',
  FP16: 'FLOAT16',
  FP32: 'FLOAT',
  FP64: 'DOUBLE',
  BF16: 'BFLOAT16',
  BYTES: 'STRING',
}

describeBackend({
  name: 'identity',
  create: createIdentityBackend,
  echo: async (datatype) => {
    const type = toConfigDatatype(datatype)
    const config = await configOf(
      'identity',
      `backend: "identity" max_batch_size: 8
       input { name: "INPUT0" data_type: ${type} dims: [ -1 ] }
       output { name: "OUTPUT0" data_type: ${type} dims: [ -1 ] }`,
    )
    return { config, context: contextOf('identity'), input: 'INPUT0', output: 'OUTPUT0' }
  },
})

describeBackend({
  name: 'onnxruntime',
  create: createOnnxBackend,
  echo: async (datatype) => {
    const model = `echo_${ONNX_NAMES[datatype].toLowerCase()}`
    return { config: await configOf(model), context: contextOf(model), input: 'IN', output: 'OUT' }
  },
})
