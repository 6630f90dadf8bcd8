'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { remember, type Entry } from './history.ts'
import { canStream } from './stream.ts'
import { useStream, type Streaming } from './use-stream.ts'

export interface Sender {
  readonly sending: boolean
  /** The answers of a run that is still going on; null for models that answer once. */
  readonly arriving: Streaming['arriving']
  readonly answer: Entry | null
  show(entry: Entry): void
  /** Nothing came back: the request was refused before it reached the model, or the server is gone. */
  readonly failure: string | null
  send(body: string): void
  cancel(): void
}

/** Sends requests: one at a time, to be cancelled at any time, answered once or bit by bit. */
export function useSender(model: ModelDetails, version: string): Sender {
  const client = useTRPCClient()
  const [answer, setAnswer] = useState<Entry | null>(null)
  const stopper = useRef<AbortController>(undefined)
  const asked = { model: model.name, version }
  const stream = useStream(asked, setAnswer)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (body: string) => {
      stopper.current = new AbortController()
      const began = performance.now()
      const input = { model: model.name, request: body, ...(version === '' ? {} : { version }) }
      const result = await client.playground.infer.mutate(input, { signal: stopper.current.signal })
      return remember({ at: Date.now(), ...asked, body, result, clientMs: performance.now() - began })
    },
    onSuccess: setAnswer,
  })
  useEffect(() => () => stopper.current?.abort(), [])
  const cancelled = stopper.current?.signal.aborted === true
  const sending = isPending || stream.arriving !== null
  return {
    answer,
    show: setAnswer,
    sending,
    arriving: stream.arriving,
    failure:
      stream.failure ??
      (error === null ? null : cancelled ? 'Cancelled. The server stops working on it.' : readFailure(error).message),
    send: (body) => {
      if (sending) return
      stream.clear()
      if (canStream(model.config, body)) {
        reset()
        stream.start(body)
      } else mutate(body)
    },
    cancel: () => {
      if (stream.arriving !== null) return stream.stop()
      stopper.current?.abort()
      reset()
    },
  }
}
