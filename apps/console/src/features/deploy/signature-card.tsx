import type { Inspection, Signature, SignatureTensor } from '@conch/server/schemas'
import { Badge, Card, CardHead } from '../../ui/card.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { Notice } from '../../ui/message.tsx'

const KINDS: Readonly<Record<Inspection['kind'], string>> = { onnx: 'ONNX file', folder: 'Folder', zip: 'Zip archive' }

export function SignatureCard({ inspection }: { inspection: Inspection }) {
  const { signature, kind } = inspection
  return (
    <Card>
      <CardHead title="Signature" note={KINDS[kind]} />
      {signature === null ? (
        <Notice
          tone={kind === 'onnx' ? 'bad' : 'info'}
          className="m-3"
          title={kind === 'onnx' ? 'This file cannot be read as ONNX' : 'The files do not tell it'}
        >
          {kind === 'onnx'
            ? 'Was it exported and copied completely? The checks say where it breaks off.'
            : 'Only ONNX files carry their inputs and outputs. For other models the config has to name them.'}
        </Notice>
      ) : (
        <>
          <Facts signature={signature} />
          <Tensors title="Inputs" rows={signature.inputs} />
          <Tensors title="Outputs" rows={signature.outputs} />
        </>
      )}
    </Card>
  )
}

function Facts({ signature }: { signature: Signature }) {
  const named = signature.opsets.map(({ domain, version }) =>
    domain === '' || domain === 'ai.onnx' ? `${version}` : `${domain} ${version}`,
  )
  const opsets = [...new Set(named)].join(', ')
  const facts = [
    ['Size', formatBytes(signature.size)],
    [
      'Parameters',
      signature.parameters === null || signature.parameters === 0 ? '–' : formatCount(signature.parameters),
    ],
    ['Opset', opsets],
    ['IR version', String(signature.irVersion)],
    ['Made by', signature.producer || 'unknown'],
  ] as const
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2 px-3 py-2">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-mute">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Tensors({ title, rows }: { title: string; rows: readonly SignatureTensor[] }) {
  return (
    <div className="border-t">
      <h3 className="px-3 pt-2 text-xs font-medium text-mute">{title}</h3>
      <ul className="divide-y">
        {rows.map((row) => (
          <li key={row.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
            <span className="min-w-0 flex-1 font-mono text-xs break-all">{row.name}</span>
            <Badge>{row.datatype}</Badge>
            <span className="font-mono text-xs text-soft">
              [{row.dims.map((dim) => (dim === '?' || dim === '-1' ? 'any' : dim)).join(', ')}]
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
