"""The backend `tensorflow`: SavedModels and frozen graphs."""

from __future__ import annotations

import os

import numpy as np
import triton_python_backend_utils as pb_utils

from .batching import Arrays, RunError, answer, check_datatype, name_datatype
from .runner_config import LoadError, RunnerConfig, TensorSpec, read_config

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
# One instance must not take all of a GPU's memory.
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import tensorflow as tf  # noqa: E402


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        """What the signature says; frozen graphs have none."""
        written = config.as_dict()
        filename = written.get("default_model_filename") or "model.savedmodel"
        path = os.path.join(pb_utils.get_model_dir(), filename)
        if not os.path.isdir(path):
            return config
        parameters = {name: value.get("string_value", "") for name, value in written.get("parameters", {}).items()}
        signature = _find_signature(_load(path, parameters), parameters, written.get("name", ""))
        _complete(config, written, signature)
        return config

    def initialize(self, args: dict[str, str]) -> None:
        self._config = config = read_config(args)
        if not config.inputs or not config.outputs:
            what = "output" if config.inputs else "input"
            raise LoadError(f"model configuration must contain at least one {what}, none were specified.")
        _set_threads(config)
        device = f"/GPU:{config.device}" if config.kind == "GPU" else "/CPU:0"
        path = config.path("model.savedmodel", "model.graphdef")
        try:
            with tf.device(device):
                self._function = _open_saved(path, config) if os.path.isdir(path) else _open_frozen(path, config)
        except LoadError:
            raise
        except Exception as error:
            raise LoadError(f"failed to load model '{config.model}': {error}") from error
        self._device = device

    def execute(self, requests: list) -> list:
        return answer(requests, self._config, self._call)

    def _call(self, arrays: Arrays) -> Arrays:
        try:
            with tf.device(self._device):
                found = self._function({name: tf.constant(array) for name, array in arrays.items()})
        except Exception as error:
            # The framework appends pages about its graph.
            raise RunError(f"TensorFlow execute failure: {str(error).split(chr(10))[0]}") from error
        return {spec.name: _to_numpy(found[spec.name], spec) for spec in self._config.outputs if spec.name in found}


def _to_numpy(value, spec: TensorSpec) -> np.ndarray:
    array = np.asarray(value.numpy())
    check_datatype(spec, array)
    return array


def _load(path: str, parameters: dict[str, str]):
    tag = parameters.get("TF_GRAPH_TAG", "serve")
    return tf.saved_model.load(path, tags=[tag])


def _find_signature(loaded, parameters: dict[str, str], model: str):
    name = parameters.get("TF_SIGNATURE_DEF", "serving_default")
    if name not in loaded.signatures:
        there = ", ".join(f"'{one}'" for one in loaded.signatures) or "none"
        raise LoadError(f"unable to load model '{model}', expected signature '{name}', model has {there}")
    signature = loaded.signatures[name]
    # The function works as long as what it was loaded with lives.
    signature.conch_owner = loaded
    return signature


def _open_saved(path: str, config: RunnerConfig):
    signature = _find_signature(_load(path, config.parameters), config.parameters, config.model)
    inputs = signature.structured_input_signature[1]
    _check_names("input", [spec.name for spec in config.inputs], list(inputs), config)
    _check_names("output", [spec.name for spec in config.outputs], list(signature.structured_outputs), config)
    missing = [name for name in inputs if name not in {spec.name for spec in config.inputs}]
    if missing:
        count = len(config.inputs)
        raise LoadError(
            f"unable to load model '{config.model}', configuration expects {count} inputs, model provides {len(inputs)}"
        )
    for spec in config.inputs:
        _check_type(spec, inputs[spec.name].dtype, config)
    return lambda tensors: signature(**tensors)


def _check_names(what: str, names: list[str], allowed: list[str], config: RunnerConfig) -> None:
    for name in names:
        if name not in allowed:
            there = ", ".join(sorted(allowed))
            raise LoadError(f"unexpected inference {what} '{name}' for model '{config.model}', allowed {what}s are: {there}")


def _check_type(spec: TensorSpec, dtype, config: RunnerConfig) -> None:
    found = name_datatype(np.dtype(dtype.as_numpy_dtype))
    if found != spec.datatype:
        text = f"configuration expects datatype {spec.datatype} for input '{spec.name}', model provides {found}"
        raise LoadError(f"unable to load model '{config.model}', {text}")


def _open_frozen(path: str, config: RunnerConfig):
    """Names are those of the graph's nodes; `:0` is added where no output of a node is named."""
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    wrapped = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph, name=""), [])

    def find(name: str):
        try:
            return wrapped.graph.as_graph_element(name if ":" in name else f"{name}:0")
        except (KeyError, ValueError):
            raise LoadError(f"unexpected tensor '{name}' for model '{config.model}': the graph has none of this name") from None

    names = [spec.name for spec in config.inputs]
    outputs = [spec.name for spec in config.outputs]
    pruned = wrapped.prune([find(name) for name in names], [find(name) for name in outputs])
    return lambda tensors: dict(zip(outputs, pruned(*(tensors[name] for name in names))))


def _set_threads(config: RunnerConfig) -> None:
    """Options of the process: each instance has one of its own."""
    intra, inter = config.count("TF_NUM_INTRA_THREADS"), config.count("TF_NUM_INTER_THREADS")
    if intra:
        tf.config.threading.set_intra_op_parallelism_threads(intra)
    if inter:
        tf.config.threading.set_inter_op_parallelism_threads(inter)


def _complete(config, written: dict, signature) -> None:
    """Batching is possible when every tensor's first dimension is free."""
    inputs = list(signature.structured_input_signature[1].items())
    outputs = list(signature.structured_outputs.items())
    batches = all(spec.shape.rank is not None and spec.shape.rank > 0 and spec.shape[0] is None for _, spec in inputs + outputs)
    has_io = bool(written.get("input")) or bool(written.get("output"))
    if batches and not written.get("max_batch_size") and not has_io:
        config.set_max_batch_size(4)
        if not written.get("sequence_batching"):
            config.set_dynamic_batching()
    skipped = 1 if config.as_dict().get("max_batch_size", 0) > 0 else 0
    named = {tensor["name"] for tensor in [*written.get("input", []), *written.get("output", [])]}
    for add, tensors in ((config.add_input, inputs), (config.add_output, outputs)):
        for name, spec in tensors:
            if name in named:
                continue
            dims = [-1 if size is None else int(size) for size in (spec.shape.as_list() if spec.shape.rank is not None else [])]
            datatype = name_datatype(np.dtype(spec.dtype.as_numpy_dtype))
            add({"name": name, "data_type": datatype, "dims": dims[skipped:]})
