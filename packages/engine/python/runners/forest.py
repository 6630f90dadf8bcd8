"""The backend `fil`: trees of XGBoost and LightGBM, with the options of the original's Forest Inference Library."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import triton_python_backend_utils as pb_utils

from .batching import Arrays, RunError, answer
from .runner_config import LoadError, RunnerConfig, read_config

#: model_type → the file's name, as the original has it.
FILES = {
    "xgboost": "xgboost.model",
    "xgboost_json": "xgboost.json",
    "xgboost_ubj": "xgboost.ubj",
    "lightgbm": "model.txt",
}


@dataclass(frozen=True)
class Trees:
    """A model as three functions from rows of features."""

    features: int
    #: 1 for regression, 2 for a choice between two, else the number of classes.
    classes: int
    #: (rows,) for regression and a choice between two (the second's probability), else (rows, classes).
    predict: Callable[[np.ndarray], np.ndarray]
    explain: Callable[[np.ndarray], np.ndarray]


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        """Features and classes are in the model; its tensors have fixed names."""
        written = config.as_dict()
        parameters = {name: value.get("string_value", "") for name, value in written.get("parameters", {}).items()}
        found = RunnerConfig(
            model=written.get("name", ""),
            directory=pb_utils.get_model_dir(),
            filename=written.get("default_model_filename", ""),
            max_batch_size=int(written.get("max_batch_size", 0)),
            inputs=[],
            outputs=[],
            parameters=parameters,
        )
        trees = open_trees(found)
        width = trees.classes if found.flag("predict_proba") and trees.classes > 1 else 1
        named = {tensor["name"] for tensor in [*written.get("input", []), *written.get("output", [])]}
        if not named and found.max_batch_size == 0:
            config.set_max_batch_size(32)
            config.set_dynamic_batching()
        if "input__0" not in named:
            config.add_input({"name": "input__0", "data_type": "TYPE_FP32", "dims": [trees.features]})
        if "output__0" not in named:
            config.add_output({"name": "output__0", "data_type": "TYPE_FP32", "dims": [width]})
        return config

    def initialize(self, args: dict[str, str]) -> None:
        self._config = config = read_config(args)
        _check_specs(config)
        self._trees = trees = open_trees(config)
        wanted = config.inputs[0].dims
        if wanted[-1] not in (-1, trees.features):
            text = f"the model has {trees.features} features, but the model configuration specifies dims {wanted}"
            raise LoadError(f"unable to load model '{config.model}', input 'input__0': {text}")
        self._is_class = config.flag("output_class", trees.classes > 1)
        self._gives_all = config.flag("predict_proba")
        self._threshold = config.number("threshold", 0.5)
        self._explains = any(spec.name == "treeshap_output" for spec in config.outputs)

    def execute(self, requests: list) -> list:
        return answer(requests, self._config, self._call)

    def _call(self, arrays: Arrays) -> Arrays:
        rows = arrays["input__0"]
        if rows.ndim == 1:
            rows = rows.reshape(1, -1)
        if rows.ndim != 2 or rows.shape[1] != self._trees.features:
            raise RunError(f"expected {self._trees.features} features a row, got shape {list(rows.shape)}")
        outputs = {"output__0": self._decide(self._trees.predict(rows)).astype(np.float32)}
        if self._explains:
            outputs["treeshap_output"] = np.ascontiguousarray(self._trees.explain(rows), np.float32)
        return {name: _fit(array, self._config, name) for name, array in outputs.items()}

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        if not self._is_class:
            return scores
        if scores.ndim == 2:
            return scores if self._gives_all else scores.argmax(axis=1)
        if self._gives_all:
            return np.stack([1 - scores, scores], axis=1)
        return scores > self._threshold


def _fit(array: np.ndarray, config: RunnerConfig, name: str) -> np.ndarray:
    """One number a row has the shape [1] when the configuration says so; without batching the one row is the shape."""
    dims = next(spec.dims for spec in config.outputs if spec.name == name)
    if config.max_batch_size == 0:
        return array if array.ndim == len(dims) else array.reshape(-1 if -1 in dims else dims)
    return array.reshape(len(array), -1) if array.ndim == 1 and len(dims) == 1 else array


def _check_specs(config: RunnerConfig) -> None:
    names = [spec.name for spec in config.inputs]
    if names != ["input__0"]:
        raise LoadError(f"model '{config.model}' must have one input 'input__0', got {names}")
    names = [spec.name for spec in config.outputs]
    if "output__0" not in names or set(names) - {"output__0", "treeshap_output"}:
        raise LoadError(f"model '{config.model}' must have an output 'output__0' and may have 'treeshap_output', got {names}")
    for spec in [*config.inputs, *config.outputs]:
        if spec.datatype != "TYPE_FP32":
            raise LoadError(f"tensor '{spec.name}' of model '{config.model}' must be TYPE_FP32, got {spec.datatype}")


def open_trees(config: RunnerConfig) -> Trees:
    kind = config.parameters.get("model_type", "")
    if kind and kind not in FILES:
        known = ", ".join(FILES)
        fix = "save the model as XGBoost JSON or LightGBM text" if "treelite" in kind else f"known ones: {known}"
        raise LoadError(f"model_type '{kind}' of model '{config.model}' is not supported; {fix}")
    path = config.path(*([FILES[kind]] if kind else FILES.values()))
    is_lightgbm = kind == "lightgbm" or (not kind and path.endswith(".txt"))
    try:
        return _open_lightgbm(path) if is_lightgbm else _open_xgboost(path)
    except ImportError as error:
        raise LoadError(f"model '{config.model}' needs {error.name}: python3 -m pip install {error.name}") from error
    except Exception as error:
        raise LoadError(f"failed to load model '{config.model}': {str(error).split(chr(10))[0]}") from error


def _open_xgboost(path: str) -> Trees:
    import json

    import xgboost

    booster = xgboost.Booster(model_file=path)
    booster.set_param({"nthread": os.cpu_count() or 1})
    learner = json.loads(booster.save_config())["learner"]
    objective = learner["learner_train_param"]["objective"]
    several = int(learner["learner_model_param"]["num_class"])
    classes = several if several > 1 else 2 if objective.startswith("binary:") else 1
    if objective == "multi:softmax":
        # Its own answer is the class; the probabilities are those of softprob.
        booster.set_param({"objective": "multi:softprob"})

    def explain(rows: np.ndarray) -> np.ndarray:
        return booster.predict(xgboost.DMatrix(rows), pred_contribs=True)

    # No names of columns: clients send none.
    return Trees(booster.num_features(), classes, lambda rows: booster.inplace_predict(rows, validate_features=False), explain)


def _open_lightgbm(path: str) -> Trees:
    import lightgbm

    booster = lightgbm.Booster(model_file=path)
    several = booster.num_model_per_iteration()
    objective = str(booster.dump_model(num_iteration=1).get("objective", ""))
    classes = several if several > 1 else 2 if objective.startswith(("binary", "cross_entropy")) else 1

    def explain(rows: np.ndarray) -> np.ndarray:
        return booster.predict(rows, pred_contrib=True)

    return Trees(booster.num_feature(), classes, booster.predict, explain)
