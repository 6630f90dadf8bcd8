"""A named array, made by the model or received from the server."""

from __future__ import annotations

import numpy as np

from .arguments import NATIVE, TritonModelException, refuse_arguments
from .bytes_tensor import object_array, parse_elements, serialize_elements
from .datatype import DTYPES, NAMES, NUMBERS, name_dtype
from .wire import Outgoing, encode

_SIGNATURE = "c_python_backend_utils.Tensor(name: str, numpy_array: numpy.ndarray)"

#: The beginning of a tensor's description in a header, for the names and shapes a model uses over and over.
_heads: dict[tuple, str] = {}
_HEADS_LIMIT = 4096


class Tensor:
    """
    Fixed-width elements are views on the model's array or on what was received; BYTES are copied. Exactly one of
    `_array` and `_data` may be missing: the bytes of an array that nobody sent yet, the array of bytes nobody looked at.
    """

    __slots__ = ("__weakref__", "_array", "_data", "_datatype", "_device", "_name", "_shape")

    def __init__(self, name: str, numpy_array: np.ndarray) -> None:
        if not isinstance(name, str) or not isinstance(numpy_array, np.ndarray):
            raise refuse_arguments("__init__", _SIGNATURE, (name, numpy_array))
        if name == "":
            raise TritonModelException("Tensor name cannot be an empty string.")
        datatype = NAMES.get(numpy_array.dtype)
        if datatype is None:
            datatype, numpy_array = _adapt(numpy_array)
        if not numpy_array.flags.c_contiguous:
            numpy_array = numpy_array.copy(order="C")
        self._name = name
        self._datatype = datatype
        self._shape = numpy_array.shape
        self._array = numpy_array
        self._data = serialize_elements(numpy_array) if datatype == "BYTES" else None
        self._device = None

    def name(self) -> str:
        return self._name

    def as_numpy(self) -> np.ndarray:
        """The same array each time; BYTES as an object array of bytes."""
        array = self._array
        if array is None:
            array = self._array = self._read()
        return array

    def as_bytes(self) -> bytes:
        """A copy of the elements as they travel; BYTES with their lengths."""
        data = self._contents()
        return data if type(data) is bytes else data.tobytes()

    def triton_dtype(self) -> int:
        return NUMBERS[self._datatype]

    def shape(self) -> list[int]:
        return list(self._shape)

    def is_cpu(self) -> bool:
        return self._device is None

    def to_dlpack(self):
        return self.__dlpack__()

    @staticmethod
    def from_dlpack(name: str, tensor) -> Tensor:
        """A tensor on the memory of a capsule, or of any object with `__dlpack__` and `__dlpack_device__`."""
        from .dlpack import read_dlpack

        if not isinstance(name, str):
            signature = "(name: str, tensor: object) -> c_python_backend_utils.Tensor"
            raise refuse_arguments("from_dlpack", signature, (name, tensor), "function")
        if name == "":
            raise TritonModelException("Tensor name cannot be an empty string.")
        return read_dlpack(name, tensor)

    def __dlpack__(self, stream=None, **_: object):
        from .dlpack import make_capsule

        return make_capsule(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self._device is None else (self._device.kind, self._device.number)

    def _read(self) -> np.ndarray:
        if self._device is not None:
            raise TritonModelException("Tensor is stored in GPU and cannot be converted to NumPy.")
        if self._datatype == "BYTES":
            return object_array(parse_elements(self._data)).reshape(self._shape)
        if self._datatype == "BF16":
            raise TritonModelException(
                "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and from_dlpack() instead."
            )
        return self._data.view(DTYPES[self._datatype]).reshape(self._shape)

    def _contents(self) -> np.ndarray | bytes:
        """What is sent, contiguous and in main memory."""
        if self._device is not None:
            return self._device.fetch()
        return self._array if self._data is None else self._data


Tensor.__module__ = NATIVE


def _adapt(array: np.ndarray) -> tuple[str, np.ndarray]:
    """Types with another byte order, and texts of fixed width."""
    datatype = name_dtype(array.dtype)
    if datatype is None:
        raise TritonModelException("NumPy dtype is not supported.")
    return datatype, array if datatype == "BYTES" else array.astype(DTYPES[datatype])


def bare_tensor(name: str, datatype: str, shape: tuple[int, ...] | list[int]) -> Tensor:
    """A tensor whose data the caller fills in."""
    tensor = Tensor.__new__(Tensor)
    tensor._name = name
    tensor._datatype = datatype
    tensor._shape = shape
    tensor._array = None
    tensor._data = None
    tensor._device = None
    return tensor


_new = Tensor.__new__


class Received:
    """Where the tensors of one frame lie, while anybody still needs to look."""

    __slots__ = ("_arena", "_lease", "_payload")

    def __init__(self, payload: bytearray, arena, lease) -> None:
        self._payload = payload
        self._arena = arena
        self._lease = lease

    def tensor(self, entry: list) -> Tensor:
        tensor = _new(Tensor)
        tensor._name, datatype, shape, place, offset, size = entry
        tensor._datatype = datatype
        tensor._shape = shape
        tensor._array = tensor._data = tensor._device = None
        if place == 1:
            tensor._data = self._arena.view(offset, size, self._lease)
        else:
            dtype = DTYPES.get(datatype)
            if dtype is None:
                tensor._data = np.ndarray((size,), np.uint8, self._payload, offset)
            else:
                tensor._array = np.ndarray(shape, dtype, self._payload, offset)
        return tensor


def describe_tensor(tensor: Tensor, outgoing: Outgoing) -> str:
    """The tensor's entry in a header; its data goes into the payload or the arena."""
    shape = tensor._shape
    key = (tensor._name, tensor._datatype, shape if type(shape) is tuple else tuple(shape))
    head = _heads.get(key)
    if head is None:
        if len(_heads) >= _HEADS_LIMIT:
            _heads.clear()
        head = _heads[key] = encode(list(key))[:-1] + ","
    data = tensor._data
    if data is None:
        data = tensor._array
    elif tensor._device is not None:
        data = tensor._device.fetch()
    return head + outgoing.add(data)
