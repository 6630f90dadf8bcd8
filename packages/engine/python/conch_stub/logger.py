"""Lines for the server's log, each with the file and line of the model that wrote it."""

from __future__ import annotations

import os
import sys
from enum import IntEnum

from .arguments import NATIVE, refuse_arguments
from .error_text import cut_text
from .wire import encode


class LogLevel(IntEnum):
    INFO = 0
    WARNING = 1
    ERROR = 2
    VERBOSE = 3


_LEVELS = {
    LogLevel.INFO: "info",
    LogLevel.WARNING: "warning",
    LogLevel.ERROR: "error",
    LogLevel.VERBOSE: "verbose",
}
_SIGNATURE = "(message: str, level: c_python_backend_utils.LogLevel = INFO) -> None"


class Logger:
    """Used as it is: there is no object to make."""

    INFO = LogLevel.INFO
    WARNING = LogLevel.WARNING
    ERROR = LogLevel.ERROR
    VERBOSE = LogLevel.VERBOSE

    @staticmethod
    def log(message: str, level: LogLevel = LogLevel.INFO) -> None:
        _log("log", message, level)

    @staticmethod
    def log_info(message: str) -> None:
        _log("log_info", message, LogLevel.INFO)

    @staticmethod
    def log_warn(message: str) -> None:
        _log("log_warn", message, LogLevel.WARNING)

    @staticmethod
    def log_error(message: str) -> None:
        _log("log_error", message, LogLevel.ERROR)

    @staticmethod
    def log_verbose(message: str) -> None:
        _log("log_verbose", message, LogLevel.VERBOSE)


LogLevel.__module__ = Logger.__module__ = NATIVE


def _log(function: str, message: str, level: LogLevel) -> None:
    if not isinstance(message, str) or not isinstance(level, LogLevel):
        raise refuse_arguments(function, _SIGNATURE, (message, level), "function")
    from .session import current_session

    session = current_session()
    if level is LogLevel.VERBOSE and not session.verbose:
        return
    caller = sys._getframe(2)
    fields = {
        "t": "log",
        "level": _LEVELS[level],
        "text": cut_text(message),
        "file": os.path.basename(caller.f_code.co_filename),
        "line": caller.f_lineno,
    }
    session.connection.send(encode(fields))
