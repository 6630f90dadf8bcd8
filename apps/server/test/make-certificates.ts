import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** Tests of TLS make their certificates with it. */
export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0

/** A root and a server and a client certificate from it, as PEM files that are gone when the test ends. */
export function makeCertificates() {
  const directory = mkdtempSync(path.join(tmpdir(), 'conch-tls-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = (name: string) => path.join(directory, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...newKey, '-keyout', 'root.key', '-out', 'root.pem', '-days', '2', '-subj', '/CN=root')
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n')
  for (const name of ['server', 'client']) {
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    const signer = ['-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
    openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signer)
  }
  return {
    root: file('root.pem'),
    server: { cert: file('server.pem'), key: file('server.key') },
    client: { cert: file('client.pem'), key: file('client.key') },
  }
}
