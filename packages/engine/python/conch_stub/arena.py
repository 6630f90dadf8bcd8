"""The two memory files in which large tensors travel."""

from __future__ import annotations

import mmap
import os
import threading
from bisect import bisect_left, insort
from collections.abc import Callable

import numpy as np

#: Of every block, and of the first one: what lies before is the heartbeat.
ALIGNMENT = 64
_PAGE = mmap.PAGESIZE
_FIRST_SIZE = 1 << 20
#: A block of this size gives its pages back to the system when it is freed.
_GIVE_BACK = 32 << 20


class Lease:
    """Blocks of the request arena that Python objects look at; they are freed when the last of these is collected."""

    __slots__ = ("_offsets", "_release")

    def __init__(self, offsets: list[int], release: Callable[[list[int]], None]) -> None:
        self._offsets = offsets
        self._release = release

    def __del__(self) -> None:
        self._release(self._offsets)


class ArenaBytes:
    """Some bytes of the request arena as numpy sees them: an array made of it keeps the lease alive."""

    __slots__ = ("__array_interface__", "_lease", "_memory")

    def __init__(self, memory: np.ndarray, address: int, size: int, lease: Lease) -> None:
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}
        self._memory = memory
        self._lease = lease


class RequestArena:
    """The server's memory: read in place, writable as in the original."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._memory: np.ndarray | None = None
        self._address = 0
        self._size = 0

    def view(self, offset: int, size: int, lease: Lease) -> np.ndarray:
        """Bytes that stay valid as long as the array, or any view on it, lives."""
        if offset + size > self._size:
            self._map()
            if offset + size > self._size:
                raise ValueError(f"the request arena has no bytes {offset} to {offset + size}")
        return np.asarray(ArenaBytes(self._memory, self._address + offset, size, lease))

    def _map(self) -> None:
        self._size = os.fstat(self._descriptor).st_size
        if self._size > 0:
            self._memory = np.frombuffer(mmap.mmap(self._descriptor, self._size), np.uint8)
            self._address = self._memory.__array_interface__["data"][0]


class ResponseArena:
    """This process's memory; it allocates, the server frees. Grows, never shrinks."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.size = 0
        #: In a process that a model forked, which has no say in what is free.
        self.is_closed = False
        #: Free blocks as (offset, size), sorted; neighbours are merged.
        self._free: list[tuple[int, int]] = []
        self._used: dict[int, int] = {}
        self._map(max(os.fstat(descriptor).st_size, _FIRST_SIZE))
        self._free[0] = (ALIGNMENT, self.size - ALIGNMENT)

    def place(self, data: np.ndarray | bytes) -> int:
        """Copies contiguous data into a block of its own and returns its offset."""
        if self.is_closed:
            raise RuntimeError("a process that a model forked cannot talk to the server")
        source = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data.reshape(-1).view(np.uint8)
        size = source.nbytes
        with self._lock:
            offset = self._allocate(size + -size % ALIGNMENT)
            memory = self._memory
        # numpy copies without holding the interpreter's lock.
        np.frombuffer(memory, np.uint8, size, offset)[:] = source
        return offset

    def free(self, offsets: list[int]) -> None:
        """Takes blocks back; offsets that are not in use are ignored."""
        with self._lock:
            for offset in offsets:
                size = self._used.pop(offset, None)
                if size is not None:
                    self._take_back(offset, size)
                    if size >= _GIVE_BACK:
                        self._give_back(offset, size)

    def beat(self, count: int) -> None:
        self._memory[0:8] = count.to_bytes(8, "little")

    @property
    def used(self) -> int:
        """Bytes in blocks that the server has not freed."""
        return sum(self._used.values())

    def _allocate(self, size: int) -> int:
        for index, (offset, room) in enumerate(self._free):
            if room >= size:
                if room == size:
                    del self._free[index]
                else:
                    self._free[index] = (offset + size, room - size)
                self._used[offset] = size
                return offset
        self._map(self.size + max(size, self.size))
        return self._allocate(size)

    def _map(self, size: int) -> None:
        size += -size % _PAGE
        os.ftruncate(self._descriptor, size)
        # The old map lives on for as long as another thread copies into it.
        self._memory = mmap.mmap(self._descriptor, size)
        old, self.size = self.size, size
        self._take_back(old, size - old)

    def _take_back(self, offset: int, size: int) -> None:
        index = bisect_left(self._free, (offset, 0))
        if index < len(self._free) and self._free[index][0] == offset + size:
            size += self._free.pop(index)[1]
        if index > 0 and sum(self._free[index - 1]) == offset:
            offset, before = self._free.pop(index - 1)
            size += before
        insort(self._free, (offset, size))

    def _give_back(self, offset: int, size: int) -> None:
        if hasattr(mmap, "MADV_REMOVE"):
            start = offset + -offset % _PAGE
            length = offset + size - start
            self._memory.madvise(mmap.MADV_REMOVE, start, length - length % _PAGE)
