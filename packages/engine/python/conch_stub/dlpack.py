"""DLPack, both ways, without a compiled module: https://dmlc.github.io/dlpack/latest/c_api.html"""

from __future__ import annotations

import ctypes

import numpy as np

from .arguments import TritonModelException
from .tensor import Tensor, bare_tensor

CPU, CUDA, CUDA_HOST = 1, 2, 3


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


#: (code, bits) of each type; BOOL is also met as an unsigned integer of one bit.
_TYPES = {
    "BOOL": (6, 8),
    "INT8": (0, 8),
    "INT16": (0, 16),
    "INT32": (0, 32),
    "INT64": (0, 64),
    "UINT8": (1, 8),
    "UINT16": (1, 16),
    "UINT32": (1, 32),
    "UINT64": (1, 64),
    "FP16": (2, 16),
    "FP32": (2, 32),
    "FP64": (2, 64),
    "BF16": (4, 16),
}
_NAMES = {**{key: name for name, key in _TYPES.items()}, (1, 1): "BOOL"}

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, _Destructor)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))
_set_destructor = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(("PyCapsule_SetDestructor", _api))

_FRESH, _USED = b"dltensor", b"used_dlpack"

#: What capsules that were handed out still look at, by the address of their description.
_lent: dict[int, tuple] = {}


@_Deleter
def _forget(address: int) -> None:
    _lent.pop(address, None)


@_Destructor
def _destroy(capsule: int) -> None:
    # A capsule that somebody took has another name, and its taker calls the deleter.
    if _is_valid(capsule, _FRESH):
        _forget(_get_pointer(capsule, _FRESH))


def make_capsule(tensor: Tensor):
    """A capsule on the tensor's own memory, which lives at least as long."""
    if tensor._datatype == "BYTES":
        raise TritonModelException("DLPack does not have support for string tensors.")
    device = tensor._device
    if device is None:
        keep = tensor._contents()
        address = keep.__array_interface__["data"][0] if keep.nbytes else None
        place = _Device(CPU, 0)
    else:
        keep, address, place = device, device.address, _Device(device.kind, device.number)
    shape = (ctypes.c_int64 * len(tensor._shape))(*tensor._shape)
    code, bits = _TYPES[tensor._datatype]
    managed = _Managed()
    managed.tensor = _DLTensor(
        address,
        place,
        len(shape),
        _DataType(code, bits, 1),
        ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
        None,
        0,
    )
    managed.deleter = _forget
    pointer = ctypes.addressof(managed)
    _lent[pointer] = (managed, shape, keep)
    return _api.PyCapsule_New(pointer, _FRESH, _destroy)


class _Taken:
    """Memory that belongs to somebody else's capsule; given back when nobody looks at it any more."""

    __slots__ = ("__array_interface__", "_pointer", "address", "kind", "number", "size")

    def __init__(self, pointer: int, managed: _Managed, size: int) -> None:
        tensor = managed.tensor
        self._pointer = pointer
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.kind, self.number = tensor.device.kind, tensor.device.number
        self.size = size
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (self.address, False), "version": 3}

    def fetch(self) -> np.ndarray:
        """A copy in main memory."""
        from .cuda import copy_from_device

        return copy_from_device(self.address, self.number, self.size)

    def __del__(self) -> None:
        deleter = _Managed.from_address(self._pointer).deleter
        if deleter:
            deleter(self._pointer)


def read_dlpack(name: str, source) -> Tensor:
    """Takes a capsule over, or asks an object for one."""
    capsule = _find_capsule(source)
    if not _is_valid(id(capsule), _FRESH):
        raise TritonModelException(
            "Expected capsule with name 'dltensor'. A DLPack capsule can be used once, and this is none or was used before."
        )
    pointer = _get_pointer(id(capsule), _FRESH)
    managed = _Managed.from_address(pointer)
    given = managed.tensor
    shape = tuple(given.shape[axis] for axis in range(given.ndim))
    datatype = _NAMES.get((given.dtype.code, given.dtype.bits))
    if datatype is None or given.dtype.lanes != 1:
        raise TritonModelException("DLPack dtype is not supported by Python backend.")
    if given.device.kind not in (CPU, CUDA, CUDA_HOST):
        raise TritonModelException(f"DLDevice type {given.device.kind} is not support by Python backend.")
    if not _is_contiguous(given, shape):
        raise TritonModelException(
            "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in C-Order are supported."
        )
    count = 1
    for length in shape:
        count *= length
    # The original's name for it; numpy's own destructor would not understand that the memory has a new owner.
    _set_destructor(capsule, None)
    _set_name(capsule, _USED)
    taken = _Taken(pointer, managed, count * max(given.dtype.bits // 8, 1))
    tensor = bare_tensor(name, datatype, shape)
    if taken.kind == CUDA:
        tensor._device = taken
    else:
        tensor._data = np.asarray(taken) if taken.size else np.empty(0, np.uint8)
    return tensor


def _find_capsule(source):
    if type(source).__name__ == "PyCapsule":
        return source
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        kind, _ = source.__dlpack_device__()
        # 1: the legacy default stream, on which a copy to main memory waits for what was computed before.
        return source.__dlpack__(stream=1) if int(kind) == CUDA else source.__dlpack__()
    raise TritonModelException(
        "Provided tensor is not supported. Tensor must be a DLPack capsule "
        "or have `__dlpack__` and `__dlpack_device__` attributes"
    )


def _is_contiguous(given: _DLTensor, shape: tuple[int, ...]) -> bool:
    if not given.strides or 0 in shape:
        return True
    expected = 1
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] != 1 and given.strides[axis] != expected:
            return False
        expected *= shape[axis]
    return True
