"""The backend `sklearn`: estimators and pipelines of scikit-learn."""

from __future__ import annotations

import os
import warnings

import numpy as np
import triton_python_backend_utils as pb_utils

from .batching import Arrays, RunError, answer
from .runner_config import LoadError, RunnerConfig, TensorSpec, read_config

FILES = ("model.skops", "model.joblib", "model.pkl", "model.pickle")
#: What an output gives, by the beginning of its name; others: what comes next in the order of METHODS.
PREFIXES = {
    "predict_log_proba": "predict_log_proba",
    "predict_proba": "predict_proba",
    "prob": "predict_proba",
    "decision_function": "decision_function",
    "transform": "transform",
    "score_samples": "score_samples",
    "predict": "predict",
    "label": "predict",
    "class": "predict",
}
METHODS = ("predict", "predict_proba")


class TritonPythonModel:
    def initialize(self, args: dict[str, str]) -> None:
        self._config = config = read_config(args)
        for what, specs in (("input", config.inputs), ("output", config.outputs)):
            if not specs:
                raise LoadError(f"model configuration must contain at least one {what}, none were specified.")
        self._estimator = _open(config)
        self._methods = _choose_methods(self._estimator, config)

    def execute(self, requests: list) -> list:
        return answer(requests, self._config, self._call)

    def _call(self, arrays: Arrays) -> Arrays:
        features = _gather(arrays, self._config)
        outputs = {}
        for spec in self._config.outputs:
            try:
                found = getattr(self._estimator, self._methods[spec.name])(features)
            except Exception as error:
                raise RunError(f"scikit-learn execute failure: {error}") from error
            outputs[spec.name] = _fit(found, spec, self._config)
        return outputs


def _gather(arrays: Arrays, config: RunnerConfig) -> np.ndarray:
    """Several inputs are columns, in the order of the configuration."""
    parts = [_texts(arrays[spec.name]) for spec in config.inputs if spec.name in arrays]
    if config.max_batch_size == 0:
        parts = [part.reshape(1, -1) if part.ndim < 2 else part for part in parts]
    if len(parts) == 1:
        return parts[0]
    columns = [part.reshape(len(part), -1) for part in parts]
    kinds = {column.dtype.kind for column in columns}
    return np.concatenate([column.astype(object) for column in columns] if len(kinds) > 1 else columns, axis=1)


def _texts(array: np.ndarray) -> np.ndarray:
    if array.dtype != np.object_:
        return array
    decoded = [element.decode("utf-8") if isinstance(element, bytes) else element for element in array.ravel()]
    return np.array(decoded, dtype=object).reshape(array.shape)


def _fit(found, spec: TensorSpec, config: RunnerConfig) -> np.ndarray:
    """Labels are of any type, results may be sparse; what leaves is what the configuration says."""
    array = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    expected = pb_utils.triton_string_to_numpy(spec.datatype)
    if expected is np.object_:
        array = np.array([str(element).encode("utf-8") for element in array.ravel()], dtype=object).reshape(array.shape)
    elif array.dtype.kind in "OSU":
        raise RunError(f"configuration expects datatype {spec.datatype} for output '{spec.name}', model provides TYPE_STRING")
    else:
        array = array.astype(expected)
    if config.max_batch_size == 0:
        return array.reshape(spec.dims) if -1 not in spec.dims and array.size == np.prod(spec.dims) else array
    return array.reshape(len(array), -1) if array.ndim == 1 and len(spec.dims) == 1 else array


def _choose_methods(estimator, config: RunnerConfig) -> dict[str, str]:
    chosen = {}
    for position, spec in enumerate(config.outputs):
        prefix = next((one for one in PREFIXES if spec.name.lower().startswith(one)), None)
        method = PREFIXES[prefix] if prefix else METHODS[min(position, len(METHODS) - 1)]
        if not hasattr(estimator, method):
            text = f"output '{spec.name}' of model '{config.model}' needs '{method}', which {type(estimator).__name__} does not have"
            raise LoadError(text)
        chosen[spec.name] = method
    return chosen


def _open(config: RunnerConfig):
    path = config.path(*FILES)
    try:
        return _open_skops(path, config) if path.endswith(".skops") else _open_pickle(path, config)
    except LoadError:
        raise
    except ImportError as error:
        raise LoadError(f"model '{config.model}' needs {error.name}: python3 -m pip install {error.name}") from error
    except Exception as error:
        raise LoadError(f"failed to load model '{config.model}': {error}") from error


def _open_skops(path: str, config: RunnerConfig):
    """Types that are not scikit-learn's or numpy's own must be named: parameter TRUSTED_TYPES, separated by commas."""
    import skops.io

    trusted = [name.strip() for name in config.parameters.get("TRUSTED_TYPES", "").split(",") if name.strip()]
    unknown = [name for name in skops.io.get_untrusted_types(file=path) if name not in trusted]
    if unknown:
        names = ",".join(unknown)
        raise LoadError(f"model '{config.model}' has types that nobody trusts: name them in the parameter TRUSTED_TYPES: {names}")
    return skops.io.load(path, trusted=trusted)


def _open_pickle(path: str, config: RunnerConfig):
    name = os.path.basename(path)
    if not config.flag("ALLOW_PICKLE"):
        raise LoadError(
            f"'{name}' of model '{config.model}' is a pickle: to load it is to run whatever code its author put in. Save the "
            'model with skops instead, or, if you trust the file, set parameters { key: "ALLOW_PICKLE" value { string_value: "true" } }'
        )
    pb_utils.Logger.log_warn(f"loading the pickle '{name}' of model '{config.model}', which may run any code (ALLOW_PICKLE)")
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        model = _read_pickle(path)
    for warning in raised:
        # Above all: it was made with another version of scikit-learn.
        pb_utils.Logger.log_warn(f"model '{config.model}': {str(warning.message).split(chr(10))[0]}")
    return model


def _read_pickle(path: str):
    if path.endswith(".joblib"):
        import joblib

        return joblib.load(path)
    import pickle

    with open(path, "rb") as file:
        return pickle.load(file)  # noqa: S301 - allowed by the model's configuration
