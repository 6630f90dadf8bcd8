import type { Complaints } from './complaints.ts'
import { backendOfPlatform, hasPlatform, KNOWN_BACKENDS } from './platform.ts'
import { nearest } from './pbtxt/spelling.ts'

export function checkGeneral(complaints: Complaints): void {
  const { config, options } = complaints
  const { name } = config
  if (options.directoryName !== undefined && name !== '' && name !== options.directoryName) {
    const original = `unexpected directory name '${options.directoryName}' for model '${name}', directory name must equal model name`
    const repair = { title: 'Remove name: the directory gives it', path: 'name', value: undefined }
    complaints.add('name', original, { repair })
  }
  if (name === '') complaints.add('', "model configuration must specify 'name'")
  checkBackend(complaints)
  if (config.max_batch_size < 0) {
    const repair = { title: 'Set max_batch_size to 0', path: 'max_batch_size', value: 0 }
    const hint = `it is ${String(config.max_batch_size)}; 0 = the model does not batch`
    complaints.add('max_batch_size', `'max_batch_size' must be non-negative value for ${name}`, { hint, repair })
  }
  const policy = config.version_policy
  if (policy === undefined) complaints.add('', `must specify 'version policy' for ${name}`)
  if (policy?.latest?.num_versions === 0) {
    const hint = 'num_versions 0 serves no version at all'
    complaints.add('version_policy.latest.num_versions', hint, { severity: 'warning' })
  }
}

function checkBackend(complaints: Complaints): void {
  const { name, platform, backend } = complaints.config
  if (platform === 'ensemble') {
    if (backend === '') return
    const original = `Ensemble model '${name}' must have platform type 'ensemble' and empty backend type`
    complaints.add('backend', original, { repair: { title: 'Remove backend', path: 'backend', value: undefined } })
  } else if (platform === '' && backend === '') {
    const original = `Invalid model name: Could not determine backend for model '${name}' with no backend in model configuration. Expected model name of the form 'model.<backend_name>'.`
    complaints.add('', original, { hint: 'set backend, or put the model file into the version directory' })
  } else if (backend === '') {
    const near = nearest(platform, ['ensemble', ...KNOWN_BACKENDS.map((row) => row.platform)])
    const hint = near === undefined ? undefined : `did you mean ${near}?`
    const repair = near === undefined ? undefined : { title: `Write ${near}`, path: 'platform', value: near }
    complaints.add('platform', `unexpected platform type '${platform}' for ${name}`, { hint, repair })
  } else if (
    backendOfPlatform(platform) !==
    (hasPlatform(backend) && platform !== '' ? backend : platformless(platform, backend))
  ) {
    const original = `unexpected 'platform' and 'backend' pair, got:${platform}, ${backend}`
    complaints.add('platform', original, { repair: { title: 'Remove platform', path: 'platform', value: undefined } })
  }
}

/** A backend without platform names goes with no platform and with unknown ones. */
function platformless(platform: string, backend: string): string {
  return platform === '' || !hasPlatform(backend) ? '' : backend
}

export function checkCache(complaints: Complaints): void {
  const {
    name,
    response_cache: cache,
    sequence_batching: sequence,
    model_transaction_policy: policy,
  } = complaints.config
  if (cache?.enable !== true) return
  const repair = { title: 'Disable the response cache', path: 'response_cache', value: undefined }
  const start = `Response Cache does not currently support model ${name} with`
  const end = 'Please disable the response cache.'
  if (sequence !== undefined)
    complaints.add('response_cache', `${start} sequence batching scheduler. ${end}`, { repair })
  if (policy?.decoupled === true)
    complaints.add('response_cache', `${start} 'decoupled' transaction policy. ${end}`, { repair })
}
