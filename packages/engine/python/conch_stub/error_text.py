"""How an exception is told to the server: the text that the original gets from pybind11."""

from __future__ import annotations

import os

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: A header has a limit; nobody reads more of an error than this.
MAX_TEXT = 256 * 1024


def cut_text(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


def describe_exception(error: BaseException) -> str:
    """`Type: message`, and where it was raised, innermost first, as far as the code is not this process's own."""
    text = f"{type(error).__name__}: {_message(error)}"
    frames = _frames(error)
    if frames:
        text += "\n\nAt:\n" + "".join(f"  {file}({line}): {function}\n" for file, line, function in reversed(frames))
    return cut_text(text)


def print_exception(error: BaseException) -> None:
    """Puts the traceback into the model's log, whatever state the model left its streams in."""
    try:
        import sys
        import traceback

        lines = traceback.format_exception(type(error), error, strip_own_frames(error))
        print(cut_text("".join(lines)).rstrip("\n"), file=sys.stderr, flush=True)
    except BaseException:  # noqa: BLE001 - the model may have replaced stderr by anything
        pass


def strip_own_frames(error: BaseException):
    """The traceback without the frames of this process at its outer end."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    return trace


def _message(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "backslashreplace").decode() or "<EMPTY MESSAGE>"
    except BaseException:  # noqa: BLE001 - __str__ is the model's
        return "<MESSAGE UNAVAILABLE DUE TO ANOTHER EXCEPTION>"


def _frames(error: BaseException) -> list[tuple[str, int, str]]:
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        file = code.co_filename
        if not file.startswith(_OURS) and not file.startswith("<frozen importlib"):
            frames.append((file, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return frames if len(frames) <= 200 else frames[:20] + frames[-180:]
