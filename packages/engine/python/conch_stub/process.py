"""What this process is to the system: its group, signals, streams, descriptors."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys

DESCRIPTORS = (3, 4, 5)


def lead_group() -> None:
    """Makes this process the head of its group, so that whatever a model starts can be ended with it."""
    if os.getpgrp() != os.getpid():
        try:
            os.setpgid(0, 0)
        except OSError:
            pass


def end_group() -> None:
    """Ends this process at once, and every process of its group."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def leave(code: int) -> None:
    """Ends this process in good order: exit functions run, threads of the model are not waited for, helpers get a SIGTERM."""
    import atexit

    try:
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 - they are the model's
        pass
    flush_streams()
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(os.getpid(), signal.SIGTERM)
    os._exit(code)


def prepare_process() -> None:
    """Done once, before a model's code runs."""
    # Ctrl-C in a terminal is for the server, which stops its models itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in DESCRIPTORS:
        os.set_inheritable(descriptor, False)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    # The Python lines that led to a segmentation fault, for the log.
    faulthandler.enable()
    restore_library_path()


def restore_library_path() -> None:
    """An environment's libraries come first for this process only, not for the programs that a model starts."""
    path, environment = os.environ.get("LD_LIBRARY_PATH"), os.environ.get("VIRTUAL_ENV")
    if not path or not environment:
        return
    first, _, rest = path.partition(":")
    if os.path.normpath(first) == os.path.join(os.path.normpath(environment), "lib"):
        if rest:
            os.environ["LD_LIBRARY_PATH"] = rest
        else:
            del os.environ["LD_LIBRARY_PATH"]


def leave_conversation_after_fork(connection) -> None:
    """A process that a model forks must not keep the socket open, nor write into the memory it shares with this one."""
    os.register_at_fork(after_in_child=connection.leave)


def flush_streams() -> None:
    """What was printed without an end of line is seen when the batch is over."""
    try:
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - the model may have replaced or closed it
        pass
