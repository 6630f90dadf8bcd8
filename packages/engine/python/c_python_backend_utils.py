"""The compiled half of the original's API, under the name that models import it by."""

from __future__ import annotations

from conch_stub.arguments import TritonModelException
from conch_stub.bls import ResponseIterator
from conch_stub.logger import Logger, LogLevel
from conch_stub.memory import InferenceTrace, MemoryType, PreferredMemory
from conch_stub.metric import Metric, MetricFamily, MetricKind
from conch_stub.model_control import is_model_ready, load_model, unload_model
from conch_stub.request import InferenceRequest
from conch_stub.response import InferenceResponse, TritonError, TritonErrorCode
from conch_stub.sender import ResponseSender
from conch_stub.session import SharedMemory
from conch_stub.tensor import Tensor

TRITONSERVER_MEMORY_GPU = MemoryType.TRITONSERVER_MEMORY_GPU
TRITONSERVER_MEMORY_CPU = MemoryType.TRITONSERVER_MEMORY_CPU
shared_memory = SharedMemory()

__all__ = [
    "TRITONSERVER_MEMORY_CPU",
    "TRITONSERVER_MEMORY_GPU",
    "InferenceRequest",
    "InferenceResponse",
    "InferenceTrace",
    "LogLevel",
    "Logger",
    "MemoryType",
    "Metric",
    "MetricFamily",
    "MetricKind",
    "PreferredMemory",
    "ResponseIterator",
    "ResponseSender",
    "Tensor",
    "TritonError",
    "TritonErrorCode",
    "TritonModelException",
    "is_model_ready",
    "load_model",
    "shared_memory",
    "unload_model",
]
