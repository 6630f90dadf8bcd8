"""Which input or output of a model a name of the configuration means."""

from __future__ import annotations

import re

import triton_python_backend_utils as pb_utils

_INDEXED = re.compile(r"^.*__(\d+)$")


def parse_index(name: str) -> int | None:
    """`INPUT__0` → 0."""
    match = _INDEXED.match(name)
    return None if match is None else int(match.group(1))


def place_inputs(model: str, names: list[str], arguments: list[str]) -> dict[str, int]:
    """Name → position: the names of the arguments, else `<name>__<index>` for all, else the order of the configuration."""
    if all(name in arguments for name in names):
        return {name: arguments.index(name) for name in names}
    indices = [parse_index(name) for name in names]
    if all(index is not None for index in indices):
        return dict(zip(names, indices))
    odd = next(name for name, index in zip(names, indices) if index is None)
    pb_utils.Logger.log_warn(
        f"input '{odd}' or previous input(s) are neither an input argument to the model '{model}' nor do they follow "
        "the <name>__<index> naming convention. Falling back to enforcing strict ordering from model configuration."
    )
    return {name: position for position, name in enumerate(names)}


def place_outputs(model: str, names: list[str]) -> dict[str, int]:
    """Name → position: `<name>__<index>` for all, else the order of the configuration."""
    indices = [parse_index(name) for name in names]
    if all(index is not None for index in indices):
        return dict(zip(names, indices))
    odd = next(name for name, index in zip(names, indices) if index is None)
    pb_utils.Logger.log_warn(
        f"output '{odd}' or previous output(s) of the model '{model}' do not follow the <name>__<index> naming "
        "convention. Falling back to enforcing strict ordering from model configuration."
    )
    return {name: position for position, name in enumerate(names)}
