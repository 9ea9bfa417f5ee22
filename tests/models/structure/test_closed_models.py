"""The graph closed: throughputs that give themselves back, and times beside the stations."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.models import Measurements, ModelGraph, catalogue_model, data_path, parse_model
from headway.queueing import MM1, Delay, MMm
from tests.oracles.textbook import mean_value_analysis
from tests.support.command import headway, refusal


def raid():
    return catalogue_model("nfs-server").with_preset("raid")


def test_closed_server_never_exceeds_saturation():
    jobs = np.arange(1, 201)

    solved = raid().solve(population=jobs)

    assert (np.diff(solved.throughput) > -1e-9 * solved.throughput[1:]).all()
    assert (solved.throughput <= solved.saturation_throughput * (1 + 1e-12)).all()
    np.testing.assert_allclose(solved.response_time, jobs / solved.throughput, rtol=1e-9)
    # Far beyond the knee the response time is the population over the saturation throughput.
    assert solved.response_time[-1] == pytest.approx(200 * 650e-6, rel=1e-9)
    assert not solved.saturated.any()


def test_the_throughput_found_gives_itself_back():
    """With the miss ratio frozen at what the solution says, the same throughput comes out."""
    solved = raid().solve(population=15)
    frozen = 1 - 512e6 / (solved.throughput * 1e6)
    graph = (
        ModelGraph("frozen")
        .station("network", Delay(3.4e-3))
        .station("cpu", MM1(650e-6))
        .station("disks", MMm(12e-3, 28))
        .route("network", "cpu")
        .route("cpu", "disks", frozen)
    )

    again = graph.at().solve(population=15)

    assert solved.throughput > 512
    assert again.throughput == pytest.approx(solved.throughput, rel=1e-9)


def test_one_job_never_waits():
    solved = raid().solve(population=1)

    # One job is below 512 op/s: everything is in the cache.
    assert solved.response_time == pytest.approx(3.4e-3 + 650e-6, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=4), st.integers(1, 30), st.floats(0, 5))
def test_closed_graphs_follow_the_recursion_and_their_bounds(demands, jobs, think):
    graph = ModelGraph("g")
    for k, demand in enumerate(demands):
        graph = graph.station(f"s{k}", MM1(demand), visits=1.0)

    solved = graph.at().solve(population=jobs, think_time=think)

    expected = mean_value_analysis(demands, jobs, think)
    assert solved.throughput == pytest.approx(expected, rel=1e-10)
    total = sum(solved[f"{name}.queue_length"] for name in solved.stations)
    assert total + solved.throughput * think == pytest.approx(jobs, rel=1e-10)
    for bounds in solved.bounds().values():
        assert bounds.throughput_lower <= solved.throughput * (1 + 1e-9)
        assert solved.throughput <= bounds.throughput_upper * (1 + 1e-9)


@pytest.mark.parametrize("method", ["exact", "convolution", "schweitzer", "linearizer"])
def test_the_answer_says_which_method_was_used(method):
    solved = raid().solve(population=45, method=method)

    approximate = method in ("schweitzer", "linearizer")
    assert solved.method == ("convolution" if method == "exact" else method)
    assert bool(solved.approximation) == approximate
    exact = raid().solve(population=45).throughput
    # What the approximations miss here; exact methods agree to rounding.
    assert solved.throughput == pytest.approx(exact, rel=0.1 if approximate else 1e-10)


def test_nobody_and_arrays_of_parameters():
    solved = raid().at(cpu_time=np.array([650e-6, 1300e-6])).solve(population=np.array([0, 45]))

    assert solved.throughput[0] == 0
    assert solved.throughput[1] == pytest.approx(1 / 1300e-6, rel=1e-6)


def test_a_jump_in_the_model_is_refused():
    graph = ModelGraph("g").declare("s").station("cpu", MM1("s * where(throughput < 50, 1, 3)"))

    with pytest.raises(InvalidParameter, match="jumps with the load"):
        graph.at(s=0.01).solve(population=10)


def test_outputs_see_the_closed_solution():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).output("busy", "cpu.utilisation * 100")

    assert graph.at().solve(population=50)["busy"] == pytest.approx(100, rel=1e-12)


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_demands_that_are_no_numbers(number):
    graph = ModelGraph("g").declare("v").station("cpu", MM1(0.1), "v")

    with pytest.raises(InvalidParameter, match="finite"):
        graph.at(v=1.0).graph.at({"v": number}).solve(population=3)


def test_command_line():
    result = headway("solve", "nfs-server", "--preset", "raid", "--closed", "45", "--json")

    document = json.loads(result.out)
    point = document["points"][0]
    assert document["method"] == "convolution"
    assert point["inputs"]["population"] == 45
    assert point["outputs"]["throughput"] == pytest.approx(1538.5, abs=0.05)
    assert point["outputs"]["response_time"] == pytest.approx(0.02925, abs=1e-5)
    sweep = headway("solve", "nfs-server", "--population", "1:5", "--think", "15ms", "--csv")
    assert len(sweep.out.splitlines()) == 6
    shown = headway("solve", "nfs-server", "--set", "arrival_rate=1000", "--percentile", "95")
    assert "response_time_p95" in shown.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--closed", "-1"], "population is -1; it must be 0 or more"),
        (["--closed", "2.5"], "whole number"),
        (["--closed", "4", "--population", "1:3"], "not both"),
        (["--think", "3 s"], "--think needs"),
        (["--closed", "4", "--think", "-3 s"], "think_time is -3 s"),
        (["--closed", "4", "--think", "3 MB"], "needs time"),
        (["--closed", "4", "--method", "magic"], "magic"),
        (["--closed", "4", "--set", "arrival_rate=3"], "are both given"),
        (["--percentile", "101"], "between 0 and 100"),
    ],
)
def test_refused_on_the_command_line(arguments, message):
    assert message in refusal("solve", "nfs-server", *arguments)


def test_compare_closes_a_model_and_paces_it_to_the_measured_loads():
    """No load is beyond a closed model: at its limit 45 jobs are inside, by Little's law."""
    data = data_path("network_sensitivity/table_a_5_raid_performance.csv")
    slower = ("compare", "nfs-server", "--preset", "raid", "--set", "cpu_time=700us")
    command = (*slower, "--data", data)
    points = json.loads(headway(*command, "--closed", "45", "--json").out)["points"]
    last = max(points, key=lambda point: point["load"])

    assert all(point["predicted"] is not None for point in points)
    assert last["predicted"] == pytest.approx(45 / last["load"], rel=1e-12)
    assert "--think needs --closed" in refusal(*command, "--think", "1ms")
    assert "population is 0" in refusal(*command, "--closed", "0")


@pytest.mark.parametrize(
    "name",
    [
        "server-single",
        "server",
        "server-pool",
        "server-contention",
        "server-cache",
        "server-batching",
    ],
)
def test_time_that_a_formula_adds_is_in_the_circle_too(name):
    """The delay of these models is a term of their formula, not a station: jobs are there too."""
    model = catalogue_model(name).at(delay=2e-3)

    solved = model.solve(population=6, think_time=5e-3)

    # Little's law over the whole circle; where terms use the throughput it is agreed to 1e-9
    assert solved.throughput * (solved.response_time + 5e-3) == pytest.approx(6, rel=1e-8)
    # at the throughput that comes out the formula gives the response time that is told
    values = {"throughput": solved.throughput, "arrival_rate": solved.throughput}
    parts = {f"{s}.{p}": solved[f"{s}.{p}"] for s in solved.stations
             for p in ("response_time", "residence_time")}  # fmt: skip
    given = {**solved.model.inputs, **values, **parts}
    again = model.graph.plan.run(given, ["response_time"])["response_time"]
    assert again == pytest.approx(solved.response_time, rel=1e-8)


def test_a_delay_in_the_formula_is_a_delay_in_the_network():
    single = catalogue_model("server-single").at(delay=2e-3, service_time=1e-3)
    apart = (
        ModelGraph("apart").declare("delay", "s")
        .station("network", Delay("delay")).station("node", MM1("s")).route("network", "node")
    ).at(delay=2e-3, s=1e-3)  # fmt: skip

    jobs = np.arange(1.0, 30.0)
    result, expected = (m.solve(population=jobs, think_time=0.01) for m in (single, apart))

    np.testing.assert_allclose(result.throughput, expected.throughput, rtol=1e-12)
    np.testing.assert_allclose(result.response_time, expected.response_time, rtol=1e-12)
    np.testing.assert_allclose(result.knee_population, expected.knee_population, rtol=1e-12)
    for method, limits in result.bounds().items():
        for mine, theirs in zip(
            vars(limits).values(), vars(expected.bounds()[method]).values(), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_a_formula_that_leaves_a_station_out_cannot_be_closed():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).station("disk", MM1(0.2)).route("cpu", "disk")

    with pytest.raises(GraphError, match="g cannot be closed: its formula for response_time"):
        graph.output("response_time", "disk.response_time").at().solve(population=5)


def test_servers_that_stand_as_one_with_a_share_of_the_visits_cannot_be_closed():
    """`server` draws one of its equal servers; where the jobs at the others are is not in it."""
    with pytest.raises(GraphError, match="server cannot be closed"):
        catalogue_model("server").at(servers=2.0).solve(population=5)


@pytest.mark.parametrize("delay", [0.0, 1e-15, 5e-10, 1e-6])
def test_a_time_beside_the_stations_may_be_small(delay):
    graph = ModelGraph("g").declare("wait").station("cpu", MM1(1.39e-3))
    graph = graph.output("response_time", "wait + cpu.response_time")
    users = np.array([1.0, 8.0, 64.0])
    solution = graph.at(wait=delay).solve(population=users, think_time=0.01)
    same = ModelGraph("same").station("cpu", MM1(1.39e-3)).at()
    beside = same.solve(population=users, think_time=0.01 + delay)

    np.testing.assert_allclose(solution.throughput, beside.throughput, rtol=1e-11)


@pytest.mark.parametrize("population", [None, 5])
def test_methods_that_are_none_are_refused_open_and_closed(population):
    model = catalogue_model("server-single").at(delay=1e-3, service_time=1e-3)

    with pytest.raises(InvalidParameter, match=r"call model\.simulate\(\)"):
        model.solve(population=population, method="simulation")
    with pytest.raises(InvalidParameter, match=r"no method 'exakt'; did you mean exact"):
        model.solve(population=population, method="exakt")
    assert model.solve(population=population, method="exact").throughput > 0


def test_percentiles_at_a_pace_are_not_compared():
    model = catalogue_model("server-closed").at(population=20, think_time=0.01)
    data = Measurements.parse("throughput_ops_s,p99_ms\n300,5\n500,8\n", "own.csv")
    with pytest.raises(
        GraphError,
        match="driven by a throughput has no known percentiles; give the load as a population",
    ):
        model.compare(data, y="p99_ms")


def test_a_rate_of_arrivals_opens_a_closed_model():
    pool = ModelGraph("pool").declare("s").station("cpu", MMm("s", 4)).at(s=0.02)
    closed = parse_model(pool.closed(16, 0.1).to_toml())

    opened = closed.at(arrival_rate=150)

    assert not opened.is_closed
    assert "population" not in opened.parameters
    assert opened.solve().response_time == pool.solve(150).response_time
    assert opened.closed(16, 0.1).solve().throughput == closed.solve().throughput


def test_a_formula_of_the_population_keeps_it_closed():
    graph = ModelGraph("lock").declare("population", "s").station("cpu", MM1("s * population"))

    with pytest.raises(GraphError, match="lock cannot be opened: its formulas use population"):
        graph.at(s=0.01, population=3).at(arrival_rate=1)


def test_a_closed_model_whose_population_was_estimated_stays_closed():
    closed = ModelGraph("crowd").declare("s").station("cpu", MM1("s")).at(s=0.02).closed(16, 0.1)
    text = closed.to_toml()
    estimated = text.replace("value = 16", "value = 16\nci95 = [12, 20]")

    assert estimated != text
    with pytest.raises(GraphError, match="crowd cannot be opened: how many jobs circulate in it"):
        parse_model(estimated).at(arrival_rate=1)


CIRCLE = """
name = "shop"
[parameters]
population = "20 clients"
[stations.cpu]
kind = "MM1"
service_time = "40 ms"
[[routes]]
from = "cpu"
to = "cpu"
"""


@pytest.mark.parametrize(
    ("population", "rate"),
    [("20 clients", "requests/s"), ("20 jobs", "jobs/s"), ("20 transactions", "transactions/s"),
     ("20", "requests/s")],
)  # fmt: skip
def test_what_goes_round_is_done_in_its_own_word(population, rate):
    model = parse_model(CIRCLE.replace("20 clients", population))
    assert str(model.meaning("throughput").unit) == rate
    assert f"25 {rate}" in str(model.solve())


def test_classes_are_done_in_the_words_of_their_populations():
    text = """
name = "two"
[classes.web]
population = "8 clients"
think_time = "1 s"
[classes.batch]
population = "{}"
think_time = "0 s"
[stations.cpu]
kind = "MM1"
service_time = {{ web = "40 ms", batch = "100 ms" }}
"""
    alike, mixed = (parse_model(text.format(each)) for each in ("3 requests", "3 jobs"))
    assert "throughput [requests/s]" in str(alike.solve())
    assert "throughput [jobs/s]" in str(mixed.solve())


@pytest.mark.parametrize("word", ["", " clients", " requests"])
def test_a_count_is_a_count_by_whatever_word_data_and_model_say(word):
    text = CIRCLE.replace("20 clients", f"20{word}")
    data = Measurements.parse("clients,throughput_ops_s\n1,25\n4,25\n", "two.csv")
    counted = Measurements.parse("population [jobs],throughput_ops_s\n1,25\n4,25\n", "two.csv")
    for each in (data, counted):
        assert parse_model(text).compare(each).relative_error == pytest.approx([0, 0], abs=1e-12)
