"""Exact solutions lie within the bounds of every kind of network that has some; others say why."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.models import ModelGraph, catalogue_model, parse_model
from headway.queueing import (
    MM1,
    MM1K,
    Delay,
    Fork,
    ForkJoin,
    LoadDependent,
    MMm,
    MMmK,
    Parallel,
    WakeUp,
)
from tests.brute.forked import Forked, solve_forked
from tests.support.command import headway

ROUNDING = 1e-9
"""Relative: what chains and recursions are solved to."""

times = st.sampled_from([0.05, 0.2, 0.5, 1.0])
thoughts = st.sampled_from([0.0, 0.5, 3.0])
PLAIN = {
    "MM1": MM1,
    "MMm": lambda time: MMm(time, 3),
    "Parallel": lambda time: Parallel(time, 2),
    "Delay": Delay,
    "LoadDependent": lambda time: LoadDependent((1 / time, 0.5 / time, 3 / time)),
    "WakeUp": lambda time: WakeUp(time, 0.4),
}
stations = st.lists(st.tuples(st.sampled_from(sorted(PLAIN)), times), min_size=1, max_size=4)


def within(solution, exact=None):
    """Throughput and response time between all bounds, of which there is one at least."""
    rate, time = exact or (solution.throughput, solution.response_time)
    bounds = solution.bounds()
    assert bounds
    assert solution.no_bounds == ""
    for one in bounds.values():
        assert one.throughput_lower <= rate * (1 + ROUNDING)
        assert rate <= one.throughput_upper * (1 + ROUNDING)
        assert one.response_time_lower <= time * (1 + ROUNDING) + 1e-12
        assert time <= one.response_time_upper * (1 + ROUNDING) + 1e-12


def chain_of(graph, made):
    """Stations in a row."""
    for k, station in enumerate(made):
        graph = graph.station(f"s{k}", station)
    for k in range(1, len(made)):
        graph = graph.route(f"s{k - 1}", f"s{k}")
    return graph


@settings(max_examples=25)
@given(stations, st.integers(1, 12), thoughts)
def test_closed_networks_with_a_product_form(made, population, think):
    graph = chain_of(ModelGraph("g"), [MM1(0.1), *(PLAIN[kind](time) for kind, time in made)])
    solution = graph.at().closed(population, think).solve(method="exact")
    assert solution.approximation == ""
    within(solution)


@settings(max_examples=25)
@given(stations, st.sampled_from([0.1, 0.5, 0.9]))
def test_open_networks_with_a_product_form(made, load):
    graph = chain_of(ModelGraph("g"), [MM1(0.1), *(PLAIN[kind](time) for kind, time in made)])
    most = float(graph.at().solve(arrival_rate=0.0).saturation_throughput)
    within(graph.at().solve(arrival_rate=load * most))


@settings(max_examples=12)
@given(
    st.lists(st.tuples(times, st.integers(1, 2), st.integers(0, 2)), min_size=1, max_size=2),
    st.integers(1, 5),
    thoughts,
    st.sampled_from([0.0, 0.4]),
)
def test_networks_that_block_after_service(made, population, think, back):
    rooms = [MM1K(t, 1 + more) if m == 1 else MMmK(t, m, m + more) for t, m, more in made]
    graph = ModelGraph("g").station("s0", MM1(0.3))
    for k, room in enumerate(rooms, 1):
        graph = graph.station(f"s{k}", room, blocking="after service").route(f"s{k - 1}", f"s{k}")
    graph = graph.route(f"s{len(rooms)}", "s0", back) if back else graph
    closed = graph.at().closed(population, think).solve(method="exact")
    assert closed.approximation == ""
    within(closed)
    opened = graph.at()
    most = float(opened.solve(arrival_rate=1e-6).saturation_throughput)
    solution = opened.solve(arrival_rate=0.7 * most, method="exact")
    assert solution.approximation == ""
    within(solution)


@settings(max_examples=12)
@given(st.lists(times, min_size=2, max_size=3), st.integers(1, 4), st.integers(1, 6), thoughts)
def test_regions_with_a_limit(made, limit, population, think):
    graph = chain_of(ModelGraph("g"), [MM1(0.2), *map(MM1, made)])
    graph = graph.region("few", [f"s{k}" for k in range(1, len(made) + 1)], limit=limit)
    closed = graph.at().closed(population, think).solve(method="exact")
    assert closed.approximation == ""
    within(closed)
    most = float(graph.at().solve(arrival_rate=1e-6).saturation_throughput)
    within(graph.at().solve(arrival_rate=0.7 * most))


@settings(max_examples=12)
@given(
    st.lists(st.sampled_from([0.2, 0.3, 0.5]), min_size=1, max_size=3),
    st.integers(1, 4),
    st.sampled_from([0.5, 3.0]),
)
def test_closed_forks_by_their_whole_chain(made, population, think):
    """The solution is approximate, so its bounds hold the chain's numbers in its place."""
    truth = solve_forked(Forked(tuple(made), len(made), population=population, think_time=think))
    graph = ModelGraph("g").station("start", Delay(0.0))
    for k, time in enumerate(made):
        graph = graph.station(f"disk{k}", MM1(time))
    graph = graph.fork("fork", [f"disk{k}" for k in range(len(made))])
    model = graph.route("start", "fork").at().closed(population, think)
    exact = truth.numbers["throughput"], truth.numbers["response_time"]
    solution = model.solve()
    within(solution, exact)
    within(solution)


@settings(max_examples=12)
@given(st.floats(0.05, 0.95), times)
def test_open_forks_of_two(load, time):
    """Exact by Nelson and Tantawi: (12 - U) / 8 of M/M/1."""
    alike = ModelGraph("g").station("fork", ForkJoin(time, 2, 2)).at()
    within(alike.solve(arrival_rate=load / time))
    graph = ModelGraph("g").station("start", Delay(0.0))
    graph = graph.station("a", MM1(time)).station("b", MM1(time)).fork("f", ["a", "b"])
    unlike = graph.route("start", "f").at().solve(arrival_rate=load / time)
    within(unlike, (load / time, (12 - load) / 8 * time / (1 - load)))
    asymptotic = unlike.bounds()["asymptotic"]
    assert asymptotic.response_time_lower == pytest.approx(1.5 * time)
    assert asymptotic.throughput_upper == pytest.approx(1 / time)
    assert Fork((MM1(time), MM1(time)), 2).response_time(load / time) >= 1.5 * time


def test_bounds_of_one_job_that_forks_meet():
    """One branch for one job: both limits are 1 / (Z + S), which is exact."""
    solution = ModelGraph("g").station("fork", ForkJoin(0.5, 1, 1)).at().closed(1, 1.5).solve()
    limits = solution.bounds()["asymptotic"]
    assert limits.throughput_lower == pytest.approx(0.5, rel=1e-12)
    assert limits.throughput_upper == pytest.approx(0.5, rel=1e-12)


ROOM = """
name = "room"
[parameters]
{jobs}
[stations.first]
kind = "MM1"
service_time = 0.1
[stations.second]
kind = "MM1K"
service_time = 0.1
capacity = 2
{more}
[[routes]]
from = "first"
to = "second"
"""


def one(jobs="arrival_rate = 2", more=""):
    return parse_model(ROOM.format(jobs=jobs, more=more)).solve()


CLASSES = """
name = "both"
[classes.web]
{web}
[classes.batch]
{batch}
[stations.cpu]
kind = "{kind}"
{more}
service_time = {{web = 0.1, batch = {time}}}
"""


def both(web="population = 3", batch="population = 4", kind="MM1", more='discipline = "ps"'):
    text = CLASSES.format(web=web, batch=batch, kind=kind, more=more, time=0.2)
    return parse_model(text).solve()


REASONS = {
    "lost": (one, "second can lose jobs"),
    "repeated": (
        lambda: one("population = 3\nthink_time = 0", 'blocking = "repetitive"'),
        "repetitive service at second changes how often a job visits each station",
    ),
    "nobody": (
        lambda: ModelGraph("g").station("cpu", MM1(0.1)).at().closed(0, 1.0).solve(),
        "the population is 0 at some point",
    ),
    "unlimited": (
        lambda: ModelGraph("g").station("rest", Delay(0.1)).at().closed(3, 1.0).solve(),
        "no station limits the throughput",
    ),
    "formula": (
        lambda: catalogue_model("server-single").solve(500.0),
        "a formula gives the response time",
    ),
    "program": (
        lambda: catalogue_model("program-latency").solve(),
        "a program has no stations to bound",
    ),
    "open classes": (
        lambda: both("arrival_rate = 1", "arrival_rate = 1"),
        "no class is closed",
    ),
    "saturated classes": (
        lambda: both("arrival_rate = 20"),
        "open classes saturate a station",
    ),
    "pool": (
        lambda: both("arrival_rate = 1", kind="MMm", more='discipline = "ps"\nservers = 2'),
        "bounds by class are unknown where open classes use a station of several servers",
    ),
    "priorities": (
        lambda: both(
            "population = 3\npriority = 1",
            "population = 4\npriority = 2",
            more='discipline = "priority"',
        ),
        "bounds by class are unknown (cpu: it serves by priority)",
    ),
    "in order": (
        lambda: both(more=""),
        "bounds by class are unknown (cpu: first come first served with times that differ by "
        "class)",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_what_has_no_bounds_says_why(name):
    made, reason = REASONS[name]
    solution = made()
    assert solution.bounds() == {}
    assert solution.class_bounds() == {}
    assert solution.no_bounds == reason
    document = json.loads(solution.to_json())
    assert document.get("no_bounds") == (reason if solution.stations else None)
    if not solution.is_open and not solution.shared and solution.stations:
        assert f"no bounds: {reason}" in " ".join(str(solution).split())


def test_classes_with_bounds_need_no_reason():
    result = both()
    assert result.class_bounds()
    assert result.no_bounds == ""


def test_bounds_of_forks_stand_in_all_answers(tmp_path):
    path = tmp_path / "stripe.toml"
    path.write_text(
        'name = "stripe"\n[parameters]\n[stations.disks]\nkind = "ForkJoin"\n'
        "service_time = 0.01\nbranches = 4\nneeded = 4\n"
    )
    closed = ("solve", str(path), "--population", "3", "--think", "20ms")
    (point,) = json.loads(headway(*closed, "--json").out)["points"]
    low, high = point["bounds"]["asymptotic"]["throughput"]
    assert low == pytest.approx(1 / (0.02 + 4 * 0.01))
    assert high == pytest.approx(3 / (0.02 + 0.01 * (1 + 1 / 2 + 1 / 3 + 1 / 4)))
    assert low <= point["outputs"]["throughput"] <= high
    assert "asymptotic_throughput_upper" in headway(*closed, "--csv").out
    assert "asymptotic bounds: throughput" in headway(*closed).out


def test_bounds_over_points_are_those_of_each():
    model = ModelGraph("g").station("fork", ForkJoin(1.0, 2, 2)).at()
    swept = model.closed(np.array([1, 2, 9]), 0.5).solve().bounds()["asymptotic"]
    each = [model.closed(n, 0.5).solve().bounds()["asymptotic"] for n in (1, 2, 9)]
    assert np.broadcast_to(swept.throughput_lower, 3).tolist() == pytest.approx(
        [one.throughput_lower for one in each]
    )
    assert list(swept.throughput_upper) == pytest.approx([one.throughput_upper for one in each])
