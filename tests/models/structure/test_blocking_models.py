"""Models whose stations block or have a common limit: files, Python, and what each verb says."""

import json
from pathlib import Path

import pytest

from headway.cli.main import main
from headway.errors import GraphError, HeadwayError, InvalidParameter, ModelFileError
from headway.models import Model, ModelGraph, parse_model, read_model
from headway.models.analysis.target import what_it_takes
from headway.queueing import MG1, MM1, MM1K, Delay, MMm
from headway.queueing.blocking.measured import equivalent_note

THREADS = """
name = "server"

[parameters]
threads = {value = 2, min = 1}
disk_time = {value = "8 ms", unit = "ms"}

[stations.network]
kind = "Delay"
service_time = "0.5 ms"

[stations.cpu]
kind = "MM1"
service_time = "1 ms"

[stations.disk]
kind = "MMm"
service_time = "disk_time"
servers = 2

[regions.nfsd]
stations = ["cpu", "disk"]
limit = "threads"

[[routes]]
from = "network"
to = "cpu"

[[routes]]
from = "cpu"
to = "disk"
probability = 0.5

[outputs]
queued = {formula = "nfsd.waiting_time", unit = "ms"}
"""

LINE = """
name = "line"

[stations.first]
kind = "MM1"
service_time = "1 s"

[stations.second]
kind = "MM1K"
service_time = "1 s"
capacity = 1
blocking = "after service"

[[routes]]
from = "first"
to = "second"
"""


@pytest.fixture(name="threads")
def _threads(tmp_path: Path) -> Path:
    path = tmp_path / "threads.toml"
    path.write_text(THREADS)
    return path


@pytest.fixture(name="line")
def _line(tmp_path: Path) -> Path:
    path = tmp_path / "line.toml"
    path.write_text(LINE)
    return path


def typed(*words: str) -> int:
    """What the command leaves with."""
    with pytest.raises(SystemExit) as left:
        main(list(words))
    return int(str(left.value.code))


def graph() -> ModelGraph:
    """The model of the file, built in Python."""
    return (
        ModelGraph("server")
        .declare("threads", "disk_time")
        .station("network", Delay(0.5e-3))
        .station("cpu", MM1(1e-3))
        .station("disk", MMm("disk_time", 2))
        .route("network", "cpu")
        .route("cpu", "disk", 0.5)
        .region("nfsd", ["cpu", "disk"], limit="threads")
    )


def test_files_and_python_say_the_same(threads: Path) -> None:
    model = read_model(threads).at(arrival_rate=250.0)
    built = graph().at(threads=2, disk_time=8e-3, arrival_rate=250.0)
    solution, again = model.solve(), built.solve()
    assert solution.response_time == again.response_time
    assert solution["queued"] == again["nfsd.waiting_time"] > 0
    assert solution.method == "chain"
    assert not solution.approximation


def test_a_file_is_written_as_it_is_read(threads: Path, line: Path, tmp_path: Path) -> None:
    for path in (threads, line):
        copy = tmp_path / "copy.toml"
        copy.write_text(read_model(path).to_toml())
        assert read_model(copy).to_toml() == read_model(path).to_toml()
        rate = 0.3 if path is line else 200.0
        assert (
            read_model(copy).solve(rate).response_time == read_model(path).solve(rate).response_time
        )


def test_little_s_law_holds_for_region_and_system(threads: Path) -> None:
    solution = read_model(threads).solve([100.0, 250.0])
    for k, rate in enumerate((100.0, 250.0)):
        inside = sum(solution[f"{n}.queue_length"][k] for n in ("cpu", "disk"))
        assert solution["nfsd.utilisation"][k] * 2 == pytest.approx(inside, rel=1e-9)
        assert solution["nfsd.waiting_time"][k] * rate == pytest.approx(
            solution["nfsd.queue_length"][k]
        )
        parts = sum(solution[f"{n}.residence_time"][k] for n in solution.stations)
        assert solution.response_time[k] == pytest.approx(parts + solution["nfsd.waiting_time"][k])


def test_a_line_that_blocks_saturates_where_it_is_published(line: Path) -> None:
    model = read_model(line)
    assert model.solve(0.5).saturation_throughput == pytest.approx(2 / 3, rel=1e-10)
    solution = model.solve([0.5, 0.7])
    assert solution.saturated.tolist() == [False, True]
    assert solution.throughput[1] == pytest.approx(2 / 3, rel=1e-10)
    assert solution["first.blocked"][0] > 0.1
    with pytest.raises(HeadwayError, match="saturates at"):
        model.solve(0.7).require_stable()


def test_in_overload_a_region_is_offered_what_comes(threads: Path) -> None:
    solution = read_model(threads).solve([250.0, 1e4])
    assert solution.saturated.tolist() == [False, True]
    assert solution["nfsd.throughput"] == pytest.approx([250.0, 1e4], rel=1e-9)


def test_what_it_says_in_every_form(
    threads: Path, line: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("solve", str(threads), "--set", "arrival_rate=250") == 0
    shown = capsys.readouterr().out
    assert "regions" in shown
    assert "nfsd" in shown
    assert typed("solve", str(threads), "--set", "arrival_rate=250", "--json") == 0
    point = json.loads(capsys.readouterr().out)["points"][0]
    assert set(point["regions"]["nfsd"]) == {
        "limit", "throughput", "utilisation", "full", "queue_length", "waiting_time",
    }  # fmt: skip
    assert typed("solve", str(threads), "--set", "arrival_rate=250", "--csv") == 0
    assert "nfsd_waiting_time_s" in capsys.readouterr().out
    assert typed("solve", str(line), "--set", "arrival_rate=0.5", "--json") == 0
    assert "blocked" in json.loads(capsys.readouterr().out)["points"][0]["components"]["first"]


def test_how_many_threads_are_enough(threads: Path) -> None:
    model = read_model(threads).at(arrival_rate=300.0)
    times = [model.at(threads=n).solve().response_time for n in range(2, 9)]
    assert times == sorted(times, reverse=True)
    derivatives = model.sensitivity()
    change = derivatives.effects["response_time"]["threads"]
    assert change.more == pytest.approx(times[1], rel=1e-9)
    took = what_it_takes(model, "response_time", times[3] * 1.0001, "threads")
    assert took.value == 5


def test_beyond_the_chain_it_is_approximate_and_says_so(threads: Path) -> None:
    many = read_model(threads).at(threads=400).closed(600, 1.0).solve()
    assert (many.method, many.approximation) == (
        "flow equivalence",
        equivalent_note(closed=True),
    )
    with pytest.raises(GraphError, match="above the limit of 20,000"):
        read_model(threads).at(threads=400).closed(600, 1.0).solve(method="exact")
    with pytest.raises(InvalidParameter, match="method linearizer is not for networks that block"):
        read_model(threads).closed(6).solve(method="linearizer")


def test_verbs_that_do_not_know_regions_refuse_them(threads: Path) -> None:
    model = read_model(threads).at(arrival_rate=250.0)
    with pytest.raises(GraphError, match="percentiles are unknown where nfsd blocks"):
        model.solve().with_percentile(95)
    with pytest.raises(GraphError, match="closed forms are unknown where nfsd blocks"):
        model.graph.closed_form("response_time")
    with pytest.raises(GraphError, match="several classes|one class"):
        graph().job_class("a", 1.0).job_class("b", 2.0).at(threads=2, disk_time=1e-3).solve()


def given(visits: float) -> Model:
    """A region around a station whose visits are given."""
    one = ModelGraph("one").station("cpu", MM1(0.1), visits=visits)
    return one.region("threads", ["cpu"], limit=1).at()


def test_structures_that_no_such_network_has_are_refused() -> None:
    with pytest.raises(GraphError, match="cpu has visits, but threads blocks jobs"):
        given(2.0).solve(1.0)
    loaded = ModelGraph("one").station("cpu", MM1("0.1 + 0.01 * throughput"))
    with pytest.raises(GraphError, match="stations cannot use the throughput"):
        loaded.region("threads", ["cpu"], limit=1).at().solve(1.0)
    one = ModelGraph("one").station("cpu", MM1(0.1)).station("disk", MG1(0.1, 2.0))
    with pytest.raises(GraphError, match="no station 'cpus'; did you mean cpu"):
        one.region("threads", ["cpus"], limit=1)
    with pytest.raises(GraphError, match="disk is MG1, which has no product form"):
        one.region("threads", ["disk"], limit=1)
    with pytest.raises(GraphError, match="cpu is already in region threads"):
        one.region("threads", ["cpu"], limit=1).region("window", ["cpu"], limit=1)
    with pytest.raises(GraphError, match="list the stations inside it, each once"):
        one.region("threads", ["cpu", "cpu"], limit=1)
    with pytest.raises(GraphError, match="unknown blocking 'before'"):
        ModelGraph("one").station("cpu", MM1K(0.1, 2), blocking="before")
    with pytest.raises(GraphError, match="blocking needs a capacity"):
        ModelGraph("one").station("cpu", MM1(0.1), blocking="after service")


def test_bad_files_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {
        "nfsd: limit is 0": THREADS.replace("value = 2, min = 1", "value = 0"),
        "nfsd: limit is 2.5": THREADS.replace("value = 2,", "value = 2.5,"),
        "the key 'limit' is missing": THREADS.replace('limit = "threads"', ""),
        "must be a list of names": THREADS.replace('["cpu", "disk"]', '"cpu"'),
        "unknown blocking": LINE.replace("after service", "before"),
        "deadlock: second -> third -> second": LINE
        + '[stations.third]\nkind = "MM1K"\nservice_time = 1\ncapacity = 1\n'
        'blocking = "after service"\n[[routes]]\nfrom = "second"\nto = "third"\n'
        'probability = 0.5\n[[routes]]\nfrom = "third"\nto = "second"\n',
    }
    for words, text in wrong.items():
        path = tmp_path / "wrong.toml"
        path.write_text(text)
        rate = "0.1" if "line" in text else "100"
        assert typed("solve", str(path), "--set", f"arrival_rate={rate}") == 2
        message = capsys.readouterr().err
        assert words in message
        assert message.count("\n") == 1


def test_a_region_that_nobody_comes_to_is_empty(threads: Path) -> None:
    text = threads.read_text()
    idle = text + '[stations.front]\nkind = "MM1"\nservice_time = "1 ms"\n'
    idle += '[arrivals]\nfront = "arrival_rate"\n'
    with pytest.raises(ModelFileError, match="no job comes to network; add a route to it"):
        parse_model(idle).solve(100.0)
    idle += '[[routes]]\nfrom = "front"\nto = "network"\nprobability = 0\n'
    solution = parse_model(idle).solve(100.0)
    assert solution["nfsd.throughput"] == solution["nfsd.utilisation"] == 0
    assert solution.response_time == pytest.approx(1e-3 / 0.9, rel=1e-9)
    assert solution.saturation_throughput == pytest.approx(1000, rel=1e-9)


def test_show_names_regions_disciplines_and_what_a_full_room_does():
    model = parse_model("""
name = "held"
[parameters]
arrival_rate = "5 /s"
threads = 4
[stations.door]
kind = "MM1"
service_time = "1 ms"
discipline = "ps"
[stations.disk]
kind = "MM1K"
service_time = "2 ms"
capacity = 3
blocking = "after service"
[[routes]]
from = "door"
to = "disk"
[regions.pool]
stations = ["door"]
limit = "threads"
""")
    lines = [line.split() for line in str(model).splitlines()]
    assert ["pool", "door", "threads"] in lines
    assert any(line[:3] == ["door", "MM1,", "ps"] for line in lines)
    assert any(line[1:5] == ["MM1K,", "blocking", "after", "service"] for line in lines)
