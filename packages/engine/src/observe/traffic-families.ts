import type { ShadowCounts, TrafficView } from '../traffic/contract.ts'
import type { Family, Sample } from './exposition.ts'

const OUTCOMES: readonly (keyof ShadowCounts)[] = ['matched', 'different', 'failed', 'dropped']

/** Superset: how traffic policies spread requests (docs/traffic.md). Counters begin anew with every policy. */
export function trafficFamilies(views: readonly TrafficView[]): readonly Family[] {
  const arms = views.flatMap(({ model, arms: all }) =>
    all.map((arm) => ({ labels: { model, version: arm.version }, arm })),
  )
  const shadows = views.flatMap(({ model, shadow }) => (shadow === undefined ? [] : [{ model, shadow }]))
  return [
    {
      name: 'conch_traffic_requests_total',
      help: 'Number of requests without a version that a traffic policy sent to a version',
      kind: 'counter',
      samples: arms.map(({ labels, arm }) => sample(labels, arm.requests)),
    },
    {
      name: 'conch_traffic_failures_total',
      help: 'Number of those that failed by the fault of the version',
      kind: 'counter',
      samples: arms.map(({ labels, arm }) => sample(labels, arm.failures)),
    },
    {
      name: 'conch_traffic_rollbacks_total',
      help: 'Number of times a version lost its requests',
      kind: 'counter',
      samples: views.map(({ model, rollbacks }) => sample({ model }, rollbacks)),
    },
    {
      name: 'conch_traffic_shadow_total',
      help: 'Number of shadow copies by what became of them',
      kind: 'counter',
      samples: shadows.flatMap(({ model, shadow }) =>
        OUTCOMES.map((outcome) => sample({ model, version: shadow.version, outcome }, shadow[outcome])),
      ),
    },
    {
      name: 'conch_traffic_share_percent',
      help: 'What a version gets of the requests without a version now',
      kind: 'gauge',
      samples: arms.map(({ labels, arm }) => sample(labels, arm.share)),
    },
  ]
}

function sample(labels: Sample['labels'], value: number): Sample {
  return { suffix: '', labels, value }
}
