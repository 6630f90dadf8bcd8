import { UsageError } from './command-line.ts'

interface Door {
  readonly enabled: boolean
  readonly address: string
  readonly port: number
}

export interface Doors {
  readonly http: Door
  readonly grpc: Door
  readonly metrics: Door
  readonly sagemaker: Door
  readonly vertex: Door
  readonly console: { readonly address: string; readonly port: number }
}

/** Refuses two services on one address and port, and ports that do not exist (reference: cli §3). */
export function checkPorts(doors: Doors, command: 'serve' | 'up'): void {
  const open: { name: string; address: string; port: number }[] = []
  if (doors.http.enabled) open.push({ name: 'HTTP', ...doors.http })
  if (doors.grpc.enabled) open.push({ name: 'GRPC', ...doors.grpc })
  if (doors.sagemaker.enabled) open.push({ name: 'SageMaker', ...doors.sagemaker })
  if (doors.vertex.enabled) open.push({ name: 'Vertex AI', ...doors.vertex })
  if (doors.metrics.enabled) open.push({ name: 'metrics', ...doors.metrics })
  if (command === 'up') open.push({ name: 'console', ...doors.console })
  open.forEach((door, i) => {
    if (door.port < 0 || door.port > 65_535) {
      throw new UsageError(
        '',
        `The server cannot listen to ${door.name} requests at port ${door.port}: ports are 0 to 65535`,
      )
    }
    const twin = open
      .slice(0, i)
      .find(
        (other) => other.address === door.address && (isUnix(door) || (other.port === door.port && door.port !== 0)),
      )
    if (twin) {
      throw new UsageError(
        '',
        `The server cannot listen to ${twin.name} requests and ${door.name} requests at the same address and port ${isUnix(door) ? door.address : `${door.address}:${door.port}`}`,
      )
    }
  })
}

function isUnix({ address }: { readonly address: string }): boolean {
  return address.startsWith('unix:')
}
