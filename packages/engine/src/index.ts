export type * from './engine.ts'
export type * from './request.ts'
