/** What needs Node: gRPC, and HTTP over sockets. `index.ts` runs anywhere. */
export * from './index.ts'
export type { RpcOptions } from './call-options.ts'
export { GrpcClient, type GrpcOptions } from './grpc/grpc-client.ts'
export type { InferStream, SendOptions, StreamAnswer } from './grpc/infer-stream.ts'
export type { KeepAliveOptions } from './grpc/h2/keep-alive.ts'
export { openHttp, type NodeHttpOptions } from './open-http.ts'
