import { binaryRequest, drive, printTable, round, startConch, startEcho } from './measure.ts'
import { makeRepository } from './models.ts'

/** Large tensors: 5 MB binary through the identity model against a bare echo, and a million floats as JSON. */
const conch = await startConch(makeRepository(['identity']))
const echo = await startEcho()
try {
  const tensor = new Float32Array(1_310_720).map((_, i) => i / 7)
  const binary = binaryRequest('identity', [{ name: 'IN', shape: [tensor.length], data: tensor }])
  const how = { connections: 1, seconds: 3 }
  for (const server of [conch, echo]) await drive(server, binary, { connections: 1, seconds: 1 })
  const bare = await drive(echo, binary, how)
  const full = await drive(conch, binary, how)
  printTable([
    {
      '5 MB echo p50 ms': round(bare.p50, 2),
      'conch p50 ms': round(full.p50, 2),
      'ratio (≤ 2)': round(full.p50 / bare.p50, 2),
    },
  ])

  const data = Array.from({ length: 1_000_000 }, (_, i) => i / 7)
  const text = JSON.stringify({ inputs: [{ name: 'IN', datatype: 'FP32', shape: [data.length], data }] })
  const head = `POST /v2/models/identity/infer HTTP/1.1\r\nHost: t\r\nContent-Length: ${text.length}\r\n\r\n`
  const began = performance.now()
  JSON.stringify(JSON.parse(text))
  const plain = performance.now() - began
  const json = await drive(conch, Buffer.from(head + text), { connections: 1, seconds: 6 })
  printTable([
    {
      'JSON.parse + stringify ms': round(plain),
      'conch round trip p50 ms': round(json.p50),
      'CPU ms': round(json.cpu / 1000),
    },
  ])
} finally {
  await conch.stop()
  await echo.stop()
}
