export type * from './engine.ts'
export type * from './request.ts'
export type * from './observe/contract.ts'
export type * from './repository/contract.ts'
