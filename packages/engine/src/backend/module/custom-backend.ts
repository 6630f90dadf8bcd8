import type { Backend, BackendInstance, BackendModel } from '../contract.ts'

type Instance = Pick<BackendInstance, 'execute' | 'checkReady'> & Partial<Pick<BackendInstance, 'close'>>
type Model = Partial<Pick<BackendModel, 'close'>> & {
  createInstance(...args: Parameters<BackendModel['createInstance']>): Promise<Instance> | Instance
}

/**
 * What a custom backend has to be: a backend of which only `load` is asked for. `backend.ts` exports `createBackend`, which
 * returns one. Without `complete` a config stays as it is; without `preferredGroup` there is one instance on the CPU.
 */
export interface CustomBackend extends Partial<Omit<Backend, 'load'>> {
  load(...args: Parameters<Backend['load']>): Promise<Model> | Model
}
