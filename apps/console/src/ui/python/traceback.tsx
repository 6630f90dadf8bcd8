import type { PythonFailure, PythonFrame } from '@conch/server/schemas'
import { cn } from '../cn.ts'

/** An exception of a model: what, where, and the lines around the place. */
export function Traceback({ failure }: { failure: PythonFailure }) {
  const [first, ...rest] = sortFrames(failure.frames)
  return (
    <div className="space-y-2">
      <p className="font-mono text-xs break-words whitespace-pre-wrap text-ink">{failure.message}</p>
      {first !== undefined && <Place frame={first} />}
      {rest.length > 0 && (
        <details>
          <summary className="rounded text-xs text-soft">
            {rest.length === 1 ? 'One more frame' : `${rest.length} more frames`}
          </summary>
          <div className="mt-2 space-y-2">
            {rest.map((frame, index) => (
              <Place key={`${frame.file}:${frame.line}:${index}`} frame={frame} />
            ))}
          </div>
        </details>
      )}
    </div>
  )
}

/** The model's own code first: what a library did with it comes after. */
function sortFrames(frames: readonly PythonFrame[]): readonly PythonFrame[] {
  const own = frames.findIndex(({ excerpt }) => excerpt !== null)
  const chosen = frames[own]
  return chosen === undefined ? frames : [chosen, ...frames.filter((frame) => frame !== chosen)]
}

function Place({ frame }: { frame: PythonFrame }) {
  const { file, line, function: name, excerpt } = frame
  return (
    <div data-testid="frame">
      <p className="font-mono text-xs break-words text-soft">
        {file}, line {line}
        {name !== '' && name !== '<module>' && `, in ${name}`}
      </p>
      {excerpt !== null && (
        <pre
          tabIndex={0}
          aria-label={`${file} at line ${line}`}
          className="mt-1 overflow-x-auto rounded-md border bg-panel py-1 font-mono text-xs text-ink"
        >
          {excerpt.lines.map((text, index) => (
            <span
              key={index}
              className={cn('block w-max min-w-full px-2', excerpt.first + index === line && 'bg-bad-wash text-bad')}
            >
              <span aria-hidden className="mr-3 inline-block w-8 text-right text-mute select-none">
                {excerpt.first + index}
              </span>
              {text === '' ? ' ' : text}
            </span>
          ))}
        </pre>
      )}
    </div>
  )
}
