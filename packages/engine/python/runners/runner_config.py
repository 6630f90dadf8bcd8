"""What the runners read in a model's configuration."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

import triton_python_backend_utils as pb_utils


class LoadError(Exception):
    """Why a model cannot be run."""


@dataclass(frozen=True)
class TensorSpec:
    name: str
    datatype: str
    dims: list[int]


@dataclass(frozen=True)
class RunnerConfig:
    model: str
    directory: str
    filename: str
    max_batch_size: int
    inputs: list[TensorSpec]
    outputs: list[TensorSpec]
    parameters: dict[str, str] = field(default_factory=dict)
    kind: str = "CPU"
    device: int = 0
    runtime: str = ""

    def path(self, *candidates: str) -> str:
        """The model's file or directory: what the configuration names, else the first candidate that is there."""
        names = [self.filename] if self.filename else list(candidates)
        for name in names:
            path = os.path.join(self.directory, name)
            if os.path.exists(path):
                return path
        shown = f"'{names[0]}'" if len(names) == 1 else f"any of {', '.join(names)}"
        raise LoadError(f"unable to find {shown} in the version's directory of model '{self.model}'")

    def flag(self, name: str, preset: bool = False) -> bool:
        text = self.parameters.get(name)
        if text is None:
            return preset
        if text.lower() in ("true", "on", "1"):
            return True
        if text.lower() in ("false", "off", "0"):
            return False
        raise LoadError(f"failed to convert '{text}' to boolean (parameter {name} of model '{self.model}')")

    def number(self, name: str, preset: float | None = None) -> float | None:
        text = self.parameters.get(name)
        if text is None:
            return preset
        try:
            return float(text)
        except ValueError:
            kind = "double number" if preset is not None else "integral number"
            raise LoadError(f"failed to convert '{text}' to {kind} (parameter {name} of model '{self.model}')") from None

    def count(self, name: str) -> int:
        """0 = not set."""
        value = self.number(name)
        return 0 if value is None or value < 1 else int(value)


def read_config(args: dict[str, str]) -> RunnerConfig:
    config = json.loads(args["model_config"])
    return RunnerConfig(
        model=args["model_name"],
        directory=pb_utils.get_model_dir(),
        filename=config.get("default_model_filename", ""),
        max_batch_size=int(config.get("max_batch_size", 0)),
        inputs=_read_specs(config.get("input", [])),
        outputs=_read_specs(config.get("output", [])),
        parameters={name: value.get("string_value", "") for name, value in config.get("parameters", {}).items()},
        kind=args.get("model_instance_kind", "CPU"),
        device=int(args.get("model_instance_device_id", "0") or 0),
        runtime=config.get("runtime", ""),
    )


def _read_specs(tensors: list[dict]) -> list[TensorSpec]:
    specs = []
    for tensor in tensors:
        dims = tensor.get("reshape", {}).get("shape", tensor.get("dims", []))
        specs.append(TensorSpec(tensor["name"], tensor.get("data_type", "TYPE_INVALID"), [int(dim) for dim in dims]))
    return specs
