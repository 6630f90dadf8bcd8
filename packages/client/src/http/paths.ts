/** `/v2/models/<model>[/versions/<version>]`. */
export function modelPath(model: string, version = '', root = '/v2'): string {
  const path = `${root}/models/${encodeURIComponent(model)}`
  return version === '' ? path : `${path}/versions/${encodeURIComponent(version)}`
}

/** The last one is kept: requests tend to go where the one before went. */
let known = { model: '', version: '', path: '/v2/models//infer' }

export function inferPath(model: string, version = ''): string {
  if (known.model !== model || known.version !== version)
    known = { model, version, path: `${modelPath(model, version)}/infer` }
  return known.path
}

/** `/v2/<kind>sharedmemory[/region/<name>]`. */
export function regionPath(kind: 'system' | 'cuda', name: string): string {
  return name === '' ? `/v2/${kind}sharedmemory` : `/v2/${kind}sharedmemory/region/${encodeURIComponent(name)}`
}
