"""A dask cluster for real: a scheduler and its workers on the loopback."""

import itertools
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import click
import pytest

from headway import __version__
from headway.cli.crews import crew_options
from headway.errors import HeadwayError, InvalidParameter, PackageError, WorkerError
from headway.models import catalogue_model
from headway.models.running import cluster as clusters
from headway.models.running.cluster import cluster
from headway.models.running.crews import Crew
from headway.models.running.spreading import spread
from headway.models.sweeping.sweeping import sweep_model
from tests.docs.test_documents import DOCUMENTS, check, commands, joins_a_cluster, names
from tests.support import worker_tasks as tasks
from tests.support.command import headway, refusal
from tests.support.limits import HANGS
from tests.support.pages import write_files

pytest.importorskip("distributed")
LOCAL = ("--host", "127.0.0.1", "--no-dashboard")
ALONE = ("--nthreads", "1", "--no-nanny")


AT = r"Scheduler at:\s+(tcp://\S+)"
REGISTERED = r"Registered to:\s+(tcp://\S+)"


class Machine:
    """Processes of a cluster, ended with it."""

    def __init__(self, stack):
        self.stack = stack
        self.readers = {}
        self.address = None

    def scheduler(self):
        """Start a scheduler on a free port, and wait until it says where it is."""
        self.address = self.started_line(AT, "scheduler", *LOCAL, "--port", "0")
        return self

    def worker(self, *options):
        """Start a worker, and wait until it is registered."""
        result = self.started_line(REGISTERED, "worker", *LOCAL, *ALONE, *options, self.address)
        assert result == self.address
        return self.last

    def started_line(self, pattern, *words):
        """Start a command of dask, and wait until it says something."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"},  # to the dead
        )
        self.stack.callback(self.end, process)
        self.last = process
        watch = threading.Timer(HANGS, self.kill, [process])
        self.stack.callback(watch.cancel)
        watch.start()
        first = next(filter(None, (re.search(pattern, line) for line in process.stderr)))
        watch.cancel()
        reader = threading.Thread(target=process.stderr.read, daemon=True)
        self.readers[process] = reader
        reader.start()
        return first[1]

    def kill(self, process):
        """Kill it, and what it started."""
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)

    def end(self, process):
        """Kill it, and wait until it is gone."""
        self.kill(process)
        process.wait(HANGS)
        if process in self.readers:
            self.readers[process].join(HANGS)
        process.stderr.close()


LONGEST = clusters.LONGEST


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """A busy machine may answer late."""
    monkeypatch.setattr(clusters, "LONGEST", HANGS)


@pytest.fixture(scope="module")
def machine():
    with ExitStack() as stack:
        yield Machine(stack).scheduler()


@pytest.mark.slow
def test_a_cluster_survives_a_worker_that_is_killed(machine, capfd, tmp_path):
    """The same results in the same order; two workers of another version are refused before."""
    other = tmp_path / "other.py"
    other.write_text('import headway\nheadway.__version__ = "0.0.9"\n')
    stranger = machine.worker("--preload", str(other))
    text = rf"^cluster {machine.address}: worker tcp://\S+ has headway 0.0.9, this process has "
    with pytest.raises(WorkerError, match=text + f"headway {__version__}; install the same"):
        cluster(machine.address)
    machine.end(stranger)

    killed, _ = machine.worker(), machine.worker()
    with cluster(machine.address) as crew:
        assert (crew.size, crew.name) == (2, f"cluster {machine.address}")
        results = spread(tasks.slow_if_even, range(40), crew)
        first = list(itertools.islice(results, 10))
        machine.end(killed)
        assert first + list(results) == list(range(40))
        with pytest.raises(InvalidParameter):
            list(spread(tasks.solved, [1.0, -1.0], crew))
        with pytest.raises(WorkerError, match="a task was started on several workers|no workers"):
            list(spread(tasks.dies_always, [2], _impatient(crew)))
    assert capfd.readouterr().err == ""


SPACE = {
    "arrival_rate": range(1, 1501),
    "disks": range(8, 48),
    "delay": [0.001 * n for n in range(30)],
}
KEPT = ("moments", "quantiles=p50,p99", "exceeds(response_time, 20ms)", "top(response_time, 3)")


@pytest.mark.slow
def test_a_sweep_survives_a_worker_that_is_killed_half_way(machine, monkeypatch):
    """The same bits as alone; the worker dies with chunks in hand, and these are done again."""
    model = catalogue_model("nfs-server").with_preset("raid")
    alone = sweep_model(model, SPACE, reduce=KEPT)
    killed, other = machine.worker(), machine.worker()
    typed = ("sweep", "server-single", "--set", "arrival_rate=1:900:0.01", "--json")
    text, result = (
        json.loads(headway(*typed, *more).out) for more in ((), ("--cluster", machine.address))
    )
    assert result.pop("effort")["workers"] == 2
    assert text.pop("effort")["workers"] == 1
    assert result == text

    halves, looks = [], []

    def stop_half_way(points, size, _rate):
        if 2 * points >= size and not halves:
            halves.append(points)
            os.kill(killed.pid, signal.SIGSTOP)  # it keeps what it is given from now on

    def look():
        """The sweep waits: half way, for what the stopped worker keeps; but not for ever."""
        looks.append(None)
        assert len(looks) < HANGS
        if halves:
            machine.end(killed)

    with cluster(machine.address) as crew:
        monkeypatch.setattr(crew, "look", look)
        swept = sweep_model(
            model, SPACE, reduce=KEPT, executor=crew, progress=stop_half_way, chunk=1
        )
    machine.end(other)
    assert killed.returncode == -signal.SIGKILL
    assert swept.effort.chunks == 55
    assert 27 * 2**15 < halves[0] < 29 * 2**15
    assert repr(swept.results) == repr(alone.results)


PAGES = [path for path in DOCUMENTS if joins_a_cluster(path)]


@pytest.mark.parametrize("path", PAGES, ids=names)
def test_commands_of_documents(path, tmp_path, monkeypatch):
    """As printed, but for where a process listens, and two workers in place of eight."""
    monkeypatch.chdir(tmp_path)
    write_files(path, tmp_path)
    with ExitStack() as stack:
        machine = Machine(stack)
        for line, shown in commands(path):
            typed = line.replace("tcp://10.0.0.1:8786", str(machine.address))
            started = shlex.split(typed.replace("--nworkers 8", "--nworkers 2"))[1:]
            if line.startswith("dask scheduler"):
                machine.address = machine.started_line(AT, *started, *LOCAL, "--port", "0")
            elif line.startswith("dask worker"):
                machine.started_line(REGISTERED, *started, *LOCAL)
            else:
                check(typed, shown)


def _impatient(crew, wait=clusters.WITHOUT):
    """Wait no more for other workers."""
    crew._last_contact = time.monotonic() - wait
    return crew


def _refused(address):
    with pytest.raises(HeadwayError) as error:
        cluster(address)
    return str(error.value)


def test_a_scheduler_that_is_not_there_is_said_in_a_line(monkeypatch):
    assert LONGEST + clusters.CLOSING < 10
    monkeypatch.setattr(clusters, "LONGEST", 0.4)
    advice = "; give its address, such as tcp://10.0.0.1:8786"
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        reached = f"cluster {address}: cannot reach a dask scheduler "
        message = _refused(address)
        assert message.startswith(reached)
        assert message.endswith(advice)
        silent.listen()  # takes calls, and never says who it is
        assert _refused(address) == f"{reached}(no answer within 0.4 s){advice}"
    for wrong in ("here", "", "http://127.0.0.1:1", "127.0.0.1:port"):
        assert _refused(wrong).startswith(f"cluster {wrong}: cannot reach a dask scheduler (")


@pytest.mark.parametrize(
    ("version", "message"), [("0.0.9", "headway 0.0.9, this"), (None, "no headway, this")]
)
def test_every_workers_version_is_compared(version, message):
    with pytest.raises(WorkerError, match=f"worker tcp://b:2 has {message} process has headway"):
        clusters._check_versions("tcp://a:1", {"tcp://b:1": __version__, "tcp://b:2": version})
    clusters._check_versions("tcp://a:1", {"tcp://b:1": __version__})


def test_without_distributed_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PackageError, match="needs distributed; install: python -m pip install"):
        cluster("tcp://127.0.0.1:1")


class Client:
    """A client of a scheduler, as far as a crew asks it."""

    def __init__(self, *answers):
        self.answers = iter(answers)

    def nthreads(self):
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        answer()
        return {"tcp://b:1": 1} if answer is int else {}

    def get_executor(self, **_):
        return None


@pytest.mark.parametrize("gone", [tuple, OSError()], ids=["no workers", "no scheduler"])
def test_when_all_workers_have_left_it_is_said_and_ends(monkeypatch, gone):
    told = []
    monkeypatch.setattr(clusters, "NOTICED", -1.0)
    client = Client(int, int, gone, gone, int, gone, gone)
    crew = clusters.Cluster(client, "tcp://a:1", ExitStack(), 17.0, told.append)

    for _ in range(3):
        crew.look()
    assert told == ["cluster tcp://a:1: all workers have left; waiting up to 17 s for another"]
    crew.look()
    assert len(told) == 1
    crew.look()
    crew.look()
    assert len(told) == 2
    with pytest.raises(WorkerError, match="^cluster tcp://a:1: has had no workers for 17 s$"):
        _impatient(crew, 17.0).look()


def test_a_scheduler_that_answers_no_more_is_not_waited_for(monkeypatch):
    """It is asked again only when it has answered."""
    monkeypatch.setattr(clusters, "ANSWERED", 0.01)
    answers = threading.Event()
    crew = clusters.Cluster(Client(int, answers.wait, int), "tcp://a:1", ExitStack())

    crew.look()
    crew.look()
    crew.look()
    with pytest.raises(WorkerError, match="has had no workers for 60 s"):
        _impatient(crew).look()
    answers.set()


@click.command
@crew_options
def command(hands):
    with hands as crew:
        click.echo("alone" if crew is None else f"{isinstance(crew, Crew)} {crew.size}")


def _run(*options):
    from click.testing import CliRunner

    return CliRunner().invoke(command, options)


@pytest.mark.parametrize(("options", "words"), [((), "alone"), (("--workers", "2"), "True 2")])
def test_commands_are_given_a_crew(options, words):
    assert _run(*options).output == f"{words}\n"


def test_a_cluster_is_joined_when_its_work_begins(monkeypatch):
    with ThreadPoolExecutor(3) as threads:
        monkeypatch.setattr(clusters, "cluster", lambda address, *_: Crew(threads, 3, address))
        assert _run("--cluster", "tcp://a:1").output == "True 3\n"


def test_a_command_says_in_a_line_that_nobody_is_there(monkeypatch, write):
    monkeypatch.setattr(clusters, "LONGEST", 0.2)
    curve = write("throughput_ops_s,response_ms\n50,2.1\n100,2.3\n200,2.6\n")
    fit = ("fit", "server", "--data", curve)
    sweep = ("sweep", "server-single", "--set", "arrival_rate=1:900")
    for typed in (fit, sweep):
        message = refusal(*typed, "--cluster", "tcp://127.0.0.1:1")
        assert message.startswith("cluster tcp://127.0.0.1:1: cannot reach a dask scheduler (")


def test_help_tells_both_options_in_a_line():
    expected = "--workers N, --cluster URL  Processes; a dask scheduler, with --wait TIME."
    assert expected in _run("--help").output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--workers", "0"), "0 workers: give 1 to "),
        (("--workers", "2", "--cluster", "a:1"), "give --workers or --cluster, not both"),
        (("--wait", "9s"), "--wait is for the workers of a cluster; give --cluster URL"),
        (("--wait", "-9s", "--cluster", "a:1"), "wait is -9; it must be 0 or more"),
    ],
)
def test_wrong_options_are_refused(options, message):
    exception = _run(*options).exception
    assert isinstance(exception, InvalidParameter)
    assert str(exception).startswith(message)


def test_workers_are_a_whole_number():
    assert "'two' is not a whole number in decimal digits" in _run("--workers", "two").output
