import { ConchError } from '@conch/protocol'
import { checkStatus, ORT_LOG, receive, receiveLater, takeError } from './env.ts'
import type { Env } from './env.ts'
import type { Pointer } from './library.ts'
import { readSignature } from './read-signature.ts'
import { withSessionOptions } from './session-options.ts'
import type { SessionPlan } from './session-plan.ts'
import type { Signature } from './signature.ts'

/** The arguments of a run. Names, values and what they point to must stay alive and unchanged until it is over. */
export interface RunArguments {
  readonly inputNames: Pointer
  /** Array of OrtValues. */
  readonly inputs: Pointer
  readonly inputCount: number
  readonly outputNames: Pointer
  /** Array of OrtValues to be written to; null in a place asks the library to allocate one. */
  readonly outputs: Pointer
  readonly outputCount: number
}

export interface ModelFile {
  /** Absolute. */
  readonly path: string
  /** How messages call it. */
  readonly shownAs: string
}

/**
 * A loaded model. One run at a time. Its memory is released by close(), never by the garbage collector alone: an
 * unreferenced session would stay loaded.
 */
export class Session {
  readonly env: Env
  readonly signature: Signature
  readonly #handle: Pointer
  readonly #runOptions: Pointer
  #terminated = false
  /** What the run in progress reads and writes; undefined = none is in progress. */
  #kept: object | undefined = undefined
  #closing: Promise<void> | undefined = undefined
  #onIdle: (() => void) | undefined = undefined

  private constructor(env: Env, handle: Pointer, runOptions: Pointer) {
    this.env = env
    this.#handle = handle
    this.#runOptions = runOptions
    this.signature = readSignature(env, handle)
  }

  /** Reads and optimises the model on another thread. */
  static async open(env: Env, file: ModelFile, plan: SessionPlan): Promise<Session> {
    const handle = await createSession(env, file, plan)
    try {
      return new Session(env, handle, createRunOptions(env, plan))
    } catch (error) {
      env.api.ReleaseSession(handle)
      throw error
    }
  }

  /** Runs on the calling thread: for models that take microseconds. */
  run(call: RunArguments): void {
    this.#begin(call)
    try {
      checkStatus(
        this.env.api.Run(
          this.#handle,
          this.#runOptions,
          call.inputNames,
          call.inputs,
          call.inputCount,
          call.outputNames,
          call.outputCount,
          call.outputs,
        ),
      )
    } finally {
      this.#end()
    }
  }

  /** Runs on another thread. `keep` is referenced until the run is over, come what may. */
  runLater(call: RunArguments, keep: object): Promise<void> {
    this.#begin(keep)
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, status: Pointer | null) => {
        this.#end()
        if (error !== null) reject(error)
        else if (status !== null) reject(takeError(status))
        else resolve()
      }
      try {
        this.env.api.Run.async(
          this.#handle,
          this.#runOptions,
          call.inputNames,
          call.inputs,
          call.inputCount,
          call.outputNames,
          call.outputCount,
          call.outputs,
          done,
        )
      } catch (error) {
        // Nothing was started.
        this.#end()
        reject(error as Error)
      }
    })
  }

  /** Asks the run in progress to stop at its next node; it then fails. Without one it does nothing. */
  terminate(): void {
    if (this.#kept === undefined) return
    this.#terminated = true
    checkStatus(this.env.api.RunOptionsSetTerminate(this.#runOptions))
  }

  /** Releases the model once the run in progress is over. It is asked to stop early. */
  close(): Promise<void> {
    this.#closing ??= this.#release()
    return this.#closing
  }

  async #release(): Promise<void> {
    if (this.#kept !== undefined) {
      this.terminate()
      await new Promise<void>((resolve) => (this.#onIdle = resolve))
    }
    const { api, library } = this.env
    api.ReleaseRunOptions(this.#runOptions)
    // Giving back hundreds of megabytes takes its time.
    await new Promise<void>((resolve, reject) => {
      api.ReleaseSession.async(this.#handle, (error) => (error === null ? resolve() : reject(error)))
    })
    library.trim()
  }

  #begin(keep: object): void {
    if (this.#closing !== undefined) throw new ConchError('UNAVAILABLE', 'the model instance is closed')
    if (this.#kept !== undefined) throw new ConchError('INTERNAL', 'the model instance is busy')
    if (this.#terminated) checkStatus(this.env.api.RunOptionsUnsetTerminate(this.#runOptions))
    this.#terminated = false
    this.#kept = keep
  }

  #end(): void {
    this.#kept = undefined
    this.#onIdle?.()
  }
}

async function createSession(env: Env, file: ModelFile, plan: SessionPlan): Promise<Pointer> {
  try {
    return await withSessionOptions(env, plan, (options) =>
      receiveLater((out, done) => env.api.CreateSession.async(env.handle, file.path, options, out, done)),
    )
  } catch (error) {
    throw error instanceof ConchError ? hidePaths(error, file, env) : error
  }
}

/** The library names files by their absolute paths; a client sees them as the repository names them. */
function hidePaths(error: ConchError, { path, shownAs }: ModelFile, { library }: Env): ConchError {
  const directory = path.slice(0, path.lastIndexOf('/') + 1)
  const shown = shownAs.slice(0, shownAs.lastIndexOf('/') + 1)
  const known = error.message.replaceAll(directory, shown).replaceAll(library.directory, '')
  const text = known.replaceAll(/ (resolved path|allowed directory): "[^"]*"/g, '')
  return text === error.message ? error : new ConchError(error.code, text, { cause: error })
}

function createRunOptions({ api }: Env, plan: SessionPlan): Pointer {
  const options = receive((out) => api.CreateRunOptions(out))
  // What goes wrong in a run is told to who asked; a line in the log for each would be theirs to write.
  checkStatus(api.RunOptionsSetRunLogSeverityLevel(options, ORT_LOG.fatal))
  for (const [key, value] of plan.runEntries) checkStatus(api.AddRunConfigEntry(options, key, value))
  return options
}
