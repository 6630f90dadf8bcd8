import { CONCH_VERSION, PROTOCOL_VERSION } from '../version.ts'

export function printVersion(): number {
  process.stdout.write(
    `conch ${CONCH_VERSION} (protocol of Triton ${PROTOCOL_VERSION}, Node ${process.versions.node})\n`,
  )
  return 0
}
