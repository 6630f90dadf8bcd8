"""Frames as bytes, both ways; docs/python-wire.md has the format."""

from __future__ import annotations

import json
import struct

#: A tensor up to this size travels in its frame, a larger one in an arena; bytes.
INLINE_LIMIT = 64 * 1024
_INLINE_TOTAL = 256 * 1024
#: The server ends a process whose header is larger; bytes.
_HEADER_LIMIT = 48 << 20

_LENGTHS = struct.Struct("<II")
_scan = json.JSONDecoder().scan_once
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
quote = json.encoder.encode_basestring_ascii
_PADDING = [b"", *(b" " * n for n in range(1, 8))]
_ZEROS = [b"", *(b"\0" * n for n in range(1, 8))]


class Gone(Exception):
    """The server closed the socket."""


def encode(value: object) -> str:
    """JSON in ASCII: lone surrogates that a model made survive as escapes. Raises ValueError for NaN and infinities."""
    return _encode(value)


class FrameReader:
    """Cuts what comes in into frames."""

    def __init__(self, sock) -> None:
        self._sock = sock
        self._buffer = bytearray(256 * 1024)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    def read(self, flags: int) -> list[tuple[dict, bytearray]]:
        """One call of recv and the frames that are whole then. Raises Gone, or BlockingIOError if `flags` say so."""
        if self._start == self._end:
            self._start = self._end = 0
        elif self._end == len(self._buffer):
            self._make_room()
        count = self._sock.recv_into(self._view[self._end :], 0, flags)
        if count == 0:
            raise Gone
        self._end += count
        frames = []
        buffer, start, end = self._buffer, self._start, self._end
        while end - start >= 8:
            size, header_size = _LENGTHS.unpack_from(buffer, start)
            stop = start + 4 + size
            if stop > end:
                break
            body = start + 8 + header_size
            frames.append((_scan(buffer[start + 8 : body].decode(), 0)[0], buffer[body:stop]))
            start = stop
        self._start = start
        return frames

    def _make_room(self) -> None:
        rest = self._buffer[self._start : self._end]
        needed = 4 + _LENGTHS.unpack_from(rest)[0] if len(rest) >= 8 else 8
        if needed > len(self._buffer) or len(self._buffer) > needed + (1 << 22):
            self._buffer = bytearray(max(needed, 256 * 1024))
            self._view = memoryview(self._buffer)
        self._buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)


class Outgoing:
    """The payload of one frame while its header is written. Tensors that do not fit go into the arena."""

    __slots__ = ("_arena", "_placed", "parts", "size")

    def __init__(self, arena) -> None:
        self.parts: list = []
        self.size = 0
        self._arena = arena
        self._placed: list[int] = []

    def add(self, data) -> str:
        """Takes contiguous bytes or an array; answers the end of the tensor's entry: `place,offset,bytes]`."""
        count = len(data) if type(data) is bytes else data.nbytes
        size = self.size
        if count <= INLINE_LIMIT and size + count <= _INLINE_TOTAL:
            padding = -size % 8
            if padding:
                self.parts.append(_ZEROS[padding])
                size += padding
            self.parts.append(data)
            self.size = size + count
            return f"0,{size},{count}]"
        offset = self._arena.place(data)
        self._placed.append(offset)
        return f"1,{offset},{count}]"

    def discard(self) -> None:
        """Gives the arena back what a frame that is never sent had taken."""
        self._arena.free(self._placed)


def frame(header: str, outgoing: Outgoing | None = None) -> bytes:
    """A whole frame; the payload starts at a multiple of 8."""
    text = header.encode()
    padding = _PADDING[-len(text) % 8]
    size = len(text) + len(padding)
    if size > _HEADER_LIMIT:
        raise ValueError(f"{size} bytes of texts and parameters are too many for one answer, {_HEADER_LIMIT} can be sent")
    if outgoing is None or not outgoing.parts:
        return _LENGTHS.pack(4 + size, size) + text + padding
    return b"".join((_LENGTHS.pack(4 + size + outgoing.size, size), text, padding, *outgoing.parts))
