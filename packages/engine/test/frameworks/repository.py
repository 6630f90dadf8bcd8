"""A model repository and the requests that are sent to it, written by the scripts beside this file."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version

import numpy as np

DATATYPES = {
    "bool": "BOOL", "int32": "INT32", "int64": "INT64", "float16": "FP16", "float32": "FP32", "float64": "FP64",
}  # fmt: skip


class Repository:
    """`cases.json` in the given directory says what to ask and what must come back."""

    def __init__(self, packages: list[str]) -> None:
        self.directory = sys.argv[1]
        self.models = os.path.join(self.directory, "models")
        self.packages = {package: version(package) for package in packages}
        self.cases: list[dict] = []

    def add(self, name: str, config: str) -> str:
        """The directory of the model's version 1."""
        directory = os.path.join(self.models, name, "1")
        os.makedirs(directory)
        with open(os.path.join(self.models, name, "config.pbtxt"), "w") as file:
            file.write(config)
        return directory

    def ask(self, model: str, what: str, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> None:
        expected = [describe(name, array) for name, array in outputs.items()]
        sent = [describe(name, array) for name, array in inputs.items()]
        self.cases.append({"model": model, "what": what, "inputs": sent, "outputs": expected})

    def refuse(self, model: str, what: str, text: str) -> None:
        """The model must not load, and the reason must hold `text`."""
        self.cases.append({"model": model, "what": what, "loadError": text})

    def fail(self, model: str, what: str, inputs: dict[str, np.ndarray], text: str) -> None:
        """The request must be answered with an error that holds `text`."""
        sent = [describe(name, array) for name, array in inputs.items()]
        self.cases.append({"model": model, "what": what, "inputs": sent, "error": text})

    def save(self) -> None:
        with open(os.path.join(self.directory, "cases.json"), "w") as file:
            json.dump({"python": ".".join(map(str, sys.version_info[:3])), "packages": self.packages, "cases": self.cases}, file)


def describe(name: str, array: np.ndarray) -> dict:
    datatype = DATATYPES.get(array.dtype.name, "BYTES")
    data = [str(value) for value in array.ravel()] if datatype == "BYTES" else array.ravel().tolist()
    return {"name": name, "datatype": datatype, "shape": list(array.shape), "data": data}


def tensor(kind: str, name: str, datatype: str, dims: list[int]) -> str:
    return f'{kind} {{ name: "{name}" data_type: TYPE_{datatype} dims: {dims} }}\n'


def parameter(name: str, value: str) -> str:
    return f'parameters {{ key: "{name}" value {{ string_value: "{value}" }} }}\n'
