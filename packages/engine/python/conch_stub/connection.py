"""The one socket to the server, shared by every thread of the model."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from .arena import RequestArena, ResponseArena
from .wire import FrameReader, Gone, Outgoing, frame

_DONTWAIT = 0x40

#: Takes the header and payload of a reply.
ReplyListener = Callable[[dict, bytearray], None]


class Connection:
    """
    Whoever waits for something reads for all: the main thread when it has nothing to do, else a thread that waits for a
    reply. Frames for others are handed on: work to the main thread, replies to whoever asked.
    """

    def __init__(self, sock, requests: RequestArena, responses: ResponseArena) -> None:
        self.sock = sock
        self.requests = requests
        self.responses = responses
        #: Requests (by number) that can still be answered; those of them that were cancelled.
        self.open: set[int] = set()
        self.cancelled: set[int] = set()
        #: Set in a process that a model forked.
        self.is_forked = False
        self._reader = FrameReader(sock)
        self._turn = threading.Condition(threading.Lock())
        self._reading = False
        self._work: deque[tuple[dict, bytearray]] = deque()
        self._listeners: dict[int, ReplyListener] = {}
        self._calls = 0
        self._writing = threading.Lock()
        self._announced = responses.size
        #: Grows with every write: whether anything goes on.
        self.writes = 0
        #: What `__del__` methods want to say: they may run anywhere, so they may not wait for a lock.
        self._posted: deque[str] = deque()
        self._released: deque[list[int]] = deque()

    # Reading

    def next_work(self) -> tuple[dict, bytearray]:
        """For the main thread: waits for the next frame that is neither a reply nor a notice."""
        with self._turn:
            while not self._work:
                self._take_turn()
            return self._work.popleft()

    def wait_until(self, is_done: Callable[[], bool]) -> None:
        """For a thread that waits for replies. `is_done` is asked after every frame, under a lock."""
        self._refuse_fork()
        with self._turn:
            while not is_done():
                self._take_turn()

    def poll(self) -> None:
        """Takes what has arrived, without waiting. Somebody who reads at the moment makes this unnecessary."""
        if self.is_forked:
            return
        with self._turn:
            if self._reading:
                return
            try:
                self._dispatch(self._reader.read(_DONTWAIT))
            except BlockingIOError:
                return
            except (Gone, OSError):
                self.end()
            self._turn.notify_all()

    def leave(self) -> None:
        """In a process that a model forked: nothing is read, sent or placed in the arena from now on."""
        self.is_forked = True
        self.responses.is_closed = True
        self.sock.close()

    def is_cancelled(self, request: int) -> bool:
        if request not in self.cancelled and request in self.open:
            self.poll()
        return request in self.cancelled

    def close_request(self, request: int) -> None:
        """The request has been answered for good."""
        self.open.discard(request)
        self.cancelled.discard(request)

    def _take_turn(self) -> None:
        """Reads once, or waits until the one who reads has something. The lock is held before and after."""
        if self._reading:
            self._turn.wait()
            return
        self._reading = True
        self._turn.release()
        frames: list[tuple[dict, bytearray]] = []
        try:
            frames = self._reader.read(0)
        except (Gone, OSError):
            self.end()
        finally:
            self._turn.acquire()
            self._reading = False
            self._dispatch(frames)
            self._turn.notify_all()

    def _dispatch(self, frames: list[tuple[dict, bytearray]]) -> None:
        for header, payload in frames:
            kind = header["t"]
            if kind == "run":
                self.open.update([request["q"] for request in header["r"]])
                self._work.append((header, payload))
            elif kind == "free":
                self.responses.free(header["o"])
            elif kind == "cancel":
                if header["q"] in self.open:
                    self.cancelled.add(header["q"])
            elif kind == "reply":
                self._reply(header, payload)
            else:
                self._work.append((header, payload))

    def _reply(self, header: dict, payload: bytearray) -> None:
        call = header["c"]
        more = header.get("final") is False
        listener = self._listeners.get(call) if more else self._listeners.pop(call, None)
        if listener is not None:
            listener(header, payload)

    # Writing

    def send(self, header: str, outgoing: Outgoing | None = None) -> None:
        """Sends one frame, whole. `header` is a JSON object."""
        if self.is_forked:
            self._refuse_fork()
        with self._writing:
            if self.responses.size != self._announced:
                self._announced = self.responses.size
                header = f'{header[:-1]},"arena":{self._announced}}}'
            self._write(frame(header, outgoing))
        if self._posted or self._released:
            self._flush()

    def call(self, listener: ReplyListener | None, header: str, outgoing: Outgoing | None = None) -> int:
        """Sends a `call`; `header` lacks its beginning up to `what`. Without a listener no reply is asked for."""
        if listener is None:
            self.send(f'{{"t":"call","c":0,{header}', outgoing)
            return 0
        with self._turn:
            self._calls += 1
            call = self._calls
            self._listeners[call] = listener
        try:
            self.send(f'{{"t":"call","c":{call},{header}', outgoing)
        except BaseException:
            self._listeners.pop(call, None)
            raise
        return call

    def post(self, header: str) -> None:
        """Sends a frame soon, without ever waiting: for `__del__`."""
        self._posted.append(header)
        self._flush()

    def release(self, offsets: list[int]) -> None:
        """Frees blocks of the request arena soon, without ever waiting: for `__del__`."""
        self._released.append(offsets)
        self._flush()

    def _flush(self) -> None:
        while (self._posted or self._released) and self._writing.acquire(blocking=False):
            try:
                self._write_posted()
            finally:
                self._writing.release()

    def _write_posted(self) -> None:
        if self.is_forked:
            self._posted.clear()
            self._released.clear()
        offsets: list[int] = []
        while self._released:
            offsets += self._released.popleft()
        frames = [frame(f'{{"t":"free","o":{offsets}}}')] if offsets else []
        while self._posted:
            frames.append(frame(self._posted.popleft()))
        if frames:
            self._write(b"".join(frames))

    def _write(self, data: bytes) -> None:
        self.writes += 1
        try:
            self.sock.sendall(data)
        except OSError:
            self.end()

    def _refuse_fork(self) -> None:
        if self.is_forked:
            raise RuntimeError("a process that a model forked cannot talk to the server")

    def end(self) -> None:
        """The server is gone: nothing this process does can matter to anybody."""
        from .process import end_group

        end_group()
