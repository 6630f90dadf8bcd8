"""Wrong arguments are told as the original's compiled classes tell them."""

from __future__ import annotations

NATIVE = "c_python_backend_utils"


class TritonModelException(Exception):
    """What the API raises for arguments that are well-typed but wrong, and for calls that failed."""


TritonModelException.__module__ = NATIVE


def refuse_arguments(function: str, signature: str, args: tuple, kind: str = "constructor") -> TypeError:
    """The TypeError for arguments that fit no signature."""
    invoked = ", ".join(_describe(value) for value in args)
    return TypeError(
        f"{function}(): incompatible {kind} arguments. The following argument types are supported:\n"
        f"    1. {signature}\n\nInvoked with: {invoked}"
    )


def _describe(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - __repr__ is the model's
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 500 else text[:500] + "…"


def is_integer(value: object) -> bool:
    """Integers as the compiled classes take them: no booleans' cousins like floats or texts."""
    return hasattr(value, "__index__")
