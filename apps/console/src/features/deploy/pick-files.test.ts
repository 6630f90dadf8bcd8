import { expect, it } from 'vitest'
import { chooseFiles, type Picked } from './pick-files.ts'

const pick = (path: string, size = 10): Picked => ({
  path,
  file: new File([new Uint8Array(size)], path.split('/').at(-1) ?? path),
})

it('takes one model file or archive by itself', () => {
  expect(chooseFiles([pick('iris.onnx')]).kind).toBe('single')
  expect(chooseFiles([pick('iris.ZIP')]).kind).toBe('single')
})

it('takes several files as a folder and leaves litter out', () => {
  const choice = chooseFiles([
    pick('iris/1/model.onnx'),
    pick('iris/config.pbtxt'),
    pick('iris/.DS_Store'),
    pick('__MACOSX/iris/x'),
  ])
  expect(choice).toMatchObject({ kind: 'folder' })
  expect(choice.kind === 'folder' && choice.files.map((each) => each.path)).toEqual([
    'iris/1/model.onnx',
    'iris/config.pbtxt',
  ])
})

it('says why something cannot be taken, and what could', () => {
  const reason = (...files: Picked[]) => {
    const choice = chooseFiles(files)
    return choice.kind === 'refused' ? choice.reason : ''
  }
  expect(reason()).toContain('no file')
  expect(reason(pick('notes.txt'))).toContain('notes.txt')
  expect(reason(pick('iris.onnx', 0))).toContain('empty')
  expect(reason(...Array.from({ length: 2001 }, (_, index) => pick(`m/${index}`)))).toContain('.zip')
})
