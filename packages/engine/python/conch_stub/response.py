"""What a model answers, and what models it calls answer."""

from __future__ import annotations

import json
from enum import IntEnum

from .arguments import NATIVE, TritonModelException, refuse_arguments
from .error_text import cut_text
from .tensor import Received, Tensor, describe_tensor
from .wire import Outgoing, encode, quote


class TritonErrorCode(IntEnum):
    UNKNOWN = 0
    INTERNAL = 1
    NOT_FOUND = 2
    INVALID_ARG = 3
    UNAVAILABLE = 4
    UNSUPPORTED = 5
    ALREADY_EXISTS = 6
    CANCELLED = 7


_CODES = {code.name: code for code in TritonErrorCode}
_ERROR = "c_python_backend_utils.TritonError(message: str, code: c_python_backend_utils.TritonErrorCode = INTERNAL)"
_RESPONSE = (
    "c_python_backend_utils.InferenceResponse(output_tensors: list[c_python_backend_utils.Tensor], "
    "error: c_python_backend_utils.TritonError = None, parameters: object = None)"
)


class TritonError:
    """An error for one request, with a code of the server's."""

    __slots__ = ("__weakref__", "_code", "_message")

    UNKNOWN = TritonErrorCode.UNKNOWN
    INTERNAL = TritonErrorCode.INTERNAL
    NOT_FOUND = TritonErrorCode.NOT_FOUND
    INVALID_ARG = TritonErrorCode.INVALID_ARG
    UNAVAILABLE = TritonErrorCode.UNAVAILABLE
    UNSUPPORTED = TritonErrorCode.UNSUPPORTED
    ALREADY_EXISTS = TritonErrorCode.ALREADY_EXISTS
    CANCELLED = TritonErrorCode.CANCELLED

    def __init__(self, message: str, code: TritonErrorCode = TritonErrorCode.INTERNAL) -> None:
        if isinstance(message, bytes):
            message = message.decode("utf-8", "replace")
        if not isinstance(message, str) or not isinstance(code, int) or code not in _CODES.values():
            raise refuse_arguments("__init__", _ERROR, (message, code))
        self._message = message
        self._code = TritonErrorCode(code)

    def message(self) -> str:
        return self._message

    def code(self) -> TritonErrorCode:
        return self._code


class InferenceResponse:
    """Tensors, or an error that wins over them; parameters are texts, integers and booleans."""

    __slots__ = ("__weakref__", "_entries", "_error", "_parameters", "_received", "_tensors")

    def __init__(self, output_tensors=(), error: TritonError | None = None, parameters: dict | None = None) -> None:
        if error is not None and not isinstance(error, TritonError):
            raise refuse_arguments("__init__", _RESPONSE, (output_tensors, error))
        if type(output_tensors) is not list:
            output_tensors = _list_tensors(output_tensors, error)
        for tensor in output_tensors:
            if type(tensor) is not Tensor:
                _check_tensor(tensor, output_tensors, error)
        self._tensors = output_tensors
        self._error = error
        self._parameters = "{}" if parameters is None else encode_parameters(parameters)

    def output_tensors(self) -> list[Tensor]:
        tensors = self._tensors
        if tensors is None:
            received = self._received
            tensors = self._tensors = [received.tensor(entry) for entry in self._entries]
        return tensors

    def has_error(self) -> bool:
        return self._error is not None

    def error(self) -> TritonError | None:
        return self._error

    def parameters(self) -> str:
        """JSON text."""
        return self._parameters


TritonErrorCode.__module__ = TritonError.__module__ = InferenceResponse.__module__ = NATIVE


def _list_tensors(value: object, error: object) -> list:
    if isinstance(value, (str, bytes, dict)) or not (hasattr(value, "__getitem__") and hasattr(value, "__len__")):
        raise refuse_arguments("__init__", _RESPONSE, (value, error))
    return list(value)


def _check_tensor(tensor: object, tensors: list, error: object) -> None:
    if tensor is None:
        raise TritonModelException("Output tensor for inference response should not be empty.")
    if not isinstance(tensor, Tensor):
        raise refuse_arguments("__init__", _RESPONSE, (tensors, error))


def encode_parameters(parameters: object) -> str:
    """Parameters as JSON text. Raises TritonModelException for keys and values that cannot travel."""
    if not isinstance(parameters, dict):
        raise TritonModelException("parameters must be a dictionary")
    for key, value in parameters.items():
        if not isinstance(key, str):
            raise TritonModelException(f"Expect parameters keys to have type str, found type {type(key)}")
        if not isinstance(value, (bool, int, str)):
            raise TritonModelException(f"Expect parameters values to have type bool/int/str, found type {type(value)}")
    return json.dumps(parameters)


def response_of_error(message: str, code: str = "INTERNAL") -> InferenceResponse:
    return InferenceResponse([], TritonError(message, _CODES.get(code, TritonErrorCode.INTERNAL)))


def receive_response(wire: dict, received: Received) -> InferenceResponse:
    response = InferenceResponse.__new__(InferenceResponse)
    error = wire.get("error")
    response._error = None if error is None else TritonError(error[1], _CODES.get(error[0], TritonErrorCode.INTERNAL))
    response._parameters = wire.get("params") or "{}"
    response._entries = wire.get("out") or []
    response._received = received
    response._tensors = None
    return response


def describe_response(response: InferenceResponse, wanted: list[str] | None, outgoing: Outgoing) -> str:
    """The response in a header. Tensors that nobody asked for are left out; two of one name are an error that names it."""
    error = response._error
    if error is not None:
        return describe_error(error._code.name, error._message)
    tensors = response.output_tensors()
    if len(tensors) > 1:
        twice = _find_twice(tensors)
        if twice is not None:
            return describe_error("INTERNAL", f"The response has more than one output tensor with the name '{twice}'.")
    entries = [describe_tensor(tensor, outgoing) for tensor in tensors if wanted is None or tensor._name in wanted]
    if response._parameters == "{}":
        return f'{{"out":[{",".join(entries)}]}}'
    return f'{{"out":[{",".join(entries)}],"params":{quote(response._parameters)}}}'


def _find_twice(tensors: list[Tensor]) -> str | None:
    names = [tensor._name for tensor in tensors]
    if len(set(names)) == len(names):
        return None
    return next(name for name in names if names.count(name) > 1)


def describe_error(code: str, message: str) -> str:
    return f'{{"out":[],"error":{encode([code, cut_text(message)])}}}'
