import type { Datatype } from '@conch/protocol'
import type { PythonSignature, PythonTensor } from './python-form.ts'

const NUMPY: Readonly<Record<Datatype, string>> = {
  BOOL: 'np.bool_',
  UINT8: 'np.uint8',
  UINT16: 'np.uint16',
  UINT32: 'np.uint32',
  UINT64: 'np.uint64',
  INT8: 'np.int8',
  INT16: 'np.int16',
  INT32: 'np.int32',
  INT64: 'np.int64',
  FP16: 'np.float16',
  FP32: 'np.float32',
  FP64: 'np.float64',
  BF16: 'np.float32',
  BYTES: 'np.object_',
}

/** A model.py that loads and answers as it is: each output is a copy of an input that fits, or zeros. */
export function writePythonTemplate(signature: PythonSignature): string {
  const named = nameAll(signature)
  return [
    'import numpy as np',
    'import triton_python_backend_utils as pb_utils',
    '',
    '',
    'class TritonPythonModel:',
    '    def initialize(self, args):',
    '        """Runs once for each instance: load weights and tables here."""',
    '        # Texts: model_name, model_version, model_repository, model_config (JSON) …',
    '        self.name = args["model_name"]',
    '',
    '    def execute(self, requests):',
    ...(signature.decoupled ? writeDecoupled(named) : writeOneAnswer(named)),
    '',
    '    def finalize(self):',
    '        """Runs when the model is unloaded."""',
    '',
  ].join('\n')
}

interface Named {
  readonly inputs: readonly Variable[]
  readonly outputs: readonly Variable[]
  readonly batched: boolean
}
interface Variable extends PythonTensor {
  /** A name that Python takes and that is nobody else's. */
  readonly variable: string
}

function writeOneAnswer(named: Named): readonly string[] {
  return [
    '        """Takes some requests and returns one response for each, in their order."""',
    '        responses = []',
    '        for request in requests:',
    ...named.inputs.flatMap(readInput),
    '',
    '            # Your work goes here; every tensor is a numpy array.',
    ...named.outputs.map((output) => makeOutput(output, named, 12)),
    '',
    ...respond(named, { before: 'responses.append(', after: ')', indent: 12 }),
    '        return responses',
  ]
}

function writeDecoupled(named: Named): readonly string[] {
  return [
    '        """Answers each request any number of times; returns nothing."""',
    '        for request in requests:',
    '            sender = request.get_response_sender()',
    ...named.inputs.flatMap(readInput),
    '',
    '            for step in range(3):',
    '                if sender.is_cancelled():',
    '                    break',
    '                # Your work goes here; every tensor is a numpy array.',
    ...named.outputs.map((output) => makeOutput(output, named, 16)),
    ...respond(named, { before: 'sender.send(', after: ')', indent: 16 }),
    '            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)',
    '        return None',
  ]
}

function readInput({ name, variable, optional }: Variable): readonly string[] {
  const tensor = `pb_utils.get_input_tensor_by_name(request, ${quote(name)})`
  if (!optional) return [`            ${variable} = ${tensor}.as_numpy()`]
  return [
    `            ${variable} = ${tensor}`,
    `            ${variable} = None if ${variable} is None else ${variable}.as_numpy()`,
  ]
}

function makeOutput(output: Variable, { inputs, batched }: Named, indent: number): string {
  const { variable, datatype, dims } = output
  const source = inputs.find((input) => !input.optional && input.datatype === datatype && fits(input.dims, dims))
  const first = inputs.find((input) => !input.optional)
  const rows = batched ? [first === undefined ? '1' : `len(${first.variable})`] : []
  const shape = [...rows, ...dims.map((dim) => (dim < 0 ? '1' : String(dim)))]
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const made =
    source !== undefined
      ? `${source.variable}.copy()`
      : datatype === 'BYTES'
        ? `np.full(${tuple}, b"", dtype=np.object_)`
        : `np.zeros(${tuple}, dtype=${NUMPY[datatype]})`
  return `${' '.repeat(indent)}${variable} = ${made}`
}

/** An input of these dims can be given back as an output of those. */
function fits(from: readonly number[], to: readonly number[]): boolean {
  return from.length === to.length && to.every((dim, index) => dim === -1 || dim === from[index])
}

interface Place {
  readonly before: string
  readonly after: string
  readonly indent: number
}

function respond({ outputs }: Named, { before, after, indent }: Place): readonly string[] {
  const blank = ' '.repeat(indent)
  return [
    `${blank}tensors = [`,
    ...outputs.map(({ name, variable }) => `${blank}    pb_utils.Tensor(${quote(name)}, ${variable}),`),
    `${blank}]`,
    `${blank}${before}pb_utils.InferenceResponse(output_tensors=tensors)${after}`,
  ]
}

function quote(name: string): string {
  return JSON.stringify(name)
}

/** Names of Python, of its builtins that would be missed, and of the template itself. */
const TAKEN = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is ' +
    'lambda nonlocal not or pass raise return try while with yield match len range bytes str int float list dict set type ' +
    'np pb_utils self args request requests response responses sender step tensors'
  ).split(' '),
)

function nameAll({ inputs, outputs, maxBatchSize }: PythonSignature): Named {
  const used = new Set(TAKEN)
  const name = (tensor: PythonTensor): Variable => {
    const plain = toIdentifier(tensor.name)
    let variable = used.has(plain) ? `${plain}_` : plain
    for (let number = 2; used.has(variable); number += 1) variable = `${plain}_${number}`
    used.add(variable)
    return { ...tensor, variable }
  }
  return { inputs: inputs.map(name), outputs: outputs.map(name), batched: maxBatchSize > 0 }
}

function toIdentifier(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
  return plain === '' ? 'tensor' : /^\d/.test(plain) ? `t${plain}` : plain
}
