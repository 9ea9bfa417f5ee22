"""Tasks spread over workers: order, windows, deaths, errors, and nothing left behind."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, process
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import pytest

from headway import __version__
from headway.errors import InvalidParameter, WorkerError
from headway.models.running import pool
from headway.models.running.crews import crew_of
from headway.models.running.pool import workers
from headway.models.running.spreading import spread
from headway.models.running.work import packed, work
from tests.support import worker_tasks as tasks
from tests.support.limits import HANGS


@pytest.mark.parametrize("window", [None, 1, 2, 50])
def test_results_come_in_the_order_of_tasks(two_workers, window):
    assert list(spread(tasks.slow_if_even, range(12), two_workers, window)) == list(range(12))


def test_any_number_of_workers_gives_the_same(two_workers):
    alone = list(spread(tasks.doubled, range(9)))
    with workers(1) as one, ThreadPoolExecutor(3) as threads:
        assert list(spread(tasks.doubled, range(9), one)) == alone
        assert list(spread(tasks.doubled, range(9), crew_of(threads))) == alone
    assert list(spread(tasks.doubled, range(9), two_workers)) == alone


@pytest.mark.parametrize("window", [1, 5, None])
def test_tasks_are_taken_as_results_are(window):
    taken = itertools.count()
    with ThreadPoolExecutor(2) as threads:
        results = spread(tasks.doubled, taken, crew_of(threads), window)
        assert [next(results) for _ in range(4)] == [0, 2, 4, 6]
        results.close()
    assert next(taken) == 3 + (window or 6)


def test_in_this_process_tasks_are_taken_one_by_one():
    taken = itertools.count()
    results = spread(tasks.doubled, taken)
    assert [next(results), next(results)] == [0, 2]
    assert next(taken) == 2


def test_a_worker_that_dies_is_replaced_and_its_tasks_done_again(two_workers, tmp_path):
    given = [(number, tmp_path / "mark") for number in range(8)]
    assert list(spread(tasks.dies_once, given, two_workers)) == list(range(8))
    assert (tmp_path / "mark").exists()


def test_a_task_that_always_kills_its_worker_is_named(two_workers):
    result = spread(tasks.dies_always, range(6), two_workers)
    assert [next(result), next(result)] == [0, 1]
    with pytest.raises(
        WorkerError, match=r"^task 2 was started 4 times.*worker died.*check its memory$"
    ):
        next(result)
    assert list(spread(tasks.doubled, range(3), two_workers)) == [0, 2, 4]


def test_a_death_that_the_pool_does_not_notice_is_seen(tmp_path):
    with workers(1) as crew:
        crew.submit(tasks.writes_its_process, tmp_path)
        _until(lambda: list(tmp_path.iterdir()))
        crew.look()
        os.kill(int(next(tmp_path.iterdir()).name), signal.SIGKILL)
        with pytest.raises(BrokenProcessPool, match="a worker ended during a task"):
            _until(crew.look)


def test_errors_of_a_task_come_through_as_they_are(two_workers):
    with pytest.raises(InvalidParameter) as here:
        tasks.solved(-1.0)
    result = spread(tasks.solved, [1.0, -1.0, 2.0], two_workers)
    assert next(result) == tasks.solved(1.0)
    with pytest.raises(InvalidParameter) as there:
        next(result)
    assert str(there.value) == str(here.value)
    assert type(there.value) is type(here.value)
    with pytest.raises(WorkerError, match="^a task failed: Odd: not well$"):
        list(spread(tasks.odd, [1], two_workers))


def test_what_cannot_be_sent_is_said_in_a_line(two_workers, monkeypatch):
    with pytest.raises(
        WorkerError, match=r"this task cannot be sent to workers: Can't (get|pickle)"
    ):
        list(spread(lambda task: task, [1], two_workers))
    with pytest.raises(
        WorkerError, match="this task cannot be sent to workers: cannot pickle 'generator' object"
    ):
        list(spread(tasks.doubled, [(n for n in ())], two_workers))
    scripted = type("Scripted", (), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Scripted", scripted, raising=False)
    why = "never the script itself: move its definitions to a module"
    with pytest.raises(WorkerError, match=why):
        list(spread(tasks.doubled, [scripted()], two_workers))
    assert list(spread(tasks.doubled, [4], two_workers)) == [8]


def test_a_worker_that_joins_late_with_another_version_is_refused():
    text = f"^a worker has headway {__version__}, this process has 0.0.9; install the same version$"
    with pytest.raises(WorkerError, match=text):
        work("0.0.9", packed(tasks.doubled), packed(1))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted by Linux")  # noqa: PTH112
def test_a_worker_uses_one_processor(two_workers):
    items = list(spread(tasks.where, range(6), two_workers))
    assert os.getpid() not in {process for process, _, _ in items}
    assert all(threads == own for _, threads, own in items)  # none below Python's


def test_ctrl_c_leaves_no_processes(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        _interrupted(tmp_path)
    assert _gone(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_ctrl_c_waits_until_a_process_is_started():
    """It comes in the main thread, whichever thread the system gives it to."""
    done = []

    def start():
        with pool._undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["started"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_ctrl_c_while_the_pool_starts_leaves_it_whole(monkeypatch):
    """Found by a run where it came before the pool's own thread had started."""
    begin = process._ExecutorManagerThread.start

    def interrupted(thread):
        signal.raise_signal(signal.SIGINT)
        begin(thread)

    monkeypatch.setattr(process._ExecutorManagerThread, "start", interrupted)
    with workers(1) as crew, pytest.raises(KeyboardInterrupt):
        crew.submit(tasks.doubled, 1)


def _interrupted(folder):
    """Wait as a consumer does, and be interrupted when both workers are at work."""

    def interrupt():
        try:
            _until(lambda: len(list(folder.iterdir())) == 2)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with workers(2) as crew:
        next(spread(tasks.writes_its_process, itertools.repeat(folder), crew))


def _until(true):
    end = time.monotonic() + HANGS
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    assert true()


def _gone(folder):
    """Whether every process that left its number there has ended."""
    numbers = [path.name for path in folder.iterdir()]
    _until(lambda: not any(_alive(number) for number in numbers))
    return len(numbers) == 2


def _alive(number):
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:  # noqa: PTH123
            return file.read().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


SCRIPT = """
import itertools, sys
print("once", flush=True)
from headway.models.running.pool import workers
from headway.models.running.spreading import spread
from headway.models.running.work import packed, work
from tests.support import worker_tasks as tasks
crew = workers(2)
next(spread(tasks.writes_its_process, itertools.repeat(sys.argv[1]), crew))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_script_without_a_guard_runs_once_and_its_workers_die_with_it(tmp_path, write):
    folder = tmp_path / "numbers"
    folder.mkdir()
    command = [sys.executable, str(write(SCRIPT, "script.py")), str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}  # noqa: PTH109
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as script:
        try:
            _until(lambda: len(list(folder.iterdir())) == 2)
        finally:
            script.kill()
        assert script.stdout.read() == b"once\n"
    assert _gone(folder)


def test_an_executor_of_the_caller_stays_the_callers():
    with ThreadPoolExecutor(2) as threads:
        with crew_of(threads) as crew:
            assert (crew.size, crew.name) == (2, "ThreadPoolExecutor")
            assert list(spread(tasks.doubled, [1], crew)) == [2]
        assert threads.submit(int, "3").result() == 3


def test_a_broken_executor_of_the_caller_is_told():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        expected = "^ProcessPoolExecutor: its workers have gone .*abruptly"
        with pytest.raises(WorkerError, match=expected):
            list(spread(tasks.dies_always, [2], crew_of(pool)))


def test_a_crew_is_a_crew(two_workers):
    assert crew_of(two_workers) is two_workers
    assert crew_of(None) is None
    for count in (0, -1, 10**6):
        with pytest.raises(InvalidParameter, match=f"^{count} workers: give 1 to"):
            workers(count)
    with pytest.raises(InvalidParameter, match="^window is 0"):
        list(spread(tasks.doubled, [1], two_workers, 0))
