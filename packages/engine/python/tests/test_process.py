"""What the process does when things around it go wrong."""

import os
import signal
import time

import numpy as np
import pytest

from conftest import SCRIPTED, Scripted, write_model
from fake_server import Ended


@pytest.fixture
def model(load):
    return Scripted(load(SCRIPTED))


def wait_until(is_true, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not is_true() and time.monotonic() < end:
        time.sleep(0.01)
    return is_true()


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def beats(process) -> int:
    return int.from_bytes(os.pread(process.response_file, 8, 0), "little")


def test_the_heart_beats_while_a_model_computes(model):
    process = model.process
    process.run({"CODE": ["end = time.time() + 1.3\nwhile time.time() < end: pass\nresult = [respond()]"]})
    first = beats(process)
    process.answer()
    assert beats(process) >= first + 2


def test_it_ends_with_its_children_when_the_server_is_gone(model):
    process = model.process
    pid = int(model.tell("__import__('subprocess').Popen(['sleep', '100']).pid"))
    assert is_alive(pid)
    process.sock.shutdown(2)
    assert process.popen.wait(10) == -signal.SIGKILL
    assert wait_until(lambda: not is_alive(pid))


def test_it_ends_when_the_server_is_gone_even_while_it_computes(model):
    process = model.process
    process.run({"CODE": ["while True: pass"]})
    process.sock.shutdown(2)
    assert process.popen.wait(10) == -signal.SIGKILL


def test_helpers_are_ended_with_a_stop(model):
    pid = int(model.tell("__import__('subprocess').Popen(['sleep', '100']).pid"))
    assert model.process.stop() == 0
    assert wait_until(lambda: not is_alive(pid))


def test_exit_functions_run_and_threads_are_not_waited_for(model):
    code = """
    import atexit
    atexit.register(lambda: print("at exit"))
    threading.Thread(target=time.sleep, args=(100,)).start()
    result = [respond()]
    """
    model.run(code)
    assert model.process.stop() == 0
    assert "at exit" in model.process.output()


def test_an_interrupt_is_not_for_models(model):
    model.process.popen.send_signal(signal.SIGINT)
    assert model.tell("'alive'") == "alive"


def test_os_exit_and_a_segmentation_fault_are_seen(load):
    for code, status in [("os._exit(3)", 3), ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV)]:
        process = load(SCRIPTED)
        process.run({"CODE": [code]})
        with pytest.raises(Ended):
            process.answer()
        assert process.popen.wait(10) == status
        assert status > 0 or "Fatal Python error: Segmentation fault" in process.output()


def test_a_forked_process_never_answers(model):
    code = """
    pid = os.fork()
    if pid == 0:
        try:
            pb_utils.Logger.log_info("from the fork")
        except BaseException as error:
            print("refused:", error, flush=True)
    else:
        os.waitpid(pid, 0)
    result = [respond(OUT=text("one answer"))]
    """
    assert model.run(code)["OUT"] == [b"one answer"]
    assert model.tell("'alive'") == "alive"
    assert not model.process.frames and not model.process.logs
    assert model.process.wait_for_output(b"refused: a process that a model forked")


def test_a_forked_process_does_not_keep_the_conversation_open(model):
    model.run("os.fork() or time.sleep(30)\nresult = [respond()]")
    model.process.popen.kill()
    with pytest.raises(Ended):
        model.process.expect("done", timeout=5)


def test_a_forked_process_cannot_disturb_what_is_shared(model):
    code = """
    if os.fork() == 0:
        for attempt in (request.is_cancelled, lambda: request.get_response_sender().send(respond(OUT=np.zeros(90_000)))):
            try:
                print("in the fork:", attempt(), flush=True)
            except RuntimeError as error:
                print("in the fork:", error, flush=True)
        raise SystemExit
    os.wait()
    result = [respond(OUT=np.ones(90_000))]
    """
    assert (model.run(code)["OUT"] == 1).all()
    assert model.process.printed.count(b"in the fork") == 2 and b"in the fork: False" in model.process.printed
    assert not model.process.frames and model.tell("'alive'") == "alive"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(load, tmp_path, method):
    directory = write_model(tmp_path, SCRIPTED + "\ndef double(x):\n    return 2 * x\n")
    model = Scripted(load(directory))
    code = f"""
    import multiprocessing
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        result = [respond(OUT=np.array(pool.map(double, [-1, -2, 3])))]
    """
    assert model.run(code)["OUT"].tolist() == [-2, -4, 6]
    assert model.tell("'alive'") == "alive" and model.process.stop() == 0


def test_descriptors_are_not_inherited(model):
    listing = "__import__('subprocess').run('ls /proc/self/fd', shell=True, close_fds=False, capture_output=True).stdout"
    assert model.tell(f"{listing}.split()[:4]") == "[b'0', b'1', b'2', b'3']"
    assert "memfd" not in model.tell("__import__('subprocess').run('ls -l /proc/self/fd', shell=True, close_fds=False, capture_output=True).stdout.decode()")


def test_nothing_is_left_open_by_many_requests(model):
    count = "len(os.listdir('/proc/self/fd'))"
    big = np.zeros(100_000)
    echo = "result = [respond(OUT=request.inputs()[1].as_numpy())]"
    model.run(echo, {"IN": big})
    before = model.tell(count)
    for _ in range(30):
        model.run(echo, {"IN": big})
    assert model.tell(count) == before
    assert os.fstat(model.process.response_file).st_size <= 4 << 20


def test_the_working_directory_is_not_imported_from(start, tmp_path):
    (tmp_path / "json.py").write_text("raise ValueError('the wrong json')\n")
    assert start(cwd=str(tmp_path)).stop() == 0


@pytest.mark.parametrize(
    "before, after",
    [("/env/lib:/usr/x", "/usr/x"), ("/env/lib", None), ("/usr/x:/env/lib", "/usr/x:/env/lib"), (None, None)],
)
def test_the_library_path_of_an_environment_is_for_this_process_only(monkeypatch, before, after):
    from conch_stub.process import restore_library_path

    monkeypatch.setenv("VIRTUAL_ENV", "/env/")
    if before is None:
        monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    else:
        monkeypatch.setenv("LD_LIBRARY_PATH", before)
    restore_library_path()
    assert os.environ.get("LD_LIBRARY_PATH") == after


def test_the_model_may_change_directory_and_environment(load, tmp_path):
    write_model(tmp_path, SCRIPTED)
    process = load(tmp_path / "m")
    model = Scripted(process)
    model.run("os.chdir('/'); os.environ.clear(); result = [respond()]")
    assert model.tell("pb_utils.get_model_dir()") == str(tmp_path / "m" / "1")
