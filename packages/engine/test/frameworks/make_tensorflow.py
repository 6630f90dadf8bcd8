"""SavedModels and a frozen graph: `python make_tensorflow.py DIRECTORY`."""

from __future__ import annotations

import os

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402
from repository import Repository, parameter, tensor  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402

rng = np.random.default_rng(0)
made = Repository(["tensorflow-cpu", "numpy"])
x = rng.standard_normal((3, 4)).astype(np.float32)
y = rng.standard_normal((3, 4)).astype(np.float32)


class Model(tf.Module):
    def __init__(self) -> None:
        self.factor = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "A"), tf.TensorSpec([None, 4], tf.float32, "B")])
    def serve(self, A, B):
        return {"SUM": A * self.factor + B, "LARGE": A > B}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "WORDS")])
    def upper(self, WORDS):
        return {"UPPER": tf.strings.upper(WORDS)}


model = Model()
signatures = {"serving_default": model.serve, "upper": model.upper}
io = tensor("input", "B", "FP32", [4]) + tensor("input", "A", "FP32", [4]) + tensor("output", "SUM", "FP32", [4])


def save(name: str, config: str) -> None:
    directory = made.add(name, 'platform: "tensorflow_savedmodel"\n' + config)
    tf.saved_model.save(model, os.path.join(directory, "model.savedmodel"), signatures=signatures)


save("saved", "max_batch_size: 8\ndynamic_batching {}\n" + io + tensor("output", "LARGE", "BOOL", [4]) + parameter("TF_NUM_INTRA_THREADS", "1"))
made.ask("saved", "SavedModel, batched", {"A": x, "B": y}, {"SUM": 2 * x + y, "LARGE": x > y})

save("saved_auto", "")
made.ask("saved_auto", "SavedModel, configuration completed", {"A": x, "B": y}, {"SUM": 2 * x + y, "LARGE": x > y})

save("saved_words", tensor("input", "WORDS", "STRING", [-1]) + tensor("output", "UPPER", "STRING", [-1]) + parameter("TF_SIGNATURE_DEF", "upper"))
made.ask("saved_words", "SavedModel, texts, another signature", {"WORDS": np.array(["ab", "cd"])}, {"UPPER": np.array(["AB", "CD"])})

save("saved_no_signature", "max_batch_size: 8\n" + io + parameter("TF_SIGNATURE_DEF", "nope"))
made.refuse("saved_no_signature", "a signature that there is not", "unable to load model 'saved_no_signature', expected signature 'nope', model has 'serving_default', 'upper'")

save("saved_wrong_name", "max_batch_size: 8\n" + io.replace('"SUM"', '"NOPE"'))
made.refuse("saved_wrong_name", "an output that there is not", "unexpected inference output 'NOPE' for model 'saved_wrong_name', allowed outputs are: LARGE, SUM")

save("saved_wrong_type", "max_batch_size: 8\n" + io.replace("FP32", "INT32", 1))
made.refuse("saved_wrong_type", "an input of another type", "configuration expects datatype TYPE_INT32 for input 'B', model provides TYPE_FP32")

frozen = convert_variables_to_constants_v2(model.serve.get_concrete_function())
names = [one.op.name for one in frozen.inputs], [one.op.name for one in frozen.outputs]
directory = made.add(
    "frozen",
    'platform: "tensorflow_graphdef"\nmax_batch_size: 8\n'
    + "".join(tensor("input", name, "FP32", [4]) for name in names[0])
    + "".join(tensor("output", one.name.split(":")[0], one.dtype.name.replace("float32", "FP32").replace("bool", "BOOL"), [4]) for one in frozen.outputs),
)  # fmt: skip
with open(os.path.join(directory, "model.graphdef"), "wb") as file:
    file.write(frozen.graph.as_graph_def().SerializeToString())
values = frozen(*(tf.constant({"A": x, "B": y}[name]) for name in names[0]))
made.ask("frozen", "frozen graph", dict(zip(names[0], ({"A": x, "B": y}[name] for name in names[0]))), {name: np.asarray(value) for name, value in zip(names[1], values)})

made.save()
