"""What solutions say of numbers of jobs and waits at stations, from Python and the command line."""

import json
import re
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from headway.errors import GraphError, HeadwayError, InvalidParameter, UnknownParameter
from headway.models import ModelGraph, catalogue_model
from headway.models.files.shipped import model_names
from headway.models.importing.finding import find_model
from headway.models.plotting.figures import picture
from headway.models.solving.marginals import numbers
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, GGm, LoadDependent, MMm, Quota
from headway.queueing.marginals.closed import closed_marginal
from tests.brute.kinds import KINDS, drawn
from tests.support.command import headway

STATION_LAWS = ("empty_probability", "waiting_probability", "queue_length_variance")
RAID = catalogue_model("nfs-server").with_preset("raid")


def alone(station):
    return ModelGraph("one").station("cpu", station).at()


def test_numbers_of_stations_are_asked_as_percentiles_are():
    solution = RAID.solve([800.0, 1200.0])
    busy = np.asarray(solution["cpu.utilisation"])
    assert solution["cpu.empty_probability"] == pytest.approx(1 - busy, rel=1e-12)
    assert solution["cpu.waiting_probability"] == pytest.approx(busy, rel=1e-12)
    assert solution["cpu.queue_length_variance"] == pytest.approx(busy / (1 - busy) ** 2, rel=1e-12)
    waits = 0.00065 / (1 - busy) * np.log(busy / 0.05)
    assert solution["cpu.waiting_time_p95"] == pytest.approx(waits, rel=1e-12)
    assert solution["cpu.waiting_time_p95.0"] == pytest.approx(waits, rel=1e-12)


def test_the_law_of_a_station_is_found_once_however_much_is_asked(monkeypatch):
    rows = []

    def counted(find):
        return lambda solution, station: rows.append((find, station)) or find(solution, station)

    watched = {find: counted(find) for find, *_ in numbers._READ.values()}
    rows_read = {name: (watched[find], *rest) for name, (find, *rest) in numbers._READ.items()}
    monkeypatch.setattr(numbers, "_READ", rows_read)
    parts = (*STATION_LAWS, "waiting_time_p50", "waiting_time_p95")
    RAID.solve(800.0).answering(*(f"{name}.{part}" for name in ("cpu", "disks") for part in parts))
    assert len(rows) == len(set(rows)) == 4


def test_a_saturated_station_is_never_empty_and_lets_everybody_wait():
    solution = RAID.solve([800.0, 1700.0])
    assert solution["cpu.empty_probability"][1] == 0
    assert solution["cpu.waiting_probability"][1] == 1
    assert np.isinf(solution["cpu.queue_length_variance"][1])
    assert np.isinf(solution["cpu.waiting_time_p95"][1])
    assert np.isfinite(solution["disks.queue_length_variance"]).all()
    assert np.isnan(solution.queue_lengths("cpu").chances("cpu")[1]).all()


def test_who_circulates_alone_never_waits():
    solution = RAID.solve(population=[0, 1, 20])
    waits = solution["cpu.waiting_probability"]
    assert np.isnan(waits[0])
    assert waits[1] == 0
    assert waits[2] > 0.8
    assert solution["cpu.empty_probability"][0] == 1
    times = solution["cpu.waiting_time_p95"]
    assert np.isnan(times[0])
    assert times[1] == 0
    assert times[2] > 0


@pytest.mark.parametrize("rate", [4.0, [2.0, 4.0]])
def test_lengths_have_the_means_of_the_solution(rate):
    graph = ModelGraph("three").station("a", MM1K(0.1, 4)).station("b", MG1(0.15, 3.0))
    graph = graph.station("c", LoadDependent((5.0, 9.0)))
    solution = graph.route("a", "b").route("b", "c").at().solve(rate)
    lengths = solution.queue_lengths()
    for name in solution.stations:
        chances = lengths.chances(name)
        mean = (chances * np.arange(chances.shape[-1])).sum(axis=-1)
        # the answer lists all but 1e-9 of the time
        assert mean == pytest.approx(solution[f"{name}.queue_length"], rel=1e-6)
    laws = [law for each in lengths.laws.values() for law in each]
    assert sum(law.mean for law in laws) == pytest.approx(
        sum(np.sum(solution[f"{name}.queue_length"]) for name in solution.stations), rel=1e-10
    )


@pytest.mark.parametrize("station", [MM1K(0.1, 4), MG1(0.1, 3.0), MD1(0.1), MM1(0.1)])
def test_jobs_that_come_straight_back_are_counted(station):
    one = ModelGraph("one").station("cpu", station).route("cpu", "cpu", 0.4).at()
    solution = one.solve([2.0, 5.0])
    (laws,) = solution.queue_lengths("cpu").laws.values()
    means = [law.mean for law in laws]
    assert means == pytest.approx(solution["cpu.queue_length"], rel=1e-10)
    if not isinstance(station, MM1):
        with pytest.raises(GraphError, match="cpu: waiting times of jobs that return directly"):
            solution["cpu.waiting_time_p95"]
        with pytest.raises(GraphError, match="cpu: the probability that an arriving job waits"):
            solution["cpu.waiting_probability"]


CLASSES = """
name = "both"
[classes.web]
arrival_rate = 3
[classes.batch]
population = 4
think_time = 0.5
[stations.cpu]
kind = "MM1"
discipline = "ps"
service_time = {web = 0.1, batch = 0.2}
[stations.pool]
kind = "MMm"
servers = 2
discipline = "ps"
service_time = {web = 0.2, batch = 0.1}
[stations.net]
kind = "Delay"
service_time = 0.05
[[routes]]
from = "cpu"
to = "pool"
[[routes]]
from = "pool"
to = "net"
"""


def test_classes_are_counted_together(tmp_path):
    path = tmp_path / "both.toml"
    path.write_text(CLASSES)
    solution = find_model(str(path)).solve()
    lengths = solution.queue_lengths()
    for name in solution.stations:
        (law,) = lengths.laws[name]
        assert law.mean == pytest.approx(float(solution[f"{name}.queue_length"]), rel=1e-10)
    assert 0 < solution["cpu.waiting_probability"] < 1
    with pytest.raises(GraphError, match="both: cpu: waiting times of several classes"):
        solution["cpu.waiting_time_p95"]


@pytest.mark.parametrize(
    ("solution", "name", "reason"),
    [
        (lambda: alone(GGm(0.1, 2, 0.5, 0.5)).solve(5), "empty_probability", "two moments"),
        (lambda: alone(GGm(0.1, 2, 0.5, 0.5)).solve(5), "waiting_time_p95", "two moments"),
        (
            lambda: alone(LoadDependent((9.0,))).solve(5),
            "waiting_probability",
            "arriving job waits is unknown",
        ),
        (
            lambda: alone(LoadDependent((9.0,))).solve(5),
            "waiting_time_p95",
            "do not determine which",
        ),
        (
            lambda: alone(MMm(0.1, 2)).solve(population=9, method="schweitzer"),
            "empty_probability",
            "an approximate solution has means only",
        ),
        (
            lambda: alone(Quota(0.1, 0.5, 1.0)).solve(population=9),
            "empty_probability",
            "an approximate solution has means only",
        ),
        (lambda: alone(MM1(0.1)).solve(5), "waiting_time_p100", "between 0 and 100"),
    ],
)
def test_what_has_no_law_is_refused_by_name(solution, name, reason):
    with pytest.raises((GraphError, InvalidParameter), match=reason):
        solution()[f"cpu.{name}"]


def test_a_program_has_no_queues():
    with pytest.raises(GraphError, match="a program has no queues"):
        catalogue_model("program-latency").solve().queue_lengths()


def test_names_that_are_none_are_refused_with_the_nearest():
    solution = RAID.solve(800.0)
    with pytest.raises(UnknownParameter):
        solution["cup.empty_probability"]
    with pytest.raises(InvalidParameter, match="no station 'cup'; did you mean cpu"):
        solution.queue_lengths("cup")
    with pytest.raises(InvalidParameter, match="share is 1;"):
        solution.queue_lengths("cpu").covering("cpu", 1)


COMMAND = ("solve", "nfs-server", "--preset", "raid")


def test_numbers_asked_stand_in_table_json_and_csv():
    arguments = (
        *COMMAND,
        "--show",
        "cpu.waiting_time_p95,disks.empty_probability,response_time_p50",
    )
    table = headway(*arguments).out
    assert "cpu.waiting_time_p95" in table
    assert "response_time_p50" in table
    (point,) = json.loads(headway(*arguments, "--json").out)["points"]
    expected = RAID.solve()["cpu.waiting_time_p95"]
    assert point["components"]["cpu"]["waiting_time_p95"] == pytest.approx(expected)
    assert "disks_empty_probability" in headway(*arguments, "--csv").out.splitlines()[0].split(",")


def test_lengths_are_told_as_table_json_csv_and_picture(tmp_path):
    arguments = (*COMMAND, "--queue-lengths", "cpu,disks")
    assert "probability of each number of jobs" in headway(*arguments).out
    document = json.loads(headway(*arguments, "--json").out)
    cpu = document["points"][0]["stations"]["cpu"]
    assert sum(cpu["probabilities"]) + cpu["more_probability"] == pytest.approx(1, rel=1e-12)
    rows = headway(*arguments, "--csv").out.splitlines()
    assert rows[0].split(",")[-5:-2] == ["station", "jobs", "probability"]
    picture = tmp_path / "lengths.svg"
    swept = headway(*arguments, "--population", "1:12", "--plot", str(picture))
    assert swept.code == 0
    assert picture.stat().st_size > 5000


def test_many_numbers_of_jobs_share_rows():
    printed = headway("solve", "server-single", "--set", "arrival_rate=990 op/s", "--set",
                    "service_time=1ms", "--queue-lengths", "node").out  # fmt: skip
    rows = printed.split("probability of each number of jobs")[1].splitlines()
    assert len(rows) < 40
    assert " to " in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--show", "cpu.waiting"], "there is no number 'cpu.waiting'"),
        (["--show", "cpu.waiting_time_p0"], "percentile is 0; it must be between 0 and 100"),
        (["--queue-lengths", ","], "--queue-lengths names no station"),
        (["--queue-lengths", "x"], "nfs-server has no station 'x'"),
        (["--queue-lengths", "cpu", "--percentile", "95"], "--percentile needs a table"),
        (["--queue-lengths", "cpu", "--uncertain"], "--queue-lengths needs fixed parameters"),
        (["--show", "cpu.empty_probability", "--method", "simulation"], "--show needs fixed"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_line(options, message):
    printed = headway(*COMMAND, *options)
    assert printed.code == 2
    assert not printed.out
    assert printed.err.startswith(f"error: {message}")
    assert len(printed.err.splitlines()) == 1


def test_a_delay_holds_poissons_number():
    law = alone(Delay(2.0)).solve(3.0).queue_lengths("cpu").laws["cpu"][0]
    assert law.mean == pytest.approx(6)
    assert law.variance == pytest.approx(6)


CHAIN = """
name = "passes"
[classes.request]
population = 3
reference = "terminals"
[classes.answer]
population = 0
[stations.terminals]
kind = "Delay"
service_time = 0.5
[stations.server]
kind = "MM1"
discipline = "ps"
service_time = { request = 0.1, answer = 0.2 }
[[routes]]
from = "terminals"
to = "server"
[[routes]]
from = "server"
to = "server"
class = "request"
becomes = "answer"
[[routes]]
from = "server"
to = "terminals"
class = "answer"
becomes = "request"
"""


def test_jobs_of_a_chain_are_counted_together(tmp_path):
    """Whatever its classes, a job needs 0.3 s at the server: as of one class by product form."""
    path = tmp_path / "passes.toml"
    path.write_text(CHAIN)
    solution = find_model(str(path)).solve()
    lengths = solution.queue_lengths()
    one = closed_marginal([Delay(0.5), MM1(0.3)], [1, 1], 3, 0.0, 1)
    assert lengths.chances("server") == pytest.approx(one.chances, rel=1e-12)
    for name in solution.stations:
        (law,) = lengths.laws[name]
        assert law.mean == pytest.approx(float(solution[f"{name}.queue_length"]), rel=1e-10)
    assert solution.class_bounds() == {}
    path.write_text(CHAIN.replace('"ps"', '"fcfs"'))
    with pytest.raises(GraphError, match="passes: server: "):
        find_model(str(path)).solve(method="schweitzer").queue_lengths("server")


def test_classes_served_in_order_have_no_known_law(tmp_path):
    path = tmp_path / "both.toml"
    path.write_text(CLASSES.replace('"ps"', '"fcfs"'))
    with pytest.raises(GraphError, match="both: cpu: an approximate solution has means only"):
        find_model(str(path)).solve().queue_lengths("cpu")


def test_the_page_shows_the_picture_that_the_command_makes(request):
    solution = RAID.solve(population=np.arange(1.0, 41.0))
    fresh = picture(solution.queue_lengths("cpu", "disks").plot(), "svg").decode()
    shown = request.config.rootpath / "docs" / "pictures" / "queue-lengths.svg"
    words = re.findall(r"<!-- (.+) -->", fresh)
    assert "90% of the time" in words
    assert words == re.findall(r"<!-- (.+) -->", shown.read_text())


def bounds_checked(solution):
    """How many stations' laws have the mean of the solution; the others are refused by name."""
    count = 0
    for name in solution.stations:
        with refused_by_name(name):
            (law,) = solution.queue_lengths(name).laws[name]
            length = float(np.ravel(solution[f"{name}.queue_length"])[0])
            assert law is None or law.mean == pytest.approx(length, rel=1e-9, abs=1e-12)
            count += 1
    return count


@contextmanager
def refused_by_name(name):
    """Let a refusal pass that names the station."""
    try:
        yield
    except HeadwayError as error:
        if f": {name}: " not in str(error):
            raise


def test_laws_of_the_catalogue_have_the_means_of_its_solutions():
    models = [catalogue_model(name) for name in model_names()]
    each = [m.with_preset(next(iter(m.presets))) if m.presets else m for m in models]
    assert sum(bounds_checked(model.solve()) for model in each if model.graph.stations) >= 20


def test_laws_of_networks_of_every_kind_have_their_means_or_are_refused(tmp_path):
    path, count = tmp_path / "drawn.toml", 0
    for seed in range(2 * len(KINDS)):
        path.write_text(drawn(seed).text)
        with suppress(HeadwayError):  # what no model file holds yet
            solution = find_model(str(path)).solve()
            count += bounds_checked(solution)
    assert count >= 20


@pytest.mark.parametrize(
    "part", ["empty_probability", "waiting_time_p95", "response_time_over_1ms"]
)
def test_circulating_jobs_that_fork_have_no_known_numbers(part):
    """At branches, at the fork and beside it: a reason, and what to do."""
    graph = (
        ModelGraph("f").station("cpu", MM1(0.01)).station("a", MM1(0.02)).station("b", MM1(0.03))
    )
    graph = graph.fork("both", ["a", "b"]).route("cpu", "both")
    solution = graph.at().solve(population=3, think_time=0.1)
    for name in ("cpu", "a"):
        with pytest.raises(GraphError, match=f"f: {name}: .*at several stations at once.*simulate"):
            solution[f"{name}.{part}"]
    with pytest.raises(GraphError, match="at several stations at once"):
        solution.queue_lengths()
