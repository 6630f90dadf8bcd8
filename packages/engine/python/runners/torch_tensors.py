"""Tensors of requests and tensors of PyTorch."""

from __future__ import annotations

import numpy as np
import torch

from .batching import RunError, check_datatype
from .runner_config import LoadError, RunnerConfig, TensorSpec

#: Types that PyTorch has and arrays do not lose.
SUPPORTED = {
    "TYPE_BOOL", "TYPE_UINT8", "TYPE_INT8", "TYPE_INT16", "TYPE_INT32", "TYPE_INT64", "TYPE_FP16", "TYPE_FP32",
    "TYPE_FP64", "TYPE_STRING",
}  # fmt: skip


def choose_device(config: RunnerConfig) -> torch.device | None:
    """None: the model places itself."""
    if config.kind == "MODEL":
        return None
    if config.kind == "GPU":
        if not torch.cuda.is_available():
            raise LoadError(f"model '{config.model}' asks for a GPU, but this PyTorch sees none")
        return torch.device("cuda", config.device)
    return torch.device("cpu")


def check_specs(config: RunnerConfig) -> None:
    """The original's texts: it completes no configuration for PyTorch."""
    for what, specs in (("input", config.inputs), ("output", config.outputs)):
        if not specs:
            raise LoadError(f"model configuration must contain at least one {what}, none were specified.")
        for spec in specs:
            if spec.datatype not in SUPPORTED:
                raise LoadError(f"unsupported datatype {spec.datatype} for {what} '{spec.name}' for model '{config.model}'")
    for spec in config.inputs:
        if spec.datatype == "TYPE_STRING" and len(spec.dims) + (config.max_batch_size > 0) > 1:
            text = f"Triton only supports 1 dimensional List of String as input for '{spec.name}' for model '{config.model}'"
            raise LoadError(text)


def to_torch(array: np.ndarray, device: torch.device | None):
    """Without a copy where the memory is writable; texts become a list."""
    if array.dtype == np.object_:
        return [element.decode("utf-8") if isinstance(element, bytes) else str(element) for element in array.ravel()]
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()
    tensor = torch.from_numpy(array)
    return tensor if device is None or device.type == "cpu" else tensor.to(device, non_blocking=True)


def to_numpy(value, spec: TensorSpec) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        if value.dim() == 0:
            raise RunError(f"output '{spec.name}' is a scalar which is not supported.")
        array = value.detach().cpu().resolve_conj().resolve_neg().contiguous().numpy()
        check_datatype(spec, array)
        return array
    if isinstance(value, (list, tuple)) and all(isinstance(element, str) for element in value):
        if spec.datatype != "TYPE_STRING":
            raise RunError(f"configuration expects datatype {spec.datatype} for output '{spec.name}', model provides TYPE_STRING")
        return np.array([element.encode("utf-8") for element in value], dtype=np.object_)
    raise RunError(
        "output must be of type Tensor, List[str] or Tuple containing one of these two types. "
        "It should not be a List / Dictionary of Tensors or a Scalar"
    )


def pick_outputs(result, config: RunnerConfig, places: dict[str, int]) -> dict[str, np.ndarray]:
    """The outputs of a call by the names of the configuration."""
    is_texts = isinstance(result, list) and all(isinstance(element, str) for element in result)
    values = list(result) if isinstance(result, tuple) and not is_texts else [result]
    made = {}
    for spec in config.outputs:
        place = places[spec.name]
        if place >= len(values):
            raise RunError(
                f"The output {spec.name} in the model configuration refers to an output index which doesn't exist. "
                f"This model has {len(values)} outputs"
            )
        made[spec.name] = to_numpy(values[place], spec)
    return made
