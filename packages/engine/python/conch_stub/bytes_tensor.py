"""BYTES elements: each preceded by its length as four bytes, little-endian."""

from __future__ import annotations

import struct

import numpy as np

from .arguments import TritonModelException

_LENGTH = struct.Struct("<I")


def serialize_elements(array: np.ndarray) -> bytes:
    """Elements in C order. Bytes stay as they are, anything else is what `str` says of it, in UTF-8."""
    pack = _LENGTH.pack
    parts = []
    for element in array.reshape(-1).tolist():
        data = element if type(element) is bytes else encode_element(element)
        parts.append(pack(len(data)))
        parts.append(data)
    return b"".join(parts)


def encode_element(element: object) -> bytes:
    return bytes(element) if isinstance(element, bytes) else str(element).encode("utf-8")


def parse_elements(data) -> list[bytes]:
    """The elements in any buffer. Raises TritonModelException when it is torn."""
    view = memoryview(data)
    end = len(view)
    unpack = _LENGTH.unpack_from
    elements = []
    at = 0
    while at < end:
        if end - at < 4:
            raise TritonModelException("Invalid bytes tensor data: incomplete length field")
        start = at + 4
        at = start + unpack(view, at)[0]
        if at > end:
            raise TritonModelException("Invalid bytes tensor data: string extends beyond buffer")
        elements.append(bytes(view[start:at]))
    return elements


def object_array(elements: list[bytes]) -> np.ndarray:
    array = np.empty(len(elements), dtype=np.object_)
    array[:] = elements
    return array
