"""Requests of a batch become one call, and its outputs their responses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import triton_python_backend_utils as pb_utils

from .runner_config import RunnerConfig, TensorSpec

Arrays = dict[str, np.ndarray]


class RunError(Exception):
    """Why a call failed; told to every client of the batch as it is."""


def answer(requests: list, config: RunnerConfig, run: Callable[[Arrays], Arrays]) -> list:
    """
    One response a request. With batching the inputs are concatenated along the first dimension and `run` is called
    once; without it, once a request. `run` takes and gives arrays by the names of the configuration.
    """
    inputs = [{tensor.name(): tensor.as_numpy() for tensor in request.inputs()} for request in requests]
    if config.max_batch_size == 0 or not config.inputs:
        return [_answer_one(request, config, lambda own=own: run(own)) for request, own in zip(requests, inputs)]
    rows = [len(next(iter(own.values()))) for own in inputs]
    outputs: Arrays | Exception
    try:
        outputs = _shape_outputs(run(_concatenate(inputs)), config, sum(rows))
    except Exception as error:  # noqa: BLE001 - whatever the framework raises
        outputs = error
    responses, start = [], 0
    for request, count in zip(requests, rows):
        end = start + count
        part = outputs if isinstance(outputs, Exception) else {name: array[start:end] for name, array in outputs.items()}
        responses.append(_respond(request, part))
        start = end
    return responses


def _answer_one(request, config: RunnerConfig, run: Callable[[], Arrays]):
    try:
        return _respond(request, _shape_outputs(run(), config, None))
    except Exception as error:  # noqa: BLE001 - whatever the framework raises
        return _respond(request, error)


def _respond(request, outputs: Arrays | Exception):
    if isinstance(outputs, Exception):
        code = pb_utils.TritonError.UNSUPPORTED if isinstance(outputs, SplitError) else pb_utils.TritonError.INTERNAL
        return pb_utils.InferenceResponse(error=pb_utils.TritonError(describe(outputs), code))
    wanted = set(request.requested_output_names())
    tensors = [pb_utils.Tensor(name, array) for name, array in outputs.items() if name in wanted]
    return pb_utils.InferenceResponse(output_tensors=tensors)


def describe(error: Exception) -> str:
    return str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"


class SplitError(RunError):
    """The model gave another number of rows than it was given."""


def _concatenate(inputs: list[Arrays]) -> Arrays:
    if len(inputs) == 1:
        return inputs[0]
    return {name: np.concatenate([own[name] for own in inputs]) for name in inputs[0]}


def _shape_outputs(outputs: Arrays, config: RunnerConfig, rows: int | None) -> Arrays:
    """Outputs in the order of the configuration, checked against it."""
    made = {}
    for spec in config.outputs:
        if spec.name not in outputs:
            continue
        array = outputs[spec.name]
        if rows is not None and (array.ndim == 0 or len(array) != rows):
            got = 0 if array.ndim == 0 else len(array)
            text = f"failed to split the output tensor '{spec.name}' in responses: expected batch size of at least {rows} in model output, got {got}"
            raise SplitError(text)
        made[spec.name] = array
    return made


def check_datatype(spec: TensorSpec, array: np.ndarray) -> None:
    """The original's text for an output of another type than the configuration says."""
    expected = pb_utils.triton_string_to_numpy(spec.datatype)
    if expected is np.object_ or array.dtype == expected:
        return
    found = name_datatype(array.dtype)
    raise RunError(f"configuration expects datatype {spec.datatype} for output '{spec.name}', model provides {found}")


_NAMES = ("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64")


def name_datatype(dtype: np.dtype) -> str:
    for name in _NAMES:
        if dtype == np.dtype(pb_utils.triton_string_to_numpy(f"TYPE_{name}")):
            return f"TYPE_{name}"
    return "TYPE_STRING" if dtype.kind in "OSU" else "TYPE_INVALID"
