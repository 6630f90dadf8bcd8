import { ConchError, toConfigDatatype } from '@conch/protocol'
import type { ModelConfig, SequenceControl } from '@conch/protocol'
import { nameElementType } from './element-type.ts'
import type { ModelValue, Signature } from './signature.ts'

/** Inputs that the sequence batcher feeds. */
export function listControlNames(config: ModelConfig): readonly string[] {
  const controls = config.sequence_batching?.control_input ?? []
  return controls.filter(({ control }) => control.length > 0).map(({ name }) => name)
}

/** Whether the model has the control inputs that the config names, in type and shape (ONNX backend §3). */
export function checkControls(config: ModelConfig, signature: Signature): void {
  for (const { name, control } of config.sequence_batching?.control_input ?? []) {
    for (const one of control) checkControl(config, { name, control: one }, signature)
  }
}

function checkControl(
  config: ModelConfig,
  { name, control }: { readonly name: string; readonly control: SequenceControl },
  { inputs }: Signature,
): void {
  const value = inputs.find((input) => input.name === name)
  if (value === undefined) {
    const text = `configuration specified sequence control '${name}', but model does not provide that input`
    throw new ConchError('INTERNAL', text)
  }
  const about = `unable to load model '${config.name}', sequence control '${name}'`
  const expected = config.max_batch_size > 0 ? [-1, 1] : [1]
  const dims = value.dims ?? expected
  if (dims.length !== expected.length || !dims.every((dim, i) => dim === expected[i])) {
    const text = `${about} in model has dims [${dims.join(',')}] but dims [${expected.join(',')}] is expected`
    throw new ConchError('INVALID_ARG', text)
  }
  checkControlType(about, control, value)
}

function checkControlType(about: string, control: SequenceControl, value: ModelValue): void {
  const type = chooseControlType(control)
  if (value.datatype !== undefined && toConfigDatatype(value.datatype) === type) return
  const own = nameElementType(value.elementType)
  const text = `the model expects data-type ${own} but the model configuration specifies data-type ${type}`
  throw new ConchError('INVALID_ARG', `${about}, ${text}`)
}

function chooseControlType(control: SequenceControl): string {
  if (control.int32_false_true.length > 0) return 'TYPE_INT32'
  if (control.fp32_false_true.length > 0) return 'TYPE_FP32'
  return control.bool_false_true.length > 0 ? 'TYPE_BOOL' : control.data_type
}
