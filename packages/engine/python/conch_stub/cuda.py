"""Copies from a GPU by the driver's own library, for tensors that a framework left there."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from .arguments import TritonModelException

_lock = threading.Lock()
_driver: ctypes.CDLL | None = None
_contexts: dict[int, ctypes.c_void_p] = {}


def copy_from_device(address: int, device: int, size: int) -> np.ndarray:
    """Waits for what the default stream has still to do."""
    target = np.empty(size, np.uint8)
    if size == 0:
        return target
    with _lock:
        driver = _open_driver()
        _check(driver.cuCtxPushCurrent_v2(_retain_context(driver, device)), "cuCtxPushCurrent")
        try:
            status = driver.cuMemcpyDtoH_v2(
                ctypes.c_void_p(target.ctypes.data), ctypes.c_uint64(address), ctypes.c_size_t(size)
            )
            _check(status, "cuMemcpyDtoH")
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    return target


def _open_driver() -> ctypes.CDLL:
    global _driver
    if _driver is None:
        try:
            _driver = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise TritonModelException(f"A tensor is stored in GPU, and the driver cannot be used: {error}") from None
        _check(_driver.cuInit(0), "cuInit")
    return _driver


def _retain_context(driver: ctypes.CDLL, device: int) -> ctypes.c_void_p:
    """The primary context: the one that frameworks work in."""
    if device not in _contexts:
        handle, context = ctypes.c_int(), ctypes.c_void_p()
        _check(driver.cuDeviceGet(ctypes.byref(handle), device), "cuDeviceGet")
        _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle), "cuDevicePrimaryCtxRetain")
        _contexts[device] = context
    return _contexts[device]


def _check(status: int, call: str) -> None:
    if status != 0:
        raise TritonModelException(f"{call} failed with CUDA error {status}.")
