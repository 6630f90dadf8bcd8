'use client'
import type { ConfigProblem } from '@conch/server/schemas'
import { CircleAlert, CircleCheck, Lightbulb, TriangleAlert, Wrench } from 'lucide-react'
import { Button } from '../button.tsx'
import { cn } from '../cn.ts'

const ICONS = { error: CircleAlert, warning: TriangleAlert, hint: Lightbulb }
const LOOKS = { error: 'text-bad', warning: 'text-warn', hint: 'text-accent' }

interface ProblemListProps {
  readonly problems: readonly ConfigProblem[]
  readonly onGo?: (problem: ConfigProblem) => void
  readonly onFix?: (problem: ConfigProblem) => void
  /** Said when there are none. */
  readonly fine: string
}

export function ProblemList({ problems, onGo, onFix, fine }: ProblemListProps) {
  if (problems.length === 0) {
    return (
      <p className="flex items-center gap-2 px-3 py-2 text-good" role="status">
        <CircleCheck className="size-4 shrink-0" aria-hidden /> {fine}
      </p>
    )
  }
  return (
    <ul className="divide-y" aria-label="Problems">
      {problems.map((problem, index) => (
        <ProblemItem
          key={`${problem.line}:${problem.path}:${index}`}
          problem={problem}
          {...(onGo && { onGo })}
          {...(onFix && { onFix })}
        />
      ))}
    </ul>
  )
}

type ItemProps = Pick<ProblemListProps, 'onGo' | 'onFix'> & { readonly problem: ConfigProblem }

function ProblemItem({ problem, onGo, onFix }: ItemProps) {
  const { severity, message, line, column, path, expected, fix } = problem
  const Icon = ICONS[severity]
  const place = [line > 0 ? `line ${line}:${column}` : '', path].filter(Boolean).join(' · ')
  return (
    <li className="flex items-start gap-2 px-3 py-2">
      <Icon className={cn('mt-0.5 size-4 shrink-0', LOOKS[severity])} aria-label={severity} />
      <div className="min-w-0 flex-1">
        <p className="break-words whitespace-pre-wrap">{message}</p>
        <p className="text-xs break-words text-mute">
          {line > 0 && onGo ? (
            <button type="button" className="rounded text-accent hover:underline" onClick={() => onGo(problem)}>
              {place}
            </button>
          ) : (
            place
          )}
          {expected !== null && ` · expected ${expected}`}
        </p>
      </div>
      {fix !== null && onFix && (
        <Button size="small" onClick={() => onFix(problem)}>
          <Wrench aria-hidden /> {fix.title}
        </Button>
      )}
    </li>
  )
}
