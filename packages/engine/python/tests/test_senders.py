"""Answers through response senders, with and without the decoupled policy, and cancellation."""

import numpy as np
import pytest

from fake_server import MODELS

DECOUPLED = {"model_transaction_policy": {"decoupled": True}}


def test_repeat_answers_from_threads(load):
    process = load(MODELS / "repeat", DECOUPLED, decoupled=True)
    delays = np.array([1, 5, 1], np.uint32)
    process.run({"IN": np.array([4, 5, 6], np.int32), "DELAY": delays}, outs=["OUT", "INDEX"])
    assert process.answer() == [None]
    sent = [process.sent() for _ in range(4)]
    assert [(s[1]["OUT"][0], s[1]["INDEX"][0], s[2]) for s in sent[:3]] == [(4, 0, False), (5, 1, False), (6, 2, False)]
    assert sent[3] == (1, None, True)
    assert process.stop() == 0 and "every answer is out" in process.output()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_square_answers_from_execute(load, count):
    process = load(MODELS / "square", decoupled=True)
    process.run({"IN": np.array([count], np.int32)}, {"IN": np.array([1], np.int32)})
    sent = [process.sent() for _ in range(max(count, 1) + 1)]
    assert [(q, final) for q, _, final in sent] == [(1, n == max(count, 1) - 1) for n in range(max(count, 1))] + [(2, True)]
    assert process.answer() == [None, None]


def test_asynchronous_batches_overlap(load):
    process = load(MODELS / "async_stream", decoupled=True)
    process.run({"IN": np.array([30], np.int32)})
    process.run({"IN": np.array([1], np.int32)})
    assert process.answer() == process.answer() == [None]
    ends = []
    while len(ends) < 2:
        request, response, final = process.sent()
        if final:
            ends.append(request)
    assert ends == [2, 1]


def test_a_cancelled_stream_ends(load):
    process = load(MODELS / "async_stream", decoupled=True)
    process.run({"IN": np.array([100_000], np.int32)})
    process.sent()
    process.send({"t": "cancel", "q": 1})
    last = process.sent()
    while not last[2]:
        last = process.sent()
    assert last[1]["error"] == ["CANCELLED", "nobody listens"]


def test_a_request_sees_its_cancellation_during_execute(scripted):
    process = scripted.process
    code = """
    print("waiting", flush=True)
    while not request.is_cancelled():
        time.sleep(0.001)
    result = [respond(OUT=text((request.is_cancelled(), requests[1].is_cancelled())))] * 2
    """
    import textwrap

    process.run({"CODE": [textwrap.dedent(code)]}, {})
    assert process.wait_for_output(b"waiting")
    process.send({"t": "cancel", "q": process.requests - 1})
    assert process.answer()[0]["OUT"] == [b"(True, False)"]
    process.send({"t": "cancel", "q": process.requests})
    assert scripted.tell("request.is_cancelled()") == "False"


ERRORS = [
    ("s.send(respond(), 5)", "Unable to send response. Unsupported flag provided."),
    ("s.send()", "Inference Response object must be provided when the response flags is set to zero."),
    ("s.send(flags=1)", "Unable to send response. Non-decoupled model cannot send complete final before sending a response."),
    (
        "s.send(respond()); s.send(respond())",
        "Unable to send response. Non-decoupled model cannot send more than one response.",
    ),
    ("s.send(respond(), 1); s.send(flags=1)", "Unable to send response. Response sender has been closed."),
]


@pytest.mark.parametrize("code, text", ERRORS)
def test_what_a_sender_refuses(scripted, code, text):
    told = scripted.run(f"s = request.get_response_sender()\n{code}")
    assert told.startswith(f"TritonModelException: {text}\n")
    scripted.process.frames.clear()


@pytest.mark.parametrize("arguments", ["5", "None, None", "respond(), 'x'"])
def test_wrong_arguments_of_send(scripted, arguments):
    assert scripted.run(f"request.get_response_sender().send({arguments})").startswith("TypeError: send(): incompatible")


@pytest.mark.parametrize("code", ["s.send(respond(OUT=np.ones(1)), flags=1)", "s.send(respond(OUT=np.ones(1))); s.send(flags=1)"])
def test_a_sender_answers_for_an_ordinary_model(scripted, code):
    assert scripted.run(f"s = request.get_response_sender()\n{code}\nresult = [None]") is None
    _, response, _ = scripted.process.sent()
    assert response["OUT"] == [1]
    if ";" in code:
        assert scripted.process.sent()[1:] == (None, True)
    scripted.tell("'next'")
    assert not scripted.process.frames


def test_a_response_that_was_sent_is_not_sent_again(scripted):
    code = "s = request.get_response_sender(); s.send(respond(OUT=np.ones(1)), flags={}); result = [respond(OUT=np.zeros(1))]"
    assert scripted.run(code.format(1)) is None
    assert scripted.process.sent()[2] is True
    text = "Unable to send response. Non-decoupled model cannot send more than one response."
    assert scripted.run(code.format(0))["error"] == ["INTERNAL", text]
    assert scripted.process.sent()[2] is False


def test_a_taken_sender_and_a_returned_response(scripted):
    answer = scripted.run("self.kept['s'] = request.get_response_sender(); result = [respond(OUT=np.ones(1))]")
    assert answer["OUT"] == [1]
    told = scripted.run("self.kept.pop('s').send(respond(), 1)")
    assert told.startswith("TritonModelException: Unable to send response. Response sender has been closed.")


def test_senders_that_are_forgotten(decoupled):
    process = decoupled.process
    assert decoupled.run("s = request.get_response_sender(); s.send(respond(OUT=np.ones(1)))") is None
    assert process.sent()[2] is False
    assert process.expect("dropped")[0]["q"] == process.requests
    decoupled.run("pass")
    assert process.expect("dropped")[0]["q"] == process.requests


def test_a_request_may_be_kept_and_answered_later(decoupled):
    decoupled.run("self.kept['r'] = request")
    first = decoupled.process.requests
    decoupled.run("r = self.kept.pop('r'); r.get_response_sender().send(respond(OUT=np.ones(1)), 1); request.get_response_sender().send(flags=1)")
    assert decoupled.process.sent()[0] == first and decoupled.process.sent()[0] == first + 1
    assert not decoupled.process.frames


def test_a_forgotten_sender_in_another_thread_is_told_while_the_model_is_idle(decoupled):
    code = """
    def later(sender):
        time.sleep(0.05)
    threading.Thread(target=later, args=(request.get_response_sender(),)).start()
    requests = request = None
    """
    decoupled.run(code)
    assert decoupled.process.expect("dropped")[0]["q"] == decoupled.process.requests


def test_a_sender_in_a_circle_of_garbage_is_found(decoupled):
    decoupled.run("circle = [request, requests]; circle.append(circle)")
    assert decoupled.process.expect("dropped")[0]["q"] == decoupled.process.requests


def test_a_list_from_a_decoupled_model(decoupled):
    told = decoupled.run("result = [respond()]")
    assert told == "Python model 'm_0_0' is using the decoupled mode and the execute function must return None."


def test_an_exception_closes_the_senders(decoupled):
    told = decoupled.run("self.kept['s'] = request.get_response_sender(); raise ValueError('late')")
    assert told.startswith("ValueError: late")
    told = decoupled.run("self.kept.pop('s').send(respond())")
    assert told.startswith("TritonModelException: Unable to send response. Response sender has been closed.")
    decoupled.process.frames.clear()


def test_a_failing_coroutine_fails_its_requests(load):
    process = load(
        """
        class TritonPythonModel:
            async def execute(self, requests):
                raise ValueError("too late")
        """,
        decoupled=True,
    )
    process.run({"IN": np.zeros(1)})
    assert process.answer() == [None]
    request, response, final = process.sent()
    code, text = response["error"]
    assert (request, code, final) == (1, "INTERNAL", True)
    assert text.startswith("Failed to process the request(s) for model 'm_0_0', message: ValueError: too late\n\nAt:\n")


def test_iterations(load):
    process = load(MODELS / "iterative")
    inputs = {"IN": np.array([3], np.int32)}
    assert process.infer(inputs, seq="7", flags=1) == {"again": True}
    assert process.infer(inputs, seq="7") == {"again": True}
    assert process.infer(inputs, seq="7")["OUT"] == [0]


def test_large_responses_from_many_threads(decoupled):
    code = """
    def answer(sender, n):
        for i in range(5):
            sender.send(respond(OUT=np.full(20_000, n * 10 + i)))
        sender.send(flags=1)
    for n, r in enumerate(requests):
        threading.Thread(target=answer, args=(r.get_response_sender(), n)).start()
    """
    process = decoupled.process
    decoupled.run(code, others=[{}] * 7)
    seen: dict = {}
    finals = 0
    while finals < 8:
        request, response, final = process.sent()
        if response is not None:
            assert (response["OUT"] == response["OUT"][0]).all()
            seen.setdefault(request, []).append(int(response["OUT"][0]) % 10)
        finals += final
    assert list(seen.values()) == [[0, 1, 2, 3, 4]] * 8
