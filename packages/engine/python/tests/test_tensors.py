"""Tensors from the server to the model and back, in a frame and in an arena."""

import numpy as np
import pytest

from fake_server import DTYPES

ECHO = "result = [pb_utils.InferenceResponse([pb_utils.Tensor('OUT', request.inputs()[1].as_numpy())])]"
PASS_ON = "result = [pb_utils.InferenceResponse([pb_utils.Tensor.from_dlpack('OUT', request.inputs()[1])])]"


@pytest.mark.parametrize("arena", [False, True])
@pytest.mark.parametrize("code", [ECHO, PASS_ON])
@pytest.mark.parametrize("name", list(DTYPES))
def test_every_type_comes_back_as_it_was(scripted, name, code, arena):
    value = np.arange(-3, 9).astype(DTYPES[name]).reshape(3, 4)
    answer = scripted.run(code, {"IN": value}, arena=arena)
    assert answer["OUT"].dtype == value.dtype and np.array_equal(answer["OUT"], value)


@pytest.mark.parametrize("arena", [False, True])
def test_texts(scripted, arena):
    values = ["", "plain", "aé😀", b"\xff\x00", "x" * 70_000]
    answer = scripted.run(ECHO, {"IN": values}, arena=arena)
    assert answer["OUT"] == [v if isinstance(v, bytes) else v.encode() for v in values]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,)])
def test_odd_shapes(scripted, shape):
    answer = scripted.run(ECHO, {"IN": np.zeros(shape, np.int16)})
    assert answer["OUT"].shape == shape


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("np.array([1, 2.5, None], dtype=object)", [b"1", b"2.5", b"None"]),
        ("np.array(['aé', b'raw'], dtype=object)", ["aé".encode(), b"raw"]),
        ("np.array([b'ab', b'c\\0'])", [b"ab", b"c"]),
        ("np.arange(6, dtype=np.int32).reshape(2, 3).T", [[0, 3], [1, 4], [2, 5]]),
        ("np.arange(3, dtype='>i4')", [0, 1, 2]),
        ("np.array(5, np.int8)", 5),
        ("np.broadcast_to(np.float32(2), (2, 2))", [[2, 2], [2, 2]]),
    ],
)
def test_what_a_model_makes(scripted, expression, expected):
    answer = scripted.run(f"result = [respond(OUT={expression})]")["OUT"]
    assert (answer if isinstance(answer, list) else answer.tolist()) == expected


def test_bf16_travels_untouched(scripted):
    data = np.array([0x3F80, 0xC000, 0x7FC1], np.uint16)
    inputs = {"IN": ("BF16", [3], data.tobytes())}
    assert np.array_equal(scripted.run(PASS_ON, inputs)["OUT"], data)
    told = scripted.run(ECHO, inputs)
    assert "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and from_dlpack() instead." in told


def test_inputs_may_be_written_to(scripted):
    code = "x = request.inputs()[1].as_numpy(); x += 1; result = [respond(OUT=x)]"
    for arena in (False, True):
        assert scripted.run(code, {"IN": np.array([1, 2])}, arena=arena)["OUT"].tolist() == [2, 3]


def test_arena_inputs_are_views_and_freed_when_nobody_looks(scripted):
    process = scripted.process
    scripted.run("self.kept['x'] = request.inputs()[1].as_numpy()[2:]; result = [respond()]", {"IN": np.arange(50_000.0)})
    scripted.tell("'next'")
    assert len(process.lent) == 1
    assert scripted.tell("self.kept['x'][0]") in ("2.0", "np.float64(2.0)")
    scripted.run("self.kept.clear(); result = [respond()]")
    scripted.tell("'next'")
    assert process.lent == {}


def test_arena_inputs_are_freed_after_an_exception(scripted):
    scripted.run("x = [i.as_numpy() for i in request.inputs()]; raise ValueError", {"IN": np.zeros(50_000)})
    scripted.tell("'next'")
    assert scripted.process.lent == {}


def test_the_request_arena_may_grow(scripted):
    big = np.arange(3_000_000, dtype=np.float32)
    for _ in range(2):
        answer = scripted.run(ECHO, {"IN": big})
        assert np.array_equal(answer["OUT"], big)


def test_what_a_tensor_tells(scripted):
    expression = (
        "(lambda t: (t.name(), t.shape(), t.triton_dtype(), t.is_cpu(), t.as_bytes(), t.__dlpack_device__()))"
        "(request.inputs()[1])"
    )
    seen = scripted.tell(expression, {"IN": np.array([[1]], np.int16)})
    assert seen == "('IN', [1, 1], 7, True, b'\\x01\\x00', (1, 0))"


def test_optional_inputs_are_absent(scripted):
    assert scripted.tell("pb_utils.get_input_tensor_by_name(request, 'NOT_SENT')") == "None"
