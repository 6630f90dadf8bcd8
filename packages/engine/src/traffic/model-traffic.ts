import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, TrafficPolicy } from '@conch/protocol'
import type { ArmView, HeaderFinder, ModelVersions, ShadowView, TrafficView } from './contract.ts'
import { judgeArm, judgeShadow } from './judge.ts'
import { planShares } from './plan.ts'
import { PickedRoute } from './route.ts'
import type { Ended, RouteOwner } from './route.ts'
import { BoundSequences } from './sequences.ts'
import type { Bound } from './sequences.ts'
import { Shadow } from './shadow.ts'
import { pickByKey, Splitter } from './split.ts'
import type { Weighted } from './split.ts'
import { RollingWindow } from './window.ts'

/** What one version was sent since the policy was set. */
interface Arm {
  requests: number
  failures: number
  readonly window: RollingWindow
}

/** A condition for a rollback is met. */
export type OnVerdict = (version: string, reason: string) => void

/** The policy of one model and its state. Decisions only: files, log and events are `Traffic`'s. */
export class ModelTraffic implements RouteOwner {
  readonly model: string
  rollbacks = 0
  readonly #versions: ModelVersions
  readonly #onVerdict: OnVerdict
  readonly #sequences = new BoundSequences()
  #policy: TrafficPolicy
  #shares: readonly Weighted[] = []
  #splitter = new Splitter()
  #arms = new Map<string, Arm>()
  #shadow: Shadow | undefined = undefined
  #compared = new RollingWindow(1)

  constructor(model: string, policy: TrafficPolicy, parts: { versions: ModelVersions; onVerdict: OnVerdict }) {
    this.model = model
    this.#versions = parts.versions
    this.#onVerdict = parts.onVerdict
    this.#policy = policy
    this.set(policy)
  }

  get policy(): TrafficPolicy {
    return this.#policy
  }

  /** Another policy, from the next request on. Sequences stay where they are; counts begin anew. */
  set(policy: TrafficPolicy): void {
    const { shadow, rollback } = policy
    const windowMs = 1_000 * (rollback?.windowSeconds ?? 60)
    this.#compared = new RollingWindow(windowMs)
    const compared = this.#compared
    this.#arms = new Map()
    for (const version of [...policy.split.map((arm) => arm.version), rollback?.to.version ?? '']) {
      if (version !== '') this.#arms.set(version, { requests: 0, failures: 0, window: new RollingWindow(windowMs) })
    }
    this.#shadow?.stop()
    this.#shadow = shadow && new Shadow(shadow, this.#versions, (good) => this.#judgeCopy(compared, good))
    this.replan(policy)
  }

  /** Copies under way are cancelled. */
  stop(): void {
    this.#shadow?.stop()
  }

  /** The same policy with other versions rolled back. */
  replan(policy: TrafficPolicy): void {
    this.#policy = policy
    this.#shares = planShares(policy)
    this.#splitter = new Splitter()
  }

  /** What a name stands for; '' = the version that gets the most. */
  nameVersion(version: string): string {
    if (version !== '') return this.#policy.labels[version] ?? version
    const best = this.#available().reduce<Weighted | undefined>(
      (a, b) => (a && a.weight >= b.weight ? a : b),
      undefined,
    )
    return best?.version ?? ''
  }

  /** Picks the version of a request that names none; undefined = as without a policy. */
  route(request: InferRequest, headers: HeaderFinder | undefined): PickedRoute | undefined {
    const picked = this.#pick(request, headers)
    if (picked === undefined) return undefined
    const arm = this.#arms.get(picked.version)
    if (arm !== undefined) arm.requests += 1
    return new PickedRoute(this, request, picked)
  }

  #pick(request: InferRequest, headers: HeaderFinder | undefined) {
    const { sequenceId: id } = request
    if (id === 0n || id === '') return this.#pickAnew(this.#keyOf(request, headers))
    const now = performance.now()
    const bound = this.#sequences.find(id, now)
    // Its version holds its state: another one could not go on, so what is gone is told as gone.
    if (bound !== undefined && (!request.sequenceStart || this.#versions.isReady(bound.version))) return bound
    const picked = this.#pickAnew(this.#keyOf(request, headers) ?? `sequence ${id}`)
    const fresh: Bound | undefined = picked && { ...picked, lastAt: now }
    if (fresh !== undefined) this.#sequences.bind(id, fresh)
    return fresh
  }

  #keyOf(request: InferRequest, headers: HeaderFinder | undefined): string | undefined {
    const { sticky } = this.#policy
    if (sticky === undefined) return undefined
    if (sticky.from === 'header') return headers?.header(sticky.name)
    const { parameters } = request
    return Object.hasOwn(parameters, sticky.name) ? String(parameters[sticky.name]) : undefined
  }

  #pickAnew(key: string | undefined): { readonly version: string; readonly mirrored: boolean } | undefined {
    const version = this.#shares.length === 0 ? this.#versions.latest() : this.#pickShare(key)
    if (version === undefined) return undefined
    const mirrored = this.#mirrors(version) && this.#shadow?.choose() === true
    // Nothing to be counted: as without a policy.
    return this.#shares.length === 0 && !mirrored ? undefined : { version, mirrored }
  }

  #pickShare(key: string | undefined): string | undefined {
    const available = this.#available()
    if (available.length > 0) {
      return key === undefined ? this.#splitter.pick(available) : pickByKey(available, key)
    }
    if (this.#versions.latest() === undefined) return undefined
    const wanted = this.#shares.map(({ version }) => version).join(', ')
    const why = `traffic.json sends requests to ${wanted}, of which none is ready`
    throw new ConchError('NOT_FOUND', `Request for unknown model: '${this.model}' has no available versions: ${why}`)
  }

  #available(): readonly Weighted[] {
    return this.#shares.filter(({ version }) => this.#versions.isReady(version))
  }

  #mirrors(version: string): boolean {
    const target = this.#shadow?.rules.version
    return target !== undefined && target !== version && !this.#isGone(target) && this.#versions.isReady(target)
  }

  #isGone(version: string): boolean {
    return this.#policy.rolledBack.some((gone) => gone.version === version)
  }

  ended({ version, request }: PickedRoute, how: Ended, ms: number): void {
    const now = performance.now()
    if (how === 'success' && request.sequenceEnd) this.#sequences.end(request.sequenceId)
    const arm = this.#arms.get(version)
    if (arm === undefined || (how !== 'success' && !this.#isToBlame(version, how))) return
    if (how !== 'success') arm.failures += 1
    arm.window.add(how === 'success' ? ms : undefined, now)
    this.#judge(version, arm, now)
  }

  #judge(version: string, { window }: Arm, now: number): void {
    const { rollback } = this.#policy
    if (rollback === undefined || version === rollback.to.version || this.#isGone(version)) return
    const reason = judgeArm(window, rollback, now)
    if (reason !== undefined && this.#versions.isReady(rollback.to.version)) this.#onVerdict(version, reason)
  }

  /**
   * Not for clients that leave, nor for what comes while it is unloaded. A request that does not fit is the client's mistake,
   * unless the version asks for other inputs than the one to roll back to.
   */
  #isToBlame(version: string, how: Ended): boolean {
    const isReady = (one: string) => this.#versions.isReady(one)
    if (how !== 'mistake') return how === 'failure' && isReady(version)
    const to = this.#policy.rollback?.to.version
    if (to === undefined || !isReady(to) || !isReady(version)) return false
    return this.#versions.inputsOf(to) !== this.#versions.inputsOf(version)
  }

  mirror({ request }: PickedRoute, answers: readonly InferResponse[] | undefined): void {
    const shadow = this.#shadow
    if (shadow === undefined || this.#isGone(shadow.rules.version)) return
    const copied = shadow.copy(request, answers)
    if (!copied) this.#sequences.forgo(request.sequenceId)
  }

  #judgeCopy(compared: RollingWindow, good: boolean): void {
    // Of a policy before this one.
    if (compared !== this.#compared) return
    const now = performance.now()
    compared.add(good ? 0 : undefined, now)
    const { rollback, shadow } = this.#policy
    if (rollback === undefined || shadow === undefined || this.#isGone(shadow.version)) return
    const reason = judgeShadow(compared, rollback, now)
    if (reason !== undefined) this.#onVerdict(shadow.version, `${reason}; the last one: ${this.#shadow?.example ?? ''}`)
  }

  view(): TrafficView {
    return {
      model: this.model,
      policy: this.#policy,
      arms: this.#viewArms(),
      shadow: this.#viewShadow(),
      sequences: this.#sequences.size,
      rollbacks: this.rollbacks,
    }
  }

  #viewArms(): readonly ArmView[] {
    const { split, rollback } = this.#policy
    const available = this.#available()
    const total = available.reduce((sum, { weight }) => sum + weight, 0)
    const now = performance.now()
    return Array.from(this.#arms, ([version, { requests, failures, window }]) => {
      const written = split.find((arm) => arm.version === version)
      const weight = available.find((one) => one.version === version)?.weight ?? 0
      const recent = rollback && { ...window.read(now), latencyMs: window.percentile(rollback.latencyPercentile, now) }
      return {
        version,
        name: written?.name ?? rollback?.to.name ?? version,
        weight: written?.weight ?? 0,
        share: total === 0 ? 0 : (100 * weight) / total,
        ready: this.#versions.isReady(version),
        requests,
        failures,
        recent,
      }
    })
  }

  #viewShadow(): ShadowView | undefined {
    if (this.#shadow === undefined) return undefined
    const { rules, counts, inflight, example } = this.#shadow
    const active = !this.#isGone(rules.version) && this.#versions.isReady(rules.version)
    return { version: rules.version, name: rules.name, ...counts, active, inflight, example }
  }
}
