import type { ModelConfig, ModelInput, ModelOutput } from '@conch/protocol'

/** What the original complains about, in its words and order (other backends §4). */
export function checkIdentityConfig(config: ModelConfig): readonly string[] {
  const { input, output } = config
  const problems: string[] = []
  for (const { name } of input) {
    if (!/^INPUT\d+$/.test(name)) problems.push(`expected input name to follow INPUT<index> pattern, got '${name}'`)
  }
  for (const { name } of output) {
    if (!/^OUTPUT\d+$/.test(name)) problems.push(`expected output name to follow OUTPUT<index> pattern, got '${name}'`)
  }
  if (problems.length > 0) return problems
  if (input.length !== output.length) return ['model configuration must have equal input/output pairs']
  return output.flatMap((one) => checkPair(one, input))
}

function checkPair(output: ModelOutput, inputs: readonly ModelInput[]): readonly string[] {
  const input = inputs.find(({ name }) => name.slice('INPUT'.length) === output.name.slice('OUTPUT'.length))
  if (input === undefined) return ['expected input and output indices to match']
  const problems: string[] = []
  if (input.data_type !== output.data_type) {
    const types = `${input.data_type} and ${output.data_type}`
    problems.push(`expected input and output datatype to match, got ${types}`)
  }
  const [from, to] = [input.dims.join(','), output.dims.join(',')]
  if (from !== to) problems.push(`expected input and output shape to match, got [${from}] and [${to}]`)
  return problems
}
