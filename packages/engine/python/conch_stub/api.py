"""The part of `pb_utils` that the original has in Python: constants and small functions."""

from __future__ import annotations

import numpy as np

from .bytes_tensor import object_array, parse_elements, serialize_elements
from .datatype import DTYPES, NAMES, NUMBERS, name_dtype
from .model_config import ModelConfig
from .request import InferenceRequest
from .response import InferenceResponse
from .session import current_session
from .tensor import Tensor

__all__ = [
    "TRITONSERVER_REQUEST_FLAG_SEQUENCE_END",
    "TRITONSERVER_REQUEST_FLAG_SEQUENCE_START",
    "TRITONSERVER_REQUEST_RELEASE_ALL",
    "TRITONSERVER_REQUEST_RELEASE_RESCHEDULE",
    "TRITONSERVER_RESPONSE_COMPLETE_FINAL",
    "ModelConfig",
    "deserialize_bytes_tensor",
    "get_input_config_by_name",
    "get_input_tensor_by_name",
    "get_model_dir",
    "get_output_config_by_name",
    "get_output_tensor_by_name",
    "numpy_to_triton_type",
    "serialize_byte_tensor",
    "triton_string_to_numpy",
    "triton_to_numpy_type",
    "using_decoupled_model_transaction_policy",
]

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2

_NUMPY_OF_NUMBER = {NUMBERS[name]: dtype.type for name, dtype in DTYPES.items()}
_NUMPY_OF_NUMBER[NUMBERS["BYTES"]] = np.object_
_NUMPY_OF_CONFIG = {f"TYPE_{name}": dtype.type for name, dtype in DTYPES.items()}
_NUMPY_OF_CONFIG["TYPE_STRING"] = np.object_


def get_input_tensor_by_name(inference_request: InferenceRequest, name: str) -> Tensor | None:
    for tensor in inference_request.inputs():
        if tensor._name == name:
            return tensor
    return None


def get_output_tensor_by_name(inference_response: InferenceResponse, name: str) -> Tensor | None:
    for tensor in inference_response.output_tensors():
        if tensor._name == name:
            return tensor
    return None


def get_input_config_by_name(model_config: dict, name: str) -> dict | None:
    """The input's part of a parsed `args["model_config"]`."""
    return _find_by_name(model_config.get("input", ()), name)


def get_output_config_by_name(model_config: dict, name: str) -> dict | None:
    return _find_by_name(model_config.get("output", ()), name)


def using_decoupled_model_transaction_policy(model_config: dict) -> bool:
    return bool(model_config.get("model_transaction_policy", {}).get("decoupled", False))


def triton_to_numpy_type(data_type: int):
    """numpy's type of one of the original's numbers, 1 to 13; None for others."""
    return _NUMPY_OF_NUMBER.get(data_type)


def numpy_to_triton_type(data_type) -> int | None:
    """The original's number of a numpy type; None for types that cannot travel."""
    name = name_dtype(np.dtype(data_type))
    return None if name is None else NUMBERS[name]


def triton_string_to_numpy(triton_type_string: str):
    """numpy's type of a config's `TYPE_…`; raises KeyError for those it does not know, TYPE_BF16 among them."""
    return _NUMPY_OF_CONFIG[triton_type_string]


def serialize_byte_tensor(input_tensor: np.ndarray):
    """Elements with their lengths, as bytes; `()` for an empty array, None for a type that has no texts."""
    if input_tensor.size == 0:
        return ()
    if NAMES.get(input_tensor.dtype) == "BYTES" or input_tensor.dtype.kind == "S":
        return serialize_elements(input_tensor)
    return None


def deserialize_bytes_tensor(encoded_tensor: bytes) -> np.ndarray:
    """A flat object array of bytes."""
    return object_array(parse_elements(encoded_tensor))


def get_model_dir() -> str:
    """The directory of the model's version."""
    return current_session().version_directory


def _find_by_name(entries, name: str) -> dict | None:
    for entry in entries:
        if entry["name"] == name:
            return entry
    return None
