'use client'
import { useEffect, useRef, useState } from 'react'
import { useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { remember, type Entry } from './history.ts'
import { joinAnswers, stopHere, type StreamAnswer, type StreamEnd } from './stream.ts'

export interface Streaming {
  /** Null while nothing runs. */
  readonly arriving: readonly StreamAnswer[] | null
  readonly failure: string | null
  start(body: string): void
  /** Ends the run; what has come so far is its answer. */
  stop(): void
  clear(): void
}
interface Run {
  readonly body: string
  readonly began: number
  readonly answers: StreamAnswer[]
  unsubscribe(): void
}

/** Runs of a model that answers bit by bit. */
export function useStream(asked: { model: string; version: string }, onEnd: (entry: Entry) => void): Streaming {
  const client = useTRPCClient()
  const [arriving, setArriving] = useState<readonly StreamAnswer[] | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const run = useRef<Run>(null)
  useEffect(() => () => run.current?.unsubscribe(), [])

  const close = (): Run | null => {
    const closed = run.current
    run.current = null
    closed?.unsubscribe()
    setArriving(null)
    return closed
  }
  const keep = ({ body, began, answers }: Run, result: Entry['result'], more: Pick<Entry, 'total' | 'stopped'>) =>
    onEnd(remember({ at: Date.now(), ...asked, body, result, answers, ...more, clientMs: performance.now() - began }))
  const finish = (end: StreamEnd) => {
    const closed = close()
    if (closed !== null) keep(closed, joinAnswers(closed.answers, end), { total: end.answers })
  }
  const fail = (message: string) => {
    close()
    setFailure(message)
  }
  const start = (body: string) => {
    const own: Run = { body, began: performance.now(), answers: [], unsubscribe: () => undefined }
    const { model, version } = asked
    const input = { model, request: body, ...(version === '' ? {} : { version }) }
    let connected = false
    run.current = own
    setFailure(null)
    setArriving([])
    const subscription = client.playground.stream.subscribe(input, {
      onStarted: () => (connected = true),
      onData: (event) => {
        if (run.current !== own) return
        if (event.kind === 'end') return finish(event)
        own.answers.push(event)
        setArriving([...own.answers])
      },
      onError: (error) => run.current === own && fail(readFailure(error).message),
      // When the connection comes back, the socket would ask again: a model must not run twice for one click.
      onConnectionStateChange: ({ state }) =>
        connected &&
        state === 'connecting' &&
        run.current === own &&
        fail('The connection was lost while it answered.'),
    })
    own.unsubscribe = () => subscription.unsubscribe()
  }
  const stop = () => {
    const closed = close()
    if (closed !== null) keep(closed, stopHere(closed.answers), { total: closed.answers.length, stopped: true })
  }
  return { arriving, failure, start, stop, clear: () => setFailure(null) }
}
