"""The compiled half of the original's API, under the name that models import it by."""

from __future__ import annotations

from conch_stub.arguments import TritonModelException
from conch_stub.memory import InferenceTrace, MemoryType, PreferredMemory
from conch_stub.request import InferenceRequest
from conch_stub.response import InferenceResponse, TritonError, TritonErrorCode
from conch_stub.sender import ResponseSender
from conch_stub.tensor import Tensor

TRITONSERVER_MEMORY_GPU = MemoryType.TRITONSERVER_MEMORY_GPU
TRITONSERVER_MEMORY_CPU = MemoryType.TRITONSERVER_MEMORY_CPU

__all__ = [
    "TRITONSERVER_MEMORY_CPU",
    "TRITONSERVER_MEMORY_GPU",
    "InferenceRequest",
    "InferenceResponse",
    "InferenceTrace",
    "MemoryType",
    "PreferredMemory",
    "ResponseSender",
    "Tensor",
    "TritonError",
    "TritonErrorCode",
    "TritonModelException",
]
