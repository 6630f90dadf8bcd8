"""Models that call other models."""

import numpy as np
import pytest

from fake_server import MODELS


def reply(server, call, out=None, parts=(), **fields):
    """Answers a call with tensors, given as a dictionary."""
    parts = list(parts)
    response = None if out is None else {"out": server.encode_tensors(out, parts)}
    header = {"t": "reply", "c": call["c"], "final": True, **fields}
    if response is not None:
        header["response"] = response
    server.send(header, parts)


def add_sub(server, header, payload):
    if header["what"] != "infer":
        return
    tensors = server.decode_tensors(header["request"]["in"], payload)
    a, b = tensors["INPUT0"], tensors["INPUT1"]
    reply(server, header, {"OUTPUT0": a + b, "OUTPUT1": a - b})


def test_a_call_and_its_answer(load):
    process = load(MODELS / "bls_sync")
    process.on_call = add_sub
    x = np.arange(4, dtype=np.float32)
    answer = process.infer({"MODEL_NAME": ["add_sub"], "INPUT0": x, "INPUT1": x}, trace={"context": "tp", "id": 4}, id="r")
    assert answer["OUTPUT0"].tolist() == [0, 2, 4, 6] and answer["OUTPUT1"].tolist() == [0, 0, 0, 0]
    request = process.calls[0]["request"]
    assert process.calls[0]["q"] == 1 and process.calls[0]["decoupled"] is False
    assert {key: request[key] for key in ("id", "seq", "flags", "timeout", "params", "outs", "model", "version", "trace")} == {
        "id": "",
        "seq": "0",
        "flags": 0,
        "timeout": 0,
        "params": "{}",
        "outs": ["OUTPUT0", "OUTPUT1"],
        "model": "add_sub",
        "version": -1,
        "trace": {"context": "tp", "id": 4},
    }


def test_large_tensors_of_a_call_are_freed(load):
    process = load(MODELS / "bls_sync")
    process.on_call = add_sub
    x = np.arange(1_000_000, dtype=np.float32)
    for _ in range(3):
        answer = process.infer({"MODEL_NAME": ["add_sub"], "INPUT0": x, "INPUT1": x})
        assert np.array_equal(answer["OUTPUT0"], x + x)
    process.infer({"MODEL_NAME": ["add_sub"], "INPUT0": x[:2], "INPUT1": x[:2]})
    assert process.lent == {}


def test_a_failed_call_is_a_response(scripted):
    process = scripted.process
    text = "Model m - Error when running inference: Failed for execute the inference request. Model 'm' is not ready."
    process.on_call = lambda server, header, _: reply(server, header, error=["INTERNAL", text])
    code = """
    r = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).exec()
    result = [respond(OUT=text((r.has_error(), r.error().code().name, r.error().message(), r.output_tensors())))]
    """
    assert scripted.run(code)["OUT"] == [repr((True, "INTERNAL", text, [])).encode()]


def test_an_error_response_keeps_its_code(scripted):
    def answer(server, header, _):
        server.send({"t": "reply", "c": header["c"], "final": True, "response": {"out": [], "error": ["NOT_FOUND", "x"]}})

    scripted.process.on_call = answer
    code = """
    r = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).exec()
    result = [pb_utils.InferenceResponse(error=r.error())]
    """
    assert scripted.run(code)["error"] == ["NOT_FOUND", "x"]


def test_an_empty_reply(scripted):
    scripted.process.on_call = lambda server, header, _: reply(server, header)
    code = """
    r = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).exec()
    result = [pb_utils.InferenceResponse(error=r.error())]
    """
    assert scripted.run(code)["error"] == ["INTERNAL", "Unexpected empty response."]


def test_all_fields_of_a_call(scripted):
    scripted.process.calls.clear()
    scripted.process.on_call = lambda server, header, _: reply(server, header, {"OUT": np.array([1])})
    code = """
    pb_utils.InferenceRequest("id", "seq", [], ["OUT"], "m", 3, 1, 99,
        pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU, 0), parameters={"a": 1, "b": True, "c": "x"}).exec()
    result = [respond()]
    """
    scripted.run(code)
    request = scripted.process.calls[0]["request"]
    assert request["seq"] == {"s": "seq"} and request["version"] == 3 and request["flags"] == 1 and request["timeout"] == 99
    assert request["pref"] == ["CPU", 0] and request["params"] == '{"a": 1, "b": true, "c": "x"}' and request["id"] == "id"


def test_asynchronous_calls_run_at_the_same_time(load):
    process = load(MODELS / "bls_async")
    waiting = []

    def answer_together(server, header, payload):
        waiting.append((header, payload))
        if len(waiting) == 2:
            for call in reversed(waiting):
                add_sub(server, *call)

    process.on_call = answer_together
    x = np.arange(4, dtype=np.float32)
    answer = process.infer({"INPUT0": x, "INPUT1": x})
    assert answer["OUTPUT0"].tolist() == [0, 2, 4, 6] and answer["OUTPUT1"].tolist() == [0, 0, 0, 0]


def test_asynchronous_calls_in_a_loop_of_the_models_own(scripted):
    scripted.process.on_call = lambda server, header, _: reply(server, header, {"OUT": np.array([2])})
    code = """
    import asyncio
    async def many():
        calls = [pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).async_exec() for _ in range(5)]
        return await asyncio.gather(*calls)
    result = [respond(OUT=text(sum(int(r.output_tensors()[0].as_numpy()[0]) for r in asyncio.run(many()))))]
    """
    assert scripted.run(code)["OUT"] == [b"10"]
    assert scripted.run(code)["OUT"] == [b"10"]


def test_a_cancelled_future_cancels_the_call(scripted):
    process = scripted.process
    process.calls.clear()
    process.on_call = lambda server, header, _: None
    code = """
    import asyncio
    async def impatient():
        call = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).async_exec()
        await asyncio.wait_for(call, 0.05)
    try:
        asyncio.run(impatient())
    except asyncio.TimeoutError:
        result = [respond(OUT=text("timeout"))]
    """
    assert scripted.run(code)["OUT"] == [b"timeout"]
    infer, cancel = process.calls
    assert (cancel["what"], cancel["of"], cancel["c"]) == ("cancel", infer["c"], 0)
    reply(process, infer, error=["CANCELLED", "late"])


def squares(server, header, payload):
    value = server.decode_tensors(header["request"]["in"], payload)["IN"]
    for _ in range(int(value[0])):
        reply(server, header, {"OUT": value}, final=False)
    reply(server, header)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_calls_to_a_decoupled_model(load, count):
    process = load(MODELS / "bls_decoupled")
    process.on_call = squares
    assert process.infer({"IN": np.array([count], np.int32)}, outs=["SUM"])["SUM"] == [count * count]
    assert process.calls[0]["decoupled"] is True


def test_an_iterator_can_be_read_again_and_cancelled(scripted):
    def endless(server, header, _):
        if header["what"] == "infer":
            for n in range(2):
                reply(server, header, {"OUT": np.array([n])}, final=False)
        else:
            server.send({"t": "reply", "c": header["of"], "error": ["CANCELLED", "stopped"]})

    scripted.process.on_call = endless
    code = """
    answers = pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).exec(decoupled=True)
    seen = []
    for round in range(2):
        for r in answers:
            seen.append(r.error().code().name if r.has_error() else int(r.output_tensors()[0].as_numpy()[0]))
            if len(seen) == 2:
                answers.cancel()
    answers.cancel()
    result = [respond(OUT=text(seen))]
    """
    assert scripted.run(code)["OUT"] == [b"[0, 1, 'CANCELLED', 0, 1, 'CANCELLED']"]


def test_an_iterator_that_is_forgotten_cancels_its_call(scripted):
    process = scripted.process
    process.calls.clear()
    process.on_call = lambda server, header, _: None
    code = "pb_utils.InferenceRequest(model_name='m', inputs=[], requested_output_names=[]).exec(True); result = [respond()]"
    scripted.run(code)
    assert [call["what"] for call in process.calls] == ["infer", "cancel"]


def test_decoupled_and_asynchronous(load):
    process = load(
        """
        import asyncio
        import numpy as np
        import triton_python_backend_utils as pb_utils
        class TritonPythonModel:
            async def execute(self, requests):
                calls = [pb_utils.InferenceRequest(model_name="square", inputs=[pb_utils.Tensor("IN", np.array([n], np.int32))],
                    requested_output_names=[]).async_exec(decoupled=True) for n in (2, 3)]
                total = 0
                for answers in await asyncio.gather(*calls):
                    for r in answers:
                        if r.output_tensors():
                            total += int(r.output_tensors()[0].as_numpy()[0])
                return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([total]))])]
        """
    )
    process.on_call = squares
    assert process.infer({"IN": np.zeros(1)})["OUT"] == [13]


def test_threads_call_while_the_model_is_idle_and_while_it_works(decoupled):
    decoupled.process.on_call = lambda server, header, _: reply(server, header, {"OUT": np.array([int(header["request"]["id"])])})
    code = """
    def ask(sender, n):
        for i in range(20):
            r = pb_utils.InferenceRequest(request_id=str(i * n), model_name="m", inputs=[], requested_output_names=[]).exec()
            assert r.output_tensors()[0].as_numpy()[0] == i * n
        sender.send(respond(OUT=np.array([n])), 1)
    for n, r in enumerate(requests):
        threading.Thread(target=ask, args=(r.get_response_sender(), n)).start()
    """
    process = decoupled.process
    decoupled.run(code, others=[{}] * 3)
    decoupled.run("time.sleep(0.02)")
    assert sorted(int(process.sent()[1]["OUT"][0]) for _ in range(4)) == [0, 1, 2, 3]


def test_calls_outside_of_execute(load, start, tmp_path):
    from conftest import write_model

    code = """
    import triton_python_backend_utils as pb_utils
    class TritonPythonModel:
        def initialize(self, args):
            pb_utils.InferenceRequest(model_name="m", inputs=[], requested_output_names=[]).exec()
    """
    process = start()
    told = process.init(write_model(tmp_path, code, "early"))
    assert told["message"].startswith("TritonModelException: BLS is only supported during the 'execute' function.\n\nAt:\n")
    late = code.replace("initialize(self, args)", "finalize(self)")
    process = load(late)
    assert process.stop() == 0
    assert "BLS is only supported during the 'execute' function." in process.output()
