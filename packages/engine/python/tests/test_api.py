"""`pb_utils` as a model imports it, in this process: what needs no server."""

import ctypes
import gc

import numpy as np
import pytest

import c_python_backend_utils as c_utils
import triton_python_backend_utils as pb_utils
from triton_python_backend_utils import InferenceRequest, InferenceResponse, Tensor, TritonError, TritonModelException

T = Tensor("T", np.zeros(1))


def make_request(**fields):
    return InferenceRequest(**{"inputs": [], "requested_output_names": [], "model_name": "m", **fields})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor(None, np.zeros(1)),
        lambda: Tensor("a", None),
        lambda: Tensor("a", [1, 2]),
        lambda: Tensor("a", np.float32(1)),
        lambda: Tensor.from_dlpack(None, np.zeros(1)),
        lambda: InferenceResponse(output_tensors=None),
        lambda: InferenceResponse(output_tensors=T),
        lambda: InferenceResponse([1]),
        lambda: InferenceResponse([], "error"),
        lambda: TritonError(None),
        lambda: TritonError("a", 99),
        lambda: TritonError("a", "INTERNAL"),
        lambda: InferenceRequest(),
        lambda: InferenceRequest(inputs=[], requested_output_names=[]),
        lambda: InferenceRequest(inputs=[], model_name="m"),
        lambda: make_request(inputs=None),
        lambda: make_request(inputs=[1]),
        lambda: make_request(requested_output_names=None),
        lambda: make_request(requested_output_names=[None]),
        lambda: make_request(model_name=None),
        lambda: make_request(request_id=None),
        lambda: make_request(model_version="1"),
        lambda: make_request(flags=1.5),
        lambda: make_request(timeout=None),
        lambda: make_request(preferred_memory="CPU"),
        lambda: make_request(trace="t"),
        lambda: make_request(correlation_id=-1),
        lambda: make_request().set_flags("1"),
        lambda: make_request().set_release_flags(None),
        lambda: pb_utils.PreferredMemory(1),
        lambda: pb_utils.PreferredMemory(None),
    ],
)
def test_type_errors(make):
    with pytest.raises(TypeError, match="incompatible .* arguments. The following argument types are supported:"):
        make()


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: Tensor("", np.zeros(1)), "Tensor name cannot be an empty string."),
        (lambda: Tensor("a", np.array(["x"])), "NumPy dtype is not supported."),
        (lambda: Tensor("a", np.array(["2020"], "datetime64[Y]")), "NumPy dtype is not supported."),
        (lambda: Tensor("a", np.zeros(1, np.longdouble)), "NumPy dtype is not supported."),
        (lambda: InferenceResponse([None]), "Output tensor for inference response should not be empty."),
        (
            lambda: InferenceResponse([], parameters={1: 1}),
            "Expect parameters keys to have type str, found type <class 'int'>",
        ),
        (
            lambda: InferenceResponse([], parameters={"a": 1.5}),
            "Expect parameters values to have type bool/int/str, found type <class 'float'>",
        ),
        (lambda: make_request(correlation_id=1.5), "Correlation ID must be integer or string"),
        (lambda: make_request(parameters={"a": None}), "Expect parameters values to have type bool/int/str, found type <class 'NoneType'>"),
        (
            lambda: make_request(inputs=[None], request_id="i"),
            "Input tensor for request with id 'i' and model name 'm' should not be empty.",
        ),
        (
            lambda: make_request(requested_output_names=[""], request_id="i"),
            "Requested output name for request with id 'i' and model name 'm' should not be empty.",
        ),
        (lambda: Tensor("a", np.array([b"x"])).to_dlpack(), "DLPack does not have support for string tensors."),
        (
            lambda: Tensor.from_dlpack("a", np.arange(6).reshape(2, 3).T),
            "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in C-Order are supported.",
        ),
        (
            lambda: Tensor.from_dlpack("a", 5),
            "Provided tensor is not supported. Tensor must be a DLPack capsule or have `__dlpack__` and `__dlpack_device__` attributes",
        ),
        (lambda: Tensor.from_dlpack("", np.zeros(1)), "Tensor name cannot be an empty string."),
        (lambda: pb_utils.deserialize_bytes_tensor(b"\1\0\0"), "Invalid bytes tensor data: incomplete length field"),
        (lambda: pb_utils.deserialize_bytes_tensor(b"\2\0\0\0x"), "Invalid bytes tensor data: string extends beyond buffer"),
        (lambda: make_request().get_response_sender(), "Only a request that the server handed to the model"),
        (pb_utils.get_model_dir, "this call needs a server"),
        (lambda: make_request().exec(), "this call needs a server"),
    ],
)
def test_refusals(make, text):
    with pytest.raises(TritonModelException) as raised:
        make()
    assert str(raised.value).startswith(text)


def test_names_of_the_native_classes():
    assert repr(type(InferenceResponse())) == "<class 'c_python_backend_utils.InferenceResponse'>"
    for name in ("Tensor", "InferenceRequest", "TritonError", "TritonModelException", "Logger", "MetricFamily"):
        assert getattr(c_utils, name).__module__ == "c_python_backend_utils"
        assert getattr(pb_utils, name) is getattr(c_utils, name)


def test_defaults_of_a_request():
    request = make_request()
    seen = (request.request_id(), request.correlation_id(), request.flags(), request.timeout(), request.parameters())
    assert seen == ("", 0, 0, 0, "{}") and request.is_cancelled() is False
    request.set_flags(3)
    assert request.flags() == 3 and request.trace().get_context() is None
    assert make_request(correlation_id=2**64 - 1).correlation_id() == 2**64 - 1
    assert make_request(correlation_id="seq").correlation_id() == "seq"


def test_an_error():
    error = TritonError("m", TritonError.UNSUPPORTED)
    assert error.message() == "m" and error.code() == TritonError.UNSUPPORTED and TritonError("m").code() == TritonError.INTERNAL
    response = InferenceResponse(error=error)
    assert response.has_error() and response.error() is error and InferenceResponse([T]).output_tensors() == [T]


def test_helpers():
    assert pb_utils.triton_string_to_numpy("TYPE_FP16") is np.float16
    assert pb_utils.triton_string_to_numpy("TYPE_STRING") is np.object_
    for unknown in ("TYPE_BF16", "FP32"):
        with pytest.raises(KeyError):
            pb_utils.triton_string_to_numpy(unknown)
    assert pb_utils.triton_to_numpy_type(11) is np.float32 and pb_utils.triton_to_numpy_type(14) is None
    assert pb_utils.triton_to_numpy_type(1) is np.bool_ and pb_utils.triton_to_numpy_type(13) is np.object_
    assert [pb_utils.numpy_to_triton_type(t) for t in (np.bool_, np.int64, np.object_, np.bytes_)] == [1, 9, 13, 13]
    config = {"input": [{"name": "A"}], "output": [{"name": "B"}], "model_transaction_policy": {"decoupled": True}}
    assert pb_utils.get_input_config_by_name(config, "A") == {"name": "A"}
    assert pb_utils.get_output_config_by_name(config, "A") is None and pb_utils.get_input_config_by_name({}, "A") is None
    assert pb_utils.using_decoupled_model_transaction_policy(config) is True
    assert pb_utils.using_decoupled_model_transaction_policy({}) is False
    assert pb_utils.get_input_tensor_by_name(make_request(inputs=[T]), "T") is T
    assert pb_utils.get_output_tensor_by_name(InferenceResponse([T]), "U") is None


def test_texts_as_bytes():
    array = np.array([["a", b"bc"], [1, "ä"]], dtype=object)
    data = pb_utils.serialize_byte_tensor(array)
    assert data == b"\1\0\0\0a\2\0\0\0bc\1\0\0\x001\2\0\0\0\xc3\xa4"
    assert pb_utils.deserialize_bytes_tensor(data).tolist() == [b"a", b"bc", b"1", "ä".encode()]
    assert pb_utils.serialize_byte_tensor(np.array([], dtype=object)) == ()
    assert pb_utils.serialize_byte_tensor(np.zeros(2)) is None


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_dlpack_round_trip(dtype, shape):
    array = np.ones(shape, dtype)
    capsule = Tensor("a", array).to_dlpack()
    assert '"dltensor"' in repr(capsule)
    tensor = Tensor.from_dlpack("b", capsule)
    assert '"used_dlpack"' in repr(capsule)
    assert tensor.shape() == list(shape) and tensor.as_numpy().dtype == array.dtype
    assert np.array_equal(tensor.as_numpy(), array)
    with pytest.raises(TritonModelException, match="Expected capsule with name 'dltensor'"):
        Tensor.from_dlpack("c", capsule)


def test_dlpack_shares_memory_and_gives_it_back():
    from conch_stub import dlpack

    gc.collect()
    assert dlpack._lent == {}
    array = np.zeros(4)
    taken = np.from_dlpack(Tensor("a", array))
    array[1] = 5
    assert taken[1] == 5 and len(dlpack._lent) == 1
    unused = Tensor("a", array).to_dlpack()
    del taken, unused
    assert dlpack._lent == {}
    view = Tensor.from_dlpack("b", np.arange(3)).as_numpy()
    gc.collect()
    assert view.tolist() == [0, 1, 2]


# ModelConfig


def make_config(**fields):
    return pb_utils.ModelConfig({"name": "m", **fields})


FP32 = {"name": "I", "data_type": "TYPE_FP32", "dims": [4]}


@pytest.mark.parametrize(
    "config, change, text",
    [
        (
            {"max_batch_size": 8},
            lambda c: c.set_max_batch_size(4),
            "configuration specified max_batch_size 8, but in auto-complete-config function for model 'm' specified max_batch_size 4",
        ),
        (
            {"sequence_batching": {}},
            lambda c: c.set_dynamic_batching(),
            "Configuration specified scheduling_choice as 'sequence_batching', but auto-complete-config function for model 'm' "
            "tries to set scheduling_choice as 'dynamic_batching'",
        ),
        (
            {},
            lambda c: c.add_input({**FP32, "format": 1}),
            "input 'I' in auto-complete-config function for model 'm' contains property other than 'name', 'data_type', 'dims' and 'optional'.",
        ),
        (
            {},
            lambda c: c.add_output({**FP32, "optional": True}),
            "output 'I' in auto-complete-config function for model 'm' contains property other than 'name', 'data_type' and 'dims'.",
        ),
        ({}, lambda c: c.add_input({}), "input in auto-complete-config function for model 'm' is missing 'name' property."),
        (
            {},
            lambda c: c.add_input({"name": "I", "dims": [1]}),
            "input 'I' in auto-complete-config function for model 'm' is missing 'data_type' property.",
        ),
        (
            {},
            lambda c: c.add_output({"name": "I", "data_type": "x"}),
            "output 'I' in auto-complete-config function for model 'm' is missing 'dims' property.",
        ),
        (
            {"input": [{**FP32, "data_type": "TYPE_INT8"}]},
            lambda c: c.add_input(FP32),
            "unable to load model 'm', configuration expects datatype TYPE_INT8 for input 'I', model provides TYPE_FP32",
        ),
        (
            {"input": [{**FP32, "dims": [8]}]},
            lambda c: c.add_input(FP32),
            "model 'm', tensor 'I': the model expects dims [4] but the model configuration specifies dims [8]",
        ),
        (
            {"input": [{**FP32, "optional": False}]},
            lambda c: c.add_input({**FP32, "optional": True}),
            "model 'm', tensor 'I': the model expects optional True but the model configuration specifies optional False",
        ),
        (
            {},
            lambda c: c.set_model_transaction_policy({"x": 1}),
            "model transaction property in auto-complete-config function for model 'm' contains property other than 'decoupled'.",
        ),
        (
            {"model_transaction_policy": {"decoupled": True}},
            lambda c: c.set_model_transaction_policy({"decoupled": False}),
            "trying to change decoupled property in auto-complete-config for model 'm', which is already set to 'True'.",
        ),
    ],
)
def test_configs_that_contradict(config, change, text):
    with pytest.raises(ValueError) as raised:
        change(make_config(**config))
    assert str(raised.value) == text


def test_configs_that_agree():
    config = make_config(max_batch_size=2, dynamic_batching={"x": 1}, input=[{"name": "I", "data_type": "TYPE_INVALID", "dims": []}])
    config.set_max_batch_size(4)
    config.set_dynamic_batching()
    config.add_input(FP32)
    config.add_input(FP32)
    config.add_output(FP32)
    config.set_model_transaction_policy({"decoupled": True})
    assert config.as_dict() == {
        "name": "m",
        "max_batch_size": 4,
        "dynamic_batching": {"x": 1},
        "input": [FP32],
        "output": [FP32],
        "model_transaction_policy": {"decoupled": True},
    }


# Memory of a GPU, with a driver that only pretends


class PretendedDriver:
    """Device memory is main memory; everything succeeds."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            if name == "cuMemcpyDtoH_v2":
                target, source, size = (argument.value for argument in arguments)
                ctypes.memmove(target, source, size)
            return 0

        return call


def test_tensors_of_a_gpu(monkeypatch):
    from conch_stub import cuda, dlpack

    driver = PretendedDriver()
    monkeypatch.setattr(cuda, "_driver", driver)
    monkeypatch.setattr(cuda, "_contexts", {})
    array = np.arange(5, dtype=np.float32)
    capsule = Tensor("a", array).to_dlpack()
    managed = next(entry[0] for entry in dlpack._lent.values())
    managed.tensor.device = dlpack._Device(dlpack.CUDA, 1)
    tensor = Tensor.from_dlpack("b", capsule)
    assert not tensor.is_cpu() and tensor.__dlpack_device__() == (2, 1) and tensor.shape() == [5]
    with pytest.raises(TritonModelException, match="Tensor is stored in GPU and cannot be converted to NumPy."):
        tensor.as_numpy()
    assert tensor.as_bytes() == array.tobytes()
    assert driver.calls.count("cuCtxPushCurrent_v2") == driver.calls.count("cuCtxPopCurrent_v2") == 1
    again = Tensor.from_dlpack("c", tensor.to_dlpack())
    assert not again.is_cpu() and again.as_bytes() == array.tobytes()


@pytest.mark.parametrize("kind", [4, 7])
def test_other_devices(kind):
    from conch_stub import dlpack

    capsule = Tensor("a", np.zeros(1)).to_dlpack()
    next(entry[0] for entry in dlpack._lent.values()).tensor.device.kind = kind
    with pytest.raises(TritonModelException, match=f"DLDevice type {kind} is not support by Python backend."):
        Tensor.from_dlpack("b", capsule)
