"""Element types: the server's names, the original's numbers, numpy's types."""

from __future__ import annotations

import numpy as np

NUMBERS = {
    "BOOL": 1,
    "UINT8": 2,
    "UINT16": 3,
    "UINT32": 4,
    "UINT64": 5,
    "INT8": 6,
    "INT16": 7,
    "INT32": 8,
    "INT64": 9,
    "FP16": 10,
    "FP32": 11,
    "FP64": 12,
    "BYTES": 13,
    "BF16": 14,
}

_SCALARS = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
}

#: Types of fixed width; BYTES and BF16 have no numpy type.
DTYPES: dict[str, np.dtype] = {name: np.dtype(scalar) for name, scalar in _SCALARS.items()}
NAMES: dict[np.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
NAMES[np.dtype(np.object_)] = "BYTES"


def name_dtype(dtype: np.dtype) -> str | None:
    """The server's name of a numpy type in any byte order; None when the server has none."""
    if dtype.kind in "SO":
        return "BYTES"
    return NAMES.get(dtype.newbyteorder("="))
