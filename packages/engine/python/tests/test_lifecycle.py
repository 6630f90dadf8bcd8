"""Loading, initialize, auto_complete_config, is_ready, finalize."""

import re

import numpy as np
import pytest

from conftest import write_model
from fake_server import MODELS, Process

HEAD = "import triton_python_backend_utils as pb_utils\n"


@pytest.mark.parametrize(
    "code, text",
    [
        (
            "class TritonPythonModel:\n    def initialize(self, args):\n        raise RuntimeError('no way')\n",
            "RuntimeError: no way\n\nAt:\n  {file}(3): initialize\n",
        ),
        ("class Model:\n    x = 1\n", "AttributeError: module '1.model' has no attribute 'TritonPythonModel'"),
        ("import not_there\n", "ModuleNotFoundError: No module named 'not_there'\n\nAt:\n  {file}(1): <module>\n"),
        ("class TritonPythonModel:\n    def __init__(self): self.x\n", "'TritonPythonModel' object has no attribute 'x'"),
        ("import sys\nsys.exit('no licence')\n", "SystemExit: no licence\n\nAt:\n  {file}(2): <module>\n"),
    ],
)
def test_models_that_do_not_load(start, tmp_path, code, text):
    directory = write_model(tmp_path, code)
    told = start().init(directory)
    assert text.format(file=directory / "1" / "model.py") in told["message"]


def test_a_syntax_error(start, tmp_path):
    told = start().init(write_model(tmp_path, "class TritonPythonModel\n    pass\n"))
    assert re.fullmatch(r"SyntaxError: .+ \(model\.py, line 1\)", told["message"])


def test_a_missing_file_and_a_wrong_name(start, tmp_path):
    process = start()
    file = tmp_path / "m" / "1" / "model.py"
    assert process.init(tmp_path / "m")["message"] == f"Python model file not found in '{file}'"
    told = process.init(tmp_path / "m", file=str(tmp_path / "m" / "1" / "model.txt"))
    assert told["message"] == "Model name must end with '.py'. Model name is \"model.txt\"."


def test_siblings_version_and_model_directory(load, tmp_path):
    code = """
    import os, sys
    import beside
    import above
    from .beside import VALUE
    from . import package_part
    import triton_python_backend_utils as pb_utils
    import numpy as np

    class TritonPythonModel:
        def initialize(self, args):
            self.args = args
        def execute(self, requests):
            told = [__name__, __package__, pb_utils.get_model_dir(), repr(self.args == requests[0].parameters()), str(VALUE),
                    above.NAME, package_part.NAME, os.path.basename(__file__)] + sorted(self.args)
            return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array(told, dtype=object))])]
    """
    directory = write_model(tmp_path, code)
    (directory / "1" / "beside.py").write_text("VALUE = 5\n")
    (directory / "1" / "package_part").mkdir()
    (directory / "1" / "package_part" / "__init__.py").write_text("NAME = 'part'\n")
    (directory / "above.py").write_text("NAME = 'above'\n")
    answer = load(directory).infer({"IN": np.zeros(1)})
    told = [text.decode() for text in answer["OUT"]]
    assert told[:8] == ["1.model", "1", str(directory / "1"), "False", "5", "above", "part", "model.py"]
    assert told[8:] == [
        "model_config",
        "model_instance_device_id",
        "model_instance_kind",
        "model_instance_name",
        "model_name",
        "model_repository",
        "model_version",
    ]
    # A repository is not littered, and an edited file is never taken for the old one.
    assert not list(directory.rglob("__pycache__"))


def test_a_backend_in_python(start, tmp_path):
    """Its file lies outside the model, in a directory that may be named like an installed package."""
    code = """
    import json
    import numpy as np
    import triton_python_backend_utils as pb_utils
    class TritonPythonModel:
        def execute(self, requests):
            told = [json.__file__, pb_utils.get_model_dir(), __name__]
            return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array(told, dtype=object))])]
    """
    backend = tmp_path / "json"
    backend.mkdir()
    (backend / "model.py").write_text(__import__("textwrap").dedent(code))
    (tmp_path / "m" / "1").mkdir(parents=True)
    process = start()
    assert process.init(tmp_path / "m", file=str(backend / "model.py"))["t"] == "ready"
    told = process.infer({"IN": np.zeros(1)})["OUT"]
    assert told[0].endswith(b"json/__init__.py") and told[1:] == [str(tmp_path / "m" / "1").encode(), b"1.model"]


def test_python_path_is_appended(load, tmp_path):
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "from_outside.py").write_text("VALUE = 7\n")
    process = load("import from_outside\nclass TritonPythonModel: pass\n", python_path=[str(extra)])
    assert process.stop() == 0


def test_finalize_and_its_exceptions(load):
    process = load("class TritonPythonModel:\n    def finalize(self):\n        print('bye bye')\n        raise ValueError('x')\n")
    assert process.stop() == 0
    assert "bye bye" in process.output() and "ValueError: x" in process.output()


def test_stop_before_anything(start):
    assert start().stop() == 0


def test_finalize_comes_after_the_tasks_of_the_loop(load):
    process = load(
        """
        import asyncio
        import triton_python_backend_utils as pb_utils
        class TritonPythonModel:
            async def execute(self, requests):
                await asyncio.sleep(0.1)
                requests[0].get_response_sender().send(flags=1)
                print("task is over")
            def finalize(self):
                print("finalize")
        """,
        decoupled=True,
    )
    process.run({"IN": np.zeros(1)})
    process.answer()
    assert process.stop() == 0
    assert process.output().splitlines() == ["task is over", "finalize"]


def test_a_stop_waits_for_threads_that_still_answer(load):
    process = load(
        """
        import threading, time
        import triton_python_backend_utils as pb_utils
        class TritonPythonModel:
            def execute(self, requests):
                threading.Thread(target=self.answer, args=(requests[0].get_response_sender(),)).start()
            def answer(self, sender):
                time.sleep(0.2)
                sender.send(flags=1)
        """,
        decoupled=True,
    )
    process.run({"IN": np.zeros(1)})
    process.answer()
    process.send({"t": "stop"})
    assert process.sent() == (1, None, True)
    process.expect("bye")


@pytest.mark.parametrize(
    "body, expected",
    [
        ("return True", {"value": True}),
        ("return False", {"value": False}),
        ("return 1", {"error": ["INTERNAL", "is_ready() must return a boolean value"]}),
    ],
)
def test_is_ready(load, body, expected):
    for prefix in ("", "async "):
        process = load(f"class TritonPythonModel:\n    {prefix}def is_ready(self):\n        {body}\n")
        process.send({"t": "is_ready", "c": 5})
        assert process.expect("reply")[0] == {"t": "reply", "c": 5, **expected}


def test_is_ready_that_raises_and_that_is_missing(load, start):
    process = load("class TritonPythonModel:\n    def is_ready(self):\n        raise ValueError('warming up')\n")
    process.send({"t": "is_ready", "c": 1})
    assert process.expect("reply")[0]["error"][1].startswith("ValueError: warming up\n\nAt:\n")
    process = start()
    assert process.init(MODELS / "square") == {"t": "ready", "is_ready": False}


# auto_complete_config


def complete(process: Process, directory, config: dict) -> dict:
    args = process.arguments(directory, config)
    process.send(
        {
            "t": "complete",
            "config": config,
            "args": args,
            "file": f"{directory}/1/model.py",
            "version_dir": f"{directory}/1",
            "name": config.get("name", ""),
            "python_path": [],
        }
    )
    return process.expect("completed", "failed")[0]


def test_a_model_completes_its_config(start):
    told = complete(start(), MODELS / "auto_complete", {"name": "auto_complete", "input": [{"name": "INPUT1", "dims": [9]}]})
    assert told["config"] == {
        "name": "auto_complete",
        "input": [
            {"name": "INPUT1", "dims": [9]},
            {"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]},
            {"name": "SCALE", "data_type": "TYPE_FP32", "dims": [1], "optional": True},
        ],
        "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
        "max_batch_size": 4,
        "dynamic_batching": {},
    }


def test_without_the_method_a_config_stays(start):
    assert complete(start(), MODELS / "square", {"name": "square", "x": 1})["config"] == {"name": "square", "x": 1}


@pytest.mark.parametrize("returned", ["None", "{}", "c.as_dict()"])
def test_a_config_that_is_not_returned(start, tmp_path, returned):
    code = f"class TritonPythonModel:\n    @staticmethod\n    def auto_complete_config(c):\n        return {returned}\n"
    told = complete(start(), write_model(tmp_path, code, "mm"), {"name": "mm"})
    text = "auto_complete_config function in model 'mm' must return a valid pb.ModelConfig object."
    assert told == {"t": "failed", "message": text}


def test_an_exception_in_auto_complete(start, tmp_path):
    code = "class TritonPythonModel:\n    @staticmethod\n    def auto_complete_config(c):\n        raise Exception('ac')\n"
    directory = write_model(tmp_path, code)
    told = complete(start(), directory, {"name": "m"})
    assert told["message"] == f"Exception: ac\n\nAt:\n  {directory}/1/model.py(4): auto_complete_config\n"


@pytest.mark.parametrize("value", ["float('nan')", "object()", "{1, 2}"])
def test_a_config_that_is_no_json(start, tmp_path, value):
    code = f"class TritonPythonModel:\n    def auto_complete_config(c):\n        c.as_dict()['x'] = {value}\n        return c\n"
    process = start()
    assert complete(process, write_model(tmp_path, code), {"name": "m"})["t"] == "failed"
    assert process.stop() == 0


def test_the_directory_is_known_while_completing(start, tmp_path):
    code = HEAD + "class TritonPythonModel:\n    def auto_complete_config(c):\n        c.as_dict()['d'] = pb_utils.get_model_dir()\n        return c\n"
    directory = write_model(tmp_path, code)
    assert complete(start(), directory, {"name": "m"})["config"]["d"] == str(directory / "1")


def test_preprocessing_with_a_sibling_and_a_file(load):
    answer = load(MODELS / "preprocessing").infer({"TEXT": ["The grüne Fern", "fern, the cat"]}, outs=["IDS", "LOWER"])
    assert answer["IDS"].tolist() == [[1, 3, 2], [2, 1, 0]]
    assert answer["LOWER"] == ["the grüne fern".encode(), b"fern the cat"]


def test_errors_of_single_requests(load):
    process = load(MODELS / "error_handling")
    process.run(*[{"IN": np.array([n])} for n in range(4)])
    answers = process.answer()
    assert [a["OUT"][0] if "OUT" in a else a["error"] for a in answers] == [
        0,
        ["INVALID_ARG", "request 1 is odd"],
        2,
        ["CANCELLED", "request 3 is odd"],
    ]


def test_dlpack_both_ways(load):
    process = load(MODELS / "dlpack")
    inputs = {
        "PROTOCOL": np.arange(4, dtype=np.float32).reshape(2, 2),
        "B": ("BF16", [2], b"\x80\x3f\x00\x40"),
        "FLAG": np.array([True, False]),
        "BIG": np.arange(40_000, dtype=np.int64),
    }
    for _ in range(3):
        answer = process.infer(inputs, outs=["PROTOCOL_OUT", "B_OUT", "FLAG_OUT", "BIG_OUT"])
        assert answer["PROTOCOL_OUT"].tolist() == [[0, 2], [4, 6]] and answer["FLAG_OUT"].tolist() == [True, False]
        assert answer["B_OUT"].tolist() == [0x3F80, 0x4000] and np.array_equal(answer["BIG_OUT"], inputs["BIG"])
    process.infer({"FLAG": np.array([True])}, outs=[])
    assert process.lent == {}


def test_add_sub_with_its_config(load):
    config = {"output": [{"name": "OUTPUT0", "data_type": "TYPE_INT8"}, {"name": "OUTPUT1", "data_type": "TYPE_FP64"}]}
    process = load(MODELS / "add_sub", config)
    answer = process.infer({"INPUT0": np.array([5], np.int32), "INPUT1": np.array([3], np.int32)})
    assert answer["OUTPUT0"].dtype == np.int8 and answer["OUTPUT0"] == [8] and answer["OUTPUT1"] == [2.0]
