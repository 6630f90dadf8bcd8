"""Where a caller wants the outputs of a model it calls, and what traces it continues."""

from __future__ import annotations

from enum import IntEnum

from .arguments import NATIVE, refuse_arguments

_SIGNATURE = (
    "c_python_backend_utils.PreferredMemory(preferred_memory_type: c_python_backend_utils.MemoryType, "
    "preferred_device_id: int = 0)"
)


class MemoryType(IntEnum):
    TRITONSERVER_MEMORY_GPU = 0
    TRITONSERVER_MEMORY_CPU = 1


class PreferredMemory:
    """A wish, not a promise: outputs may still be where the called model left them."""

    __slots__ = ("_device", "_kind")

    def __init__(self, preferred_memory_type: MemoryType, preferred_device_id: int = 0) -> None:
        if not isinstance(preferred_memory_type, MemoryType) or not isinstance(preferred_device_id, int):
            raise refuse_arguments("__init__", _SIGNATURE, (preferred_memory_type, preferred_device_id))
        self._kind = preferred_memory_type
        self._device = preferred_device_id

    def wire(self) -> list:
        return ["GPU" if self._kind == MemoryType.TRITONSERVER_MEMORY_GPU else "CPU", self._device]


class InferenceTrace:
    """The trace of a request; given to a call, the call's spans become its children."""

    __slots__ = ("_wire",)

    def __init__(self, wire: object = None) -> None:
        self._wire = wire

    def get_context(self) -> str | None:
        """The OpenTelemetry context as text; None when the request is not traced that way."""
        wire = self._wire
        context = wire.get("context") if isinstance(wire, dict) else wire
        return context if isinstance(context, str) else None


MemoryType.__module__ = PreferredMemory.__module__ = InferenceTrace.__module__ = NATIVE
