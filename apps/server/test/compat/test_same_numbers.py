"""tritonclient against the server gets the numbers that Python's ONNX Runtime gets from the same file."""
import json
import pathlib
import re

import numpy as np
import onnxruntime
import pytest
import tritonclient.http as client
from tritonclient.utils import np_to_triton_dtype

EXAMPLES = pathlib.Path(__file__).resolve().parents[4] / "examples"
RNG = np.random.default_rng


def floats(*shape, low=-1.0, high=1.0):
    return lambda n: RNG(n).uniform(low, high, [n if d == "n" else d for d in shape]).astype(np.float32)


def integers(dtype, high, *shape):
    return lambda n: RNG(n).integers(0, high, [n if d == "n" else d for d in shape]).astype(dtype)


def ones(dtype, *shape):
    return lambda n: np.ones([n if d == "n" else d for d in shape], dtype)


VOICE = {"input": floats("n", 576), "state": floats(2, "n", 128), "sr": lambda n: np.array(16000, np.int64)}
EXAMPLE_MODELS = {
    "digits": {"input": integers(np.float32, 17, "n", 64)},
    "iris": {"input": floats("n", 4, low=0.1, high=7.0)},
    "add_sub": {"INPUT0": floats("n", 16), "INPUT1": floats("n", 16, low=-1e6, high=1e6)},
    "identity_fp32": {"IN": floats("n", 33, low=-1e-3, high=1e-3)},
    "silero_vad": VOICE,
}
ZOO_MODELS = {
    "minilm": {"input_ids": integers(np.int64, 30522, "n", 12), "attention_mask": ones(np.int64, "n", 12), "token_type_ids": lambda n: np.zeros((n, 12), np.int64)},
    "magika": {"bytes": integers(np.int32, 257, "n", 2048)},
    "efficientnet": {"input": floats("n", 3, 224, 224)},
    "ocr_det": {"x": floats("n", 3, 96, 160)},
    "ocr_rec": {"x": floats("n", 3, 48, 160)},
    "ocr_cls": {"x": floats("n", 3, 48, 192)},
}
MODELS = [pytest.param(name, id=name) for name in [*EXAMPLE_MODELS, *ZOO_MODELS]]


def find_folder(name, zoo_model):
    return EXAMPLES / "models" / name if name in EXAMPLE_MODELS else zoo_model(name)


def ask(address, name, inputs, binary):
    """A scalar travels as [1]; the model's config says so too."""
    tensors = []
    for key, value in inputs.items():
        value = np.atleast_1d(value)
        tensors.append(client.InferInput(key, value.shape, np_to_triton_dtype(value.dtype)).set_data_from_numpy(value, binary_data=binary))
    with client.InferenceServerClient(address, network_timeout=100, connection_timeout=10) as c:
        names = [o["name"] for o in c.get_model_metadata(name)["outputs"]]
        result = c.infer(name, tensors, outputs=[client.InferRequestedOutput(o, binary_data=binary) for o in names])
        return {o: result.as_numpy(o) for o in names}


def check_same(got, expected):
    assert sorted(got) == sorted(expected)
    for name, value in expected.items():
        # Outputs without a dimension per item are given one by the config.
        mine = got[name].reshape(value.shape)
        assert mine.dtype == value.dtype
        if np.issubdtype(value.dtype, np.floating):
            np.testing.assert_allclose(mine, value, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(mine, value, err_msg=name)


@pytest.mark.parametrize("binary", [True, False], ids=["binary", "json"])
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("name", MODELS)
def test_numbers(name, batch, binary, server, zoo_model):
    folder = find_folder(name, zoo_model)
    inputs = {key: make(batch) for key, make in (EXAMPLE_MODELS | ZOO_MODELS)[name].items()}
    session = onnxruntime.InferenceSession(str(folder / "1" / "model.onnx"), providers=["CPUExecutionProvider"])
    expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    check_same(ask(server(name, folder), name, inputs, binary), expected)


@pytest.mark.parametrize("name", ["add_sub", "identity_fp32"])
def test_both_forms_are_bit_exact(name, server, zoo_model):
    """Where there is nothing to round, JSON and binary answers are the same bits as the runtime's."""
    folder = find_folder(name, zoo_model)
    inputs = {key: make(8) for key, make in EXAMPLE_MODELS[name].items()}
    session = onnxruntime.InferenceSession(str(folder / "1" / "model.onnx"), providers=["CPUExecutionProvider"])
    expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    for binary in (True, False):
        for key, value in ask(server(name, folder), name, inputs, binary).items():
            assert value.tobytes() == expected[key].tobytes()


SAMPLES = sorted((EXAMPLES / "samples").glob("*/*.json"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_samples_are_answered(path, server):
    """Every sample body in the repository works as it stands."""
    import urllib.request
    name = path.parent.name
    for step in re.findall(r'model_name: "(\w+)"', (EXAMPLES / "models" / name / "config.pbtxt").read_text()):
        server(step, EXAMPLES / "models" / step)
    address = server(name, EXAMPLES / "models" / name)
    with urllib.request.urlopen(f"http://{address}/v2/models/{name}/infer", data=path.read_bytes(), timeout=60) as answer:
        outputs = json.load(answer)["outputs"]
    assert outputs and all(o["data"] for o in outputs)


@pytest.mark.parametrize("picture,digit", [("zero", 0), ("three", 3), ("seven", 7)])
def test_digits_are_right(picture, digit, server):
    import urllib.request
    address = server("digits", EXAMPLES / "models" / "digits")
    body = (EXAMPLES / "samples" / "digits" / f"{picture}.json").read_bytes()
    with urllib.request.urlopen(f"http://{address}/v2/models/digits/infer", data=body, timeout=60) as answer:
        by_name = {o["name"]: o["data"] for o in json.load(answer)["outputs"]}
    assert by_name["label"] == [digit] and by_name["probabilities"][0].endswith(f":{digit}:{digit}")


def test_voice_is_told_from_silence(server):
    import urllib.request
    address = server("silero_vad", EXAMPLES / "models" / "silero_vad")
    def speech(sample):
        body = (EXAMPLES / "samples" / "silero_vad" / f"{sample}.json").read_bytes()
        with urllib.request.urlopen(f"http://{address}/v2/models/silero_vad/infer", data=body, timeout=60) as answer:
            return json.load(answer)["outputs"][0]["data"][0]
    assert speech("silence") < 0.1 < 0.5 < speech("vowel")
