"""The runners' own part: no framework is needed for these."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils

from runners import runner_config
from runners.batching import RunError, SplitError, answer, check_datatype, name_datatype
from runners.naming import parse_index, place_inputs, place_outputs
from runners.runner_config import LoadError, RunnerConfig, TensorSpec, read_config


class Request:
    def __init__(self, outputs: list[str] | None = None, **inputs: np.ndarray) -> None:
        self._inputs = [pb_utils.Tensor(name, array) for name, array in inputs.items()]
        self._outputs = ["OUT"] if outputs is None else outputs

    def inputs(self) -> list:
        return self._inputs

    def requested_output_names(self) -> list[str]:
        return self._outputs


def config(batch: int, **changes) -> RunnerConfig:
    given = dict(inputs=[TensorSpec("IN", "TYPE_FP32", [2])], outputs=[TensorSpec("OUT", "TYPE_FP32", [2])], parameters={})
    return RunnerConfig(model="m", directory="/nowhere", filename="", max_batch_size=batch, **{**given, **changes})


def rows(count: int, start: float = 0) -> np.ndarray:
    return np.arange(start, start + 2 * count, dtype=np.float32).reshape(count, 2)


def told(response) -> tuple[str, int]:
    return response.error().message(), response.error().code()


def outputs(response) -> dict[str, list]:
    return {tensor.name(): tensor.as_numpy().tolist() for tensor in response.output_tensors()}


def test_a_batch_is_one_call_and_each_gets_its_rows():
    calls = []

    def run(arrays):
        calls.append(arrays["IN"].shape)
        return {"OUT": arrays["IN"] * 2, "OTHER": arrays["IN"]}

    requests = [Request(IN=rows(1)), Request(IN=rows(3, 10)), Request(outputs=[], IN=rows(2))]
    first, second, third = answer(requests, config(8), run)
    assert calls == [(6, 2)]
    assert outputs(first) == {"OUT": (rows(1) * 2).tolist()}
    assert outputs(second) == {"OUT": (rows(3, 10) * 2).tolist()}
    assert outputs(third) == {}


def test_without_batching_each_is_a_call_and_fails_alone():
    def run(arrays):
        if arrays["IN"][0, 0] == 10:
            raise ValueError("no tens")
        return {"OUT": arrays["IN"]}

    good, bad = answer([Request(IN=rows(1)), Request(IN=rows(1, 10))], config(0), run)
    assert outputs(good) == {"OUT": rows(1).tolist()}
    assert told(bad) == ("ValueError: no tens", pb_utils.TritonError.INTERNAL)


def test_a_failed_call_is_told_to_all_of_the_batch():
    def run(arrays):
        raise RunError("PyTorch execute failure: no")

    responses = answer([Request(IN=rows(1)), Request(IN=rows(2))], config(8), run)
    assert [told(response)[0] for response in responses] == ["PyTorch execute failure: no"] * 2


@pytest.mark.parametrize("made, got", [(rows(2), 2), (rows(5), 5), (np.float32(1), 0)])
def test_another_number_of_rows_is_the_original_s_error(made, got):
    (response,) = answer([Request(IN=rows(3))], config(8), lambda arrays: {"OUT": np.asarray(made)})
    text = f"failed to split the output tensor 'OUT' in responses: expected batch size of at least 3 in model output, got {got}"
    assert told(response) == (text, pb_utils.TritonError.UNSUPPORTED)
    assert issubclass(SplitError, RunError)


def test_datatypes_have_the_configuration_s_names():
    assert [name_datatype(np.dtype(one)) for one in ("f4", "i8", "?", "O", "c8")] == [
        "TYPE_FP32", "TYPE_INT64", "TYPE_BOOL", "TYPE_STRING", "TYPE_INVALID",
    ]  # fmt: skip
    check_datatype(TensorSpec("OUT", "TYPE_FP32", [2]), rows(1))
    with pytest.raises(RunError, match="expects datatype TYPE_INT32 for output 'OUT', model provides TYPE_FP32"):
        check_datatype(TensorSpec("OUT", "TYPE_INT32", [2]), rows(1))


def test_inputs_are_found_by_argument_then_index_then_order(monkeypatch):
    said = []
    monkeypatch.setattr(pb_utils.Logger, "log_warn", staticmethod(said.append))
    assert place_inputs("m", ["b", "a"], ["a", "b", "c"]) == {"b": 1, "a": 0}
    assert place_inputs("m", ["INPUT__1", "x__0"], ["a", "b"]) == {"INPUT__1": 1, "x__0": 0}
    assert said == []
    assert place_inputs("m", ["INPUT__1", "odd"], ["a", "b"]) == {"INPUT__1": 0, "odd": 1}
    assert said[0].startswith("input 'odd' or previous input(s) are neither an input argument to the model 'm'")
    assert place_outputs("m", ["O__1", "O__0"]) == {"O__1": 1, "O__0": 0}
    assert place_outputs("m", ["O", "P"]) == {"O": 0, "P": 1}
    assert said[1].startswith("output 'O' or previous output(s) of the model 'm' do not follow")
    assert [parse_index(name) for name in ("a__12", "a_1", "__3", "a__b")] == [12, None, 3, None]


def test_what_the_configuration_says(monkeypatch, tmp_path):
    monkeypatch.setattr(runner_config.pb_utils, "get_model_dir", lambda: str(tmp_path))
    written = {
        "max_batch_size": 4,
        "default_model_filename": "",
        "input": [{"name": "A", "data_type": "TYPE_FP32", "dims": [1], "reshape": {"shape": []}}],
        "output": [{"name": "B", "data_type": "TYPE_STRING", "dims": ["-1"]}],
        "parameters": {"ON": {"string_value": "TRUE"}, "COUNT": {"string_value": "3"}, "BAD": {"string_value": "x"}},
    }
    args = {"model_config": json.dumps(written), "model_name": "m", "model_instance_kind": "GPU", "model_instance_device_id": "1"}
    found = read_config(args)
    assert found.inputs == [TensorSpec("A", "TYPE_FP32", [])]
    assert found.outputs == [TensorSpec("B", "TYPE_STRING", [-1])]
    assert (found.kind, found.device, found.max_batch_size) == ("GPU", 1, 4)
    assert (found.flag("ON"), found.flag("OFF"), found.flag("OFF", True)) == (True, False, True)
    assert (found.count("COUNT"), found.count("NONE"), found.number("NONE", 0.5)) == (3, 0, 0.5)
    with pytest.raises(LoadError, match="failed to convert 'x' to boolean"):
        found.flag("BAD")
    with pytest.raises(LoadError, match="failed to convert 'x' to integral number"):
        found.count("BAD")
    with pytest.raises(LoadError, match="failed to convert 'x' to double number"):
        found.number("BAD", 0.5)


def test_the_first_file_that_is_there(tmp_path):
    there = replace(config(0), directory=str(tmp_path))
    with pytest.raises(LoadError, match="unable to find any of a, b in the version's directory of model 'm'"):
        there.path("a", "b")
    (tmp_path / "b").write_text("")
    assert there.path("a", "b") == str(tmp_path / "b")
    with pytest.raises(LoadError, match="unable to find 'c'"):
        replace(there, filename="c").path("a", "b")
