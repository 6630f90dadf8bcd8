import { Card, CardHead } from '../../ui/card.tsx'
import { parseMarkdown, parseSpans, type Block } from './markdown.ts'

export function ReadmeCard({ text }: { text: string }) {
  return (
    <Card>
      <CardHead title="README" />
      <div className="space-y-2.5 px-3 py-2.5 text-soft">
        {parseMarkdown(text).map((block, index) => (
          <BlockView key={index} block={block} />
        ))}
      </div>
    </Card>
  )
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return (
        <h3 className={block.level === 1 ? 'text-[15px] font-semibold text-ink' : 'font-semibold text-ink'}>
          {block.text}
        </h3>
      )
    case 'text':
      return (
        <p className="break-words">
          <Spans text={block.text} />
        </p>
      )
    case 'code':
      return (
        <pre tabIndex={0} className="overflow-x-auto rounded-md bg-hover px-2.5 py-2 font-mono text-xs text-ink">
          {block.text}
        </pre>
      )
    case 'list':
      return (
        <ul className="list-disc space-y-0.5 pl-5">
          {block.items.map((item, index) => (
            <li key={index}>
              <Spans text={item} />
            </li>
          ))}
        </ul>
      )
    case 'table':
      return <TableView head={block.head} rows={block.rows} />
  }
}

function Spans({ text }: { text: string }) {
  return parseSpans(text).map((span, index) => {
    if (span.kind === 'plain') return span.text
    return span.kind === 'bold' ? (
      <b key={index} className="font-semibold text-ink">
        {span.text}
      </b>
    ) : (
      <code key={index} className="rounded bg-hover px-1 font-mono text-xs text-ink">
        {span.text}
      </code>
    )
  })
}

function TableView({ head, rows }: { head: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="group" aria-label="Table of the README">
      <table className="text-left [&_td]:py-1 [&_td]:pr-4 [&_th]:pr-4 [&_th]:font-medium [&_tr]:border-b">
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {cell === '' ? <span className="sr-only">Kind</span> : <Spans text={cell} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>
                  <Spans text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
