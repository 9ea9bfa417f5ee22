"""Arrivals with an scv of their own in files, in Python, and in all that a model is asked."""

import json

import numpy as np
import pytest

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.models import Measurements, ModelGraph, parse_model, read_model
from headway.models.analysis.goals import Goal
from headway.models.files.writing import to_toml
from headway.models.importing.writing import to_jmva
from headway.models.sizing.resources import resources
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, GGm, LoadDependent, MMm
from headway.queueing.variability.network import GeneralNetwork, solve_general
from tests.support.command import headway, refusal

FILE = """
name = "two"
[parameters]
burst = {value = 4.0, min = 0.0}
share = 0.5
arrival_rate = "6 op/s"
[stations.front]
kind = "MMm"
service_time = "100 ms"
servers = 2
[stations.wire]
kind = "Delay"
service_time = "30 ms"
[stations.back]
kind = "MG1"
service_time = "80 ms"
scv = 0.5
[[routes]]
from = "front"
to = "wire"
[[routes]]
from = "wire"
to = "back"
probability = "share"
[[routes]]
from = "back"
to = "front"
probability = 0.3
[arrivals]
front = {scv = "burst"}
back = {rate = "arrival_rate / 2", scv = 0.5}
"""


def two():
    return parse_model(FILE)


def test_file_and_python_say_what_the_law_says():
    """Rates, shares, several servers, a delay and a loop, at points of three parameters; 1e-9."""
    solution = two().solve(np.array([0.5, 2.0, 6.0]), burst=np.array([0.0, 1.0, 4.0]), share=0.7)
    onward = [[0, 1, 0], [0, 0, 0.7], [0.3, 0, 0]]
    for k, (rate, burst) in enumerate(((0.5, 0.0), (2.0, 1.0), (6.0, 4.0))):
        rates, coming = [rate, 0, rate / 2], [burst, 1, 0.5]
        numbers = ([0.1, 0.03, 0.08], [2, np.inf, 1], [1, 1, 0.5])
        law = solve_general(GeneralNetwork(rates, coming, onward, *numbers))
        for j, name in enumerate(solution.stations):
            text = solution[f"{name}.queue_length"][k]
            each = law.waiting_time[j] + numbers[0][j]
            assert text == pytest.approx(law.arrival_rate[j] * each, rel=1e-9)
            assert solution[f"{name}.arrival_scv"][k] == pytest.approx(law.arrival_scv[j], rel=1e-9)
            assert solution[f"{name}.departure_scv"][k] == pytest.approx(law.departure_scv[j])
    assert solution.method == "qna"
    assert "simulation" in solution.approximation
    graph = (
        ModelGraph("two").declare("burst", "share").station("front", MMm(0.1, 2))
        .station("wire", Delay(0.03)).station("back", MG1(0.08, 0.5))
        .route("front", "wire").route("wire", "back", "share").route("back", "front", 0.3)
        .arrive("front", scv="burst").arrive("back", "arrival_rate / 2", scv=0.5)
    )  # fmt: skip
    same = graph.at(burst=4.0, share=0.5).solve(6.0)
    assert same.response_time == two().solve().response_time


def test_written_and_read_again_it_is_the_same():
    model = two()
    again = parse_model(to_toml(model))
    assert again.graph == model.graph
    assert again.solve().response_time == model.solve().response_time


def test_services_propagate_by_default_where_they_feed_a_queue():
    """Behind M/D/1 flows are steadier than Poisson ones, unless visits hide where jobs go."""
    graph = ModelGraph("line").station("a", MD1(0.1)).station("b", MG1(0.08, 2.0)).route("a", "b")
    usual, asked = graph.at().solve(8.0), graph.at().solve(8.0, method="qna")
    assert usual.method == "qna"
    assert usual.response_time == asked.response_time
    assert usual["b.queue_length"] < 8 * MG1(0.08, 2.0).response_time(8.0)
    assert usual["a.queue_length"] == pytest.approx(8 * MD1(0.1).response_time(8.0), rel=1e-12)
    assert usual["b.arrival_scv"] < 1
    visits = ModelGraph("v").station("a", MD1(0.1), 1.0).station("b", MG1(0.08, 2.0), 1.0)
    hidden = visits.at().solve(8.0)
    assert hidden.method == "open"
    with pytest.raises(HeadwayError, match="no answer"):
        hidden["b.arrival_scv"]
    jackson = ModelGraph("j").station("a", MM1(0.1)).station("b", MM1(0.08)).route("a", "b")
    exact, solved = jackson.at().solve(8.0), jackson.at().solve(8.0, method="qna")
    assert solved.response_time == pytest.approx(exact.response_time, rel=1e-12)
    assert solved.approximation == ""
    assert "method: qna (exact)" in str(solved)
    alone = ModelGraph("one").station("a", MG1(0.1, 3.0)).arrive("a", 5.0, scv=1.0).at().solve()
    assert alone.approximation == ""
    assert alone.response_time == pytest.approx(MG1(0.1, 3.0).response_time(5.0))


def test_where_nobody_comes_nobody_waits_and_flows_have_their_limits():
    line = ModelGraph("g").station("front", MMm(0.1, 2)).station("back", MM1(0.1))
    solution = line.route("front", "back").arrive("front", scv=4.0).at().solve([0.0, 1e-9])
    assert solution["front.residence_time"][0] == pytest.approx(solution["front.residence_time"][1])
    assert solution["back.arrival_scv"][0] == pytest.approx(
        solution["back.arrival_scv"][1], rel=1e-6
    )
    over = two().solve(40.0)
    assert over.saturated.all()
    assert over.response_time == np.inf


@pytest.mark.parametrize(
    ("station", "words"),
    [
        (MM1K(0.1, 5), "through a MM1K"),
        (LoadDependent((1.0, 2.0)), "through a LoadDependent"),
    ],
)
def test_stations_without_two_moments_are_refused(station, words):
    graph = ModelGraph("g").station("x", station).arrive("x", 5.0, scv=2.0)
    with pytest.raises(GraphError, match=words):
        graph.at()
    with pytest.raises(GraphError, match=words):
        ModelGraph("g").station("x", station).at().solve(5.0, method="qna")


def test_what_it_cannot_do_is_refused_by_name():
    line = ModelGraph("g").station("x", MM1(0.1), discipline="ps").arrive("x", 5.0, scv=2.0)
    with pytest.raises(GraphError, match="through fcfs queues only, not discipline ps"):
        line.at()
    visits = ModelGraph("g").station("x", MM1(0.1), visits=2).station("y", MM1(0.1), visits=1)
    with pytest.raises(GraphError, match="visits do not show where jobs go"):
        visits.arrive("x", 5.0, scv=2.0).at()
    classes = ModelGraph("g").job_class("a", 1.0).job_class("b", 1.0).station("x", MM1(0.1))
    with pytest.raises(GraphError, match="give arrival_scv to the classes"):
        classes.arrive("x", 1.0, scv=2.0).at()
    assert classes.at().solve(method="qna").approximation == ""  # one exponential time
    with pytest.raises(GraphError, match="without stations"):
        ModelGraph("g").output("one", "1").at().solve(method="qna")
    model = two()
    for arguments in (
        lambda: model.solve(population=5),
        lambda: ModelGraph("g").station("x", MM1(0.1)).at().solve(population=5, method="qna"),
    ):
        with pytest.raises(GraphError, match="a closed network does not have"):
            arguments()
    for method in ("exact", "schweitzer"):
        with pytest.raises(GraphError, match=f"method {method} does not.*do not set"):
            model.solve(method=method)
    with pytest.raises(GraphError, match="has no percentiles"):
        model.solve().with_percentile(99)
    with pytest.raises(GraphError, match="no closed form"):
        model.graph.closed_form("response_time")
    with pytest.raises(HeadwayError, match="scv of arrivals at front"):
        model.graph.at(burst=-1.0, share=0.5).solve(1.0)
    with pytest.raises(HeadwayError, match="JMVA's are Poisson"):
        to_jmva(model)


def test_one_class_alone_propagates_as_the_network_it_is():
    line = ModelGraph("g").station("a", MD1(0.1)).station("b", MM1(0.08)).route("a", "b")
    alone = line.job_class("web", 8.0).at().solve(method="qna")
    assert alone.response_time == line.at().solve(8.0, method="qna").response_time
    assert alone["b.arrival_scv"] < 1


def test_a_general_station_of_its_own_gives_way():
    graph = ModelGraph("g").station("x", GGm(0.1, 1, 9.0, 1.0))
    solution = graph.at().solve(5.0, method="qna")
    assert solution["x.arrival_scv"] == 1.0
    assert solution.response_time == pytest.approx(MM1(0.1).response_time(5.0))
    assert (
        "flows replace the arrival_scv of x"
        in graph.arrive("x", 5.0, scv=2.0).at().solve().approximation
    )


def test_fits_sizes_and_sensitivities_follow():
    """Each asks the solver, and gives what it gives at the point."""
    line = ModelGraph("g").declare("burst", "pool").station("front", MMm(0.1, "pool"))
    line = line.station("back", MM1(0.08)).route("front", "back").arrive("front", scv="burst")
    model = line.at(burst=4.0, pool=2, arrival_rate=10.0)
    rates = np.array([2.0, 6.0, 10.0])
    times = model.solve(rates).response_time
    rows = "".join(
        f"{x!r},{1e3 * t!r}\n" for x, t in zip(rates.tolist(), times.tolist(), strict=True)
    )
    curve = Measurements.parse("throughput_ops_s,response_ms\n" + rows, "curve")
    assert model.at(burst=1.0).fit(curve, ["burst"]).values["burst"] == pytest.approx(4.0, rel=1e-3)
    slope = (model.solve(burst=4.04).response_time / model.solve(burst=3.96).response_time - 1) / 2
    burst = model.sensitivity().effects["response_time"]["burst"]
    assert burst.elasticity == pytest.approx(100 * slope, rel=1e-2)
    goals = [Goal("response_time", "<=", 1.0)]
    assert resources(model, goals, ["pool"]) == ()
    steps = [n for n in range(1, 9) if model.solve(pool=n).response_time <= 1.0]
    size = model.size(["response_time <= 1 s"], {"pool": range(1, 9)}, "pool")
    assert size.best.values["pool"] == steps[0]


def test_the_simulation_draws_arrivals_of_that_scv():
    """The witness against GI/M/1 that is exact: within its 99% interval, of streams that meet."""
    graph = ModelGraph("g").station("x", MM1(0.06)).arrive("x", 10.0, scv=4.0)
    simulation = graph.at().simulate(half_width=0.1, seed=3)
    low, high = simulation["response_time"].interval(0.99)
    first = (1 + 0.6**0.5) / 2
    root = 0.5
    for _ in range(200):
        step = (1 - root) / 0.6
        root = sum(p * 2 * p / (2 * p + step) for p in (first, 1 - first))
    assert low <= 0.06 / (1 - root) <= high
    assert any("hyperexponential" in note for note in simulation.notes)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "--percentile", "99"), "propagated variability has no percentiles"),
        (
            ("solve", "--show", "x.waiting_time_p95"),
            "propagated variability gives only mean numbers",
        ),
        (("solve", "--queue-lengths", "x"), "propagated variability gives only mean numbers"),
        (("solve", "--method", "exact"), "method exact does not support"),
        (("sweep", "--set", "rate=1,2", "--reduce", "top(response_time_p99, 1)"), "percentiles"),
        (
            (
                "size",
                "--target",
                "response_time_p99<=1s",
                "--choose",
                "servers=1:3",
                "--cost",
                "servers",
            ),
            "propagated variability has no percentiles",
        ),
    ],
)
def test_what_two_moments_do_not_tell_is_refused_in_a_line_by_each_command(
    tmp_path, arguments, words
):
    path = tmp_path / "m.toml"
    path.write_text(
        'name = "m"\n[parameters]\nrate = "5 /s"\nservers = 1\n[stations.x]\nkind = "MMm"\n'
        'service_time = "0.1 s"\nservers = "servers"\n[arrivals]\nx = {rate = "rate", scv = 4}\n',
        encoding="utf-8",
    )
    assert words in refusal(arguments[0], path, *arguments[1:])


GAPS = "job,gap_ms\n1,10\n2,30\n3,0\n4,80\n"


def trace(folder, text=GAPS, keys='trace = "gaps.csv", column = "gap_ms"'):
    (folder / "gaps.csv").write_text(text, encoding="utf-8")
    path = folder / "m.toml"
    station = '[stations.x]\nkind = "MM1"\nservice_time = "1 ms"\n'
    path.write_text(f'name = "m"\n{station}[arrivals]\nx = {{{keys}}}\n', encoding="utf-8")
    return path


def test_a_trace_gives_rate_and_scv(tmp_path):
    """Mean 30 ms, variance 950 ms^2: a rate of 33.3 1/s and an scv of 950 / 900."""
    solution = read_model(trace(tmp_path)).solve()
    assert solution.throughput == pytest.approx(1 / 0.03)
    assert solution["x.arrival_scv"] == pytest.approx(950 / 900)
    result = headway("solve", trace(tmp_path), "--json")
    parts = json.loads(result.out)["points"][0]["components"]["x"]
    assert parts["arrival_scv"] == pytest.approx(950 / 900)
    assert set(parts) >= {"arrival_scv", "departure_scv"}


@pytest.mark.parametrize(
    ("text", "keys", "words"),
    [
        (None, 'trace = "none.csv"', "there is no such file"),
        (None, 'trace = "/dev/stdin"', "not a pipe"),
        ("", 'trace = "gaps.csv"', "is empty"),
        ("gap\n", 'trace = "gaps.csv"', "no rows"),
        ("gap\n1\n", 'trace = "gaps.csv"', "only one time"),
        ("gap\n0\n0\n", 'trace = "gaps.csv"', "mean too close to zero"),
        ("gap\n1\n-2\n", 'trace = "gaps.csv"', "gaps.csv:3: '-2' is not a time"),
        ("gap\n1\nnan\n", 'trace = "gaps.csv"', "'nan' is not a time"),
        ("gap\n1\n1e400\n", 'trace = "gaps.csv"', "is not a time"),
        ("gap\n1e-320\n1e-320\n", 'trace = "gaps.csv"', "mean too close to zero"),
        ("gap\n" + "".join(f"{k}\n" for k in range(10)), 'trace = "gaps.csv"', "only grow"),
        (GAPS, 'trace = "gaps.csv"', "has 2 columns; give column"),
        (GAPS, 'trace = "gaps.csv", column = "gap"', "has no column 'gap'"),
        (GAPS, 'trace = "gaps.csv", column = "gap_ms", scv = 2', "keep one of them"),
        (GAPS, 'column = "gap_ms"', "column needs trace; add trace, or delete column"),
        (GAPS, "", "arrivals need rate, scv, batch, rates or trace"),
        (GAPS, 'rate = "5 /s", spread = 2', "unknown key spread"),
        (GAPS, 'rate = "5 /s", scv = -2', "scv of arrivals at x"),
    ],
)
def test_traces_and_tables_that_are_wrong_are_refused_in_a_line(tmp_path, text, keys, words):
    path = trace(tmp_path, GAPS if text is None else text, keys)
    assert words in refusal("solve", path)


def test_traces_that_are_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("headway.models.files.traces.LARGEST", 10)
    assert "more than the" in refusal("solve", trace(tmp_path))


def test_the_command_takes_the_method():
    assert "qna" in headway("solve", "server-single", "--method", "qna", "--set",
                            "arrival_rate=100", "--set", "delay=1ms", "--set",
                            "service_time=1ms").out  # fmt: skip
    with pytest.raises(InvalidParameter, match="no method"):
        two().solve(method="qnna")
