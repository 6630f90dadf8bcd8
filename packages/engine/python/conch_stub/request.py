"""A request: one the server hands to the model, or one the model makes for another model."""

from __future__ import annotations

from .arguments import NATIVE, TritonModelException, is_integer, refuse_arguments
from .memory import InferenceTrace, PreferredMemory
from .response import encode_parameters
from .sender import ResponseSender
from .session import Session, current_session
from .tensor import Received, Tensor

RELEASE_ALL = 1
RELEASE_RESCHEDULE = 2

_SIGNATURE = (
    "c_python_backend_utils.InferenceRequest(request_id: str = '', correlation_id: object = 0, "
    "inputs: list[c_python_backend_utils.Tensor], requested_output_names: list[str], model_name: str, "
    "model_version: int = -1, flags: int = 0, timeout: int = 0, preferred_memory: "
    "c_python_backend_utils.PreferredMemory, trace: c_python_backend_utils.InferenceTrace, parameters: object = None)"
)
_MISSING = object()


class InferenceRequest:
    """`_wire` has the fields of the frame that brought it or that will carry it."""

    __slots__ = ("__weakref__", "_inputs", "_received", "_release", "_sender", "_session", "_trace", "_wire")

    def __init__(
        self,
        request_id: str = "",
        correlation_id: int | str = 0,
        inputs: list[Tensor] = _MISSING,  # type: ignore[assignment]
        requested_output_names: list[str] = _MISSING,  # type: ignore[assignment]
        model_name: str = _MISSING,  # type: ignore[assignment]
        model_version: int = -1,
        flags: int = 0,
        timeout: int = 0,
        preferred_memory: PreferredMemory | None = None,
        trace: InferenceTrace | None = None,
        parameters: dict[str, bool | int | str] | None = None,
    ) -> None:
        wire = {
            "id": request_id,
            "model": model_name,
            "version": model_version,
            "seq": correlation_id,
            "flags": flags,
            "timeout": timeout,
            "outs": requested_output_names,
        }
        _check_fields(wire, inputs, preferred_memory, trace)
        wire["seq"] = _encode_sequence(correlation_id)
        wire["params"] = "{}" if parameters is None else encode_parameters(parameters)
        if preferred_memory is not None:
            wire["pref"] = preferred_memory.wire()
        if trace is not None and trace._wire is not None:
            wire["trace"] = trace._wire
        wire["outs"] = list(requested_output_names)
        self._wire = wire
        self._inputs = list(inputs)
        self._trace = trace
        self._release = RELEASE_ALL
        self._sender = None
        self._session = None

    def inputs(self) -> list[Tensor]:
        inputs = self._inputs
        if inputs is None:
            received = self._received
            inputs = self._inputs = [received.tensor(entry) for entry in self._wire["in"]]
        return inputs

    def request_id(self) -> str:
        return self._wire["id"]

    def correlation_id(self) -> int | str:
        sequence = self._wire["seq"]
        return sequence["s"] if type(sequence) is dict else int(sequence)

    def flags(self) -> int:
        return self._wire["flags"]

    def set_flags(self, flags: int) -> None:
        if not is_integer(flags):
            raise refuse_arguments("set_flags", "(self, flags: int) -> None", (self, flags), "function")
        self._wire["flags"] = int(flags)

    def timeout(self) -> int:
        """Microseconds; 0 = none."""
        return int(self._wire["timeout"])

    def parameters(self) -> str:
        """JSON text; `{}` when there are none."""
        return self._wire.get("params") or "{}"

    def requested_output_names(self) -> list[str]:
        return list(self._wire["outs"])

    def trace(self) -> InferenceTrace:
        if self._trace is None:
            self._trace = InferenceTrace(self._wire.get("trace"))
        return self._trace

    def exec(self, decoupled: bool = False):
        """Runs it and waits; an InferenceResponse, or with `decoupled` an iterator of them. Failures are responses."""
        from .bls import run_request

        return run_request(self, decoupled)

    def async_exec(self, decoupled: bool = False):
        """The same for a running asyncio loop: starts at once, answers a future."""
        from .bls import start_request

        return start_request(self, decoupled)

    def get_response_sender(self) -> ResponseSender:
        """The one sender of this request."""
        sender = self._sender
        if sender is None:
            if self._session is None:
                raise TritonModelException("Only a request that the server handed to the model has a response sender.")
            sender = self._sender = ResponseSender(self._session, self._wire)
        return sender

    def is_cancelled(self) -> bool:
        session = self._session
        return session is not None and session.connection.is_cancelled(self._wire["q"])

    def set_release_flags(self, flags: int) -> None:
        if not is_integer(flags):
            raise refuse_arguments("set_release_flags", "(self, flags: int) -> None", (self, flags), "function")
        self._release = int(flags)


InferenceRequest.__module__ = NATIVE


def receive_request(session: Session, wire: dict, received: Received) -> InferenceRequest:
    request = InferenceRequest.__new__(InferenceRequest)
    request._wire = wire
    request._inputs = None
    request._received = received
    request._trace = None
    request._release = RELEASE_ALL
    request._sender = None
    request._session = session
    return request


def _check_fields(wire: dict, inputs: object, preferred: object, trace: object) -> None:
    """Raises TypeError for what the compiled class would not take, TritonModelException for empty elements."""
    outputs = wire["outs"]
    whole = all(is_integer(wire[key]) for key in ("version", "flags", "timeout"))
    texts = isinstance(wire["id"], str) and isinstance(wire["model"], str)
    lists = isinstance(inputs, (list, tuple)) and isinstance(outputs, (list, tuple))
    objects = isinstance(preferred, (PreferredMemory, type(None))) and isinstance(trace, (InferenceTrace, type(None)))
    if not (whole and texts and lists and objects):
        values = tuple(value for value in (*wire.values(), inputs) if value is not _MISSING)
        raise refuse_arguments("__init__", _SIGNATURE, values)
    about = f"for request with id '{wire['id']}' and model name '{wire['model']}' should not be empty."
    for tensor in inputs:
        if tensor is None:
            raise TritonModelException(f"Input tensor {about}")
        if not isinstance(tensor, Tensor):
            raise refuse_arguments("__init__", _SIGNATURE, (tensor,))
    for name in outputs:
        if not isinstance(name, str):
            raise refuse_arguments("__init__", _SIGNATURE, (name,))
        if name == "":
            raise TritonModelException(f"Requested output name {about}")
    for key in ("version", "flags", "timeout"):
        wire[key] = int(wire[key])


def _encode_sequence(value: object) -> str | dict[str, str]:
    if isinstance(value, str):
        return {"s": value}
    if not is_integer(value):
        raise TritonModelException("Correlation ID must be integer or string")
    number = int(value)  # type: ignore[call-overload]
    if not 0 <= number < 1 << 64:
        raise refuse_arguments("__init__", _SIGNATURE, (value,))
    return str(number)


def current_or_own(request: InferenceRequest) -> Session:
    """The session a call of this request goes through."""
    return request._session or current_session()
