"""What `execute` may return and what becomes of it otherwise."""

import numpy as np
import pytest


def test_an_exception_names_type_text_and_place(scripted):
    told = scripted.run("def inner():\n    raise ValueError('bad value')\ninner()")
    assert told.startswith("ValueError: bad value\n\nAt:\n  code.py(2): inner\n  code.py(3): <module>\n  ")
    assert told.endswith("(14): execute\n") and "conch_stub" not in told


@pytest.mark.parametrize(
    "code, text",
    [
        (
            "result = []",
            "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
            "InferenceRequest(s) size is:1, and InferenceResponse(s) size is:0\n",
        ),
        ("result = (respond(),)", "Expected a list in the execute return, found type '<class 'tuple'>'."),
        (
            "result = respond()",
            "Expected a list in the execute return, found type '<class 'c_python_backend_utils.InferenceResponse'>'.",
        ),
        (
            "result = [5]",
            "Expected an 'InferenceResponse' object in the execute function return list, found type '<class 'int'>'.",
        ),
        (
            "request.set_release_flags(2); result = [respond()]",
            "Expected a None object in the execute function return list for reschduled request, "
            "found type '<class 'c_python_backend_utils.InferenceResponse'>'.",
        ),
    ],
)
def test_wrong_returns(scripted, code, text):
    assert scripted.run(code) == text


@pytest.mark.parametrize(
    "code, beginning",
    [
        ("sys.exit(3)", "SystemExit: 3\n"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: <EMPTY MESSAGE>"),
        ("raise pb_utils.TritonModelException('no')", "TritonModelException: no\n"),
        ("result = [respond(OUT=np.array(['text']))]", "TritonModelException: NumPy dtype is not supported."),
        ("result = [respond(OUT=np.zeros(2, complex))]", "TritonModelException: NumPy dtype is not supported."),
        ("def f(): return f()\nf()", "RecursionError: "),
        ("raise ValueError('\\udcff lone')", "ValueError: \\udcff lone\n"),
        (
            "class E(Exception):\n  def __str__(self): raise ValueError\nraise E",
            "E: <MESSAGE UNAVAILABLE DUE TO ANOTHER EXCEPTION>",
        ),
    ],
)
def test_whatever_is_raised_fails_the_batch_only(scripted, code, beginning):
    assert scripted.run(code).startswith(beginning)
    assert scripted.tell("'alive'") == "alive"


def test_an_error_wins_over_tensors(scripted):
    code = """
    error = pb_utils.TritonError("refused", pb_utils.TritonError.NOT_FOUND)
    result = [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.zeros(1))], error)]
    """
    assert scripted.run(code) == {"out": [], "error": ["NOT_FOUND", "refused"]}


def test_only_the_faulty_request_of_a_batch_fails(scripted):
    code = """
    result = [respond(OUT=np.array([n])) for n in range(3)]
    result[1] = pb_utils.InferenceResponse(error=pb_utils.TritonError("odd"))
    """
    first, second, third = scripted.run(code, others=({}, {}))
    assert first["OUT"] == [0] and second["error"] == ["INTERNAL", "odd"] and third["OUT"] == [2]


def test_outputs_that_nobody_asked_for_are_left_out(scripted):
    answer = scripted.run("result = [respond(OUT=np.zeros(1), MORE=np.zeros(1))]", outs=["OUT"])
    assert list(answer) == ["OUT"]


def test_two_tensors_of_one_name_are_an_error(scripted):
    answer = scripted.run("result = [pb_utils.InferenceResponse([pb_utils.Tensor('OUT', np.zeros(1))] * 2)]")
    assert answer["error"] == ["INTERNAL", "The response has more than one output tensor with the name 'OUT'."]


def test_a_response_without_tensors(scripted):
    assert scripted.run("result = [respond()]") == {}


def test_none_without_a_sender_is_told_as_dropped(scripted):
    assert scripted.run("result = None") is None
    assert scripted.process.expect("dropped")[0]["q"] == scripted.process.requests


def test_a_request_is_run_again(scripted):
    assert scripted.run("request.set_release_flags(2); result = [None]") == {"again": True}
    assert scripted.tell("'alive'") == "alive" and not scripted.process.frames


def test_parameters_of_a_response(scripted):
    code = "result = [pb_utils.InferenceResponse([], parameters={'text': 'ä', 'n': 2**60, 'yes': True})]"
    scripted.process.run({"CODE": [code]})
    header, _ = scripted.process.expect("done")
    assert header["r"][0]["params"] == '{"text": "\\u00e4", "n": 1152921504606846976, "yes": true}'


def test_everything_of_a_request_is_seen(scripted):
    fields = {"id": "a-1", "seq": "18446744073709551615", "flags": 3, "timeout": 123, "params": '{"a":1.5}'}
    expression = (
        "(request.request_id(), request.correlation_id(), request.flags(), request.timeout(), request.parameters(), "
        "request.requested_output_names(), request.is_cancelled(), request.trace().get_context())"
    )
    seen = scripted.tell(expression, outs=["OUT", "B"], trace={"context": "tp"}, **fields)
    assert seen == "('a-1', 18446744073709551615, 3, 123, '{\"a\":1.5}', ['OUT', 'B'], False, 'tp')"
    assert scripted.tell("request.correlation_id()", seq={"s": "seq-ä"}) == "seq-ä"


def test_prints_appear_at_once_and_binary_ones_do_no_harm(start, tmp_path):
    from conftest import SCRIPTED, Scripted, write_model

    process = start()
    process.init(write_model(tmp_path, SCRIPTED))
    model = Scripted(process)
    model.run("print('a line'); result = [respond()]")
    assert process.wait_for_output(b"a line\n")
    model.run("sys.stdout.buffer.write(b'\\xff\\x00half'); print('\\udcff', end=''); result = [respond()]")
    assert process.wait_for_output(b"\xff\x00half\\udcff")
    model.run("sys.stdout = None; print('nowhere'); result = [respond()]")
    assert model.tell("'alive'") == "alive"


def test_del_and_repr_that_raise(scripted):
    code = """
    class Bad:
        def __del__(self): raise ValueError("del")
        def __repr__(self): raise ValueError("repr")
    Bad()
    try:
        pb_utils.InferenceResponse(Bad())
    except TypeError as error:
        result = [respond(OUT=text(str(error).splitlines()[-1]))]
    """
    assert scripted.run(code)["OUT"] == [b"Invoked with: <Bad>, None"]


def test_a_huge_text_is_cut(scripted):
    answer = scripted.run("raise ValueError('x' * (100 << 20))")
    assert len(answer) < 300_000 and answer.startswith("ValueError: xxx")


def test_more_than_a_header_can_carry_is_an_error(scripted):
    code = "result = [pb_utils.InferenceResponse([], parameters={'p': 'x' * (50 << 20)})]"
    assert "too many for one answer" in scripted.run(code)
    assert scripted.tell("'alive'") == "alive"


def test_a_large_output_uses_the_arena_and_its_memory_comes_back(scripted):
    import os

    process = scripted.process
    for _ in range(3):
        answer = scripted.run("result = [respond(OUT=np.full((40 << 20) // 8, 7.0))]")
        assert answer["OUT"].shape == (5 << 20,) and np.all(answer["OUT"] == 7)
    assert os.fstat(process.response_file).st_size < 130 << 20
    assert scripted.tell("'alive'") == "alive"
    free = "__import__('c_python_backend_utils').shared_memory.free_memory()"
    assert int(scripted.tell(free)) > 40 << 20
    # The pages of what was freed are given back.
    assert os.fstat(process.response_file).st_blocks * 512 < 20 << 20


def test_missing_execute_is_found_at_the_first_request(load):
    process = load("class TritonPythonModel:\n    pass\n")
    told = process.infer({"IN": np.zeros(1)})
    assert told.startswith("Python model ") and told.endswith("/m/1/model.py does not implement `execute` method.")


def test_several_batches_may_wait_in_the_socket(scripted):
    batches = [scripted.process.run({"CODE": [f"result = [respond(OUT=np.array([{n}]))]"]}) for n in range(20)]
    assert [scripted.process.answer()[0]["OUT"][0] for _ in batches] == list(range(20))


def test_async_execute_is_waited_for(load):
    process = load(
        """
        import asyncio
        import triton_python_backend_utils as pb_utils
        class TritonPythonModel:
            async def execute(self, requests):
                await asyncio.sleep(0.001)
                if requests[0].request_id() == "bad":
                    raise ValueError("from a coroutine")
                return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", requests[0].inputs()[0].as_numpy())])]
        """
    )
    assert process.infer({"IN": np.array([4])})["OUT"] == [4]
    told = process.infer({"IN": np.array([4])}, id="bad")
    assert told.startswith("ValueError: from a coroutine\n\nAt:\n") and told.endswith("(8): execute\n")
