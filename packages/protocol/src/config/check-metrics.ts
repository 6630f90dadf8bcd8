import type { Complaints } from './complaints.ts'

export function checkMetrics(complaints: Complaints): void {
  for (const [index, control] of (complaints.config.model_metrics?.metric_control ?? []).entries()) {
    const path = `model_metrics.metric_control[${String(index)}]`
    const { metric_identifier: identifier, histogram_options: options } = control
    if (identifier === undefined) complaints.add(path, "metric control must specify 'metric_identifier'")
    else if (identifier.family === '') {
      complaints.add(`${path}.metric_identifier`, "metric identifier must specify non-empty 'family'")
    }
    if (options === undefined) complaints.add(path, "metric control must specify 'histogram_options'")
    else if (options.buckets.length === 0) {
      complaints.add(`${path}.histogram_options`, "histogram options must specify non-empty 'buckets'")
    }
  }
}
