"""Bounds in proportion, on classes and on open networks: exact solutions lie within."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.models import Measurements, catalogue_model
from headway.models.importing.finding import find_model
from headway.queueing import (
    MG1,
    MM1,
    MM1K,
    Delay,
    JobClass,
    MMm,
    Parallel,
    SharedStation,
    asymptotic_bounds,
    balanced_job_bounds,
    class_bounds,
    geometric_bounds,
    network_bounds,
    open_bounds,
    proportional_bounds,
    solve_closed,
    solve_multiclass,
)
from headway.queueing.stations.abilities import ServiceKind
from tests.support.command import headway

ROUNDING = 1e-11
"""Relative: both sides carry a few hundred roundings."""


def within(value, low, high):
    assert low <= value * (1 + ROUNDING)
    assert value <= high * (1 + ROUNDING)


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6),
    st.integers(1, 150),
    st.one_of(st.just(0.0), st.floats(1e-3, 1e4)),
)
def test_exact_solutions_lie_within_proportional_bounds(demand, population, think_time):
    exact = solve_closed([MM1(d) for d in demand], [1] * len(demand), population, think_time)
    result = proportional_bounds(demand, population, think_time)
    within(exact.throughput, result.throughput_lower, result.throughput_upper)
    inner, outer = result, asymptotic_bounds(demand, population, think_time)
    assert inner.throughput_lower >= outer.throughput_lower * (1 - ROUNDING)
    balanced = balanced_job_bounds(demand, population, think_time)
    # Chebyshev: sum D**2 / D is no less than the mean D
    assert inner.throughput_upper <= balanced.throughput_upper * (1 + ROUNDING)


@pytest.mark.parametrize("kind", [balanced_job_bounds, proportional_bounds, geometric_bounds])
@pytest.mark.parametrize("populations", [[1, 5, 80], [5, 80]])
def test_bounds_over_populations_are_those_of_each(kind, populations):
    """As many populations as stations, or not: jobs are not taken for stations."""
    swept = kind([0.3, 0.7], np.array(populations), 2.0)

    alone = [kind([0.3, 0.7], jobs, 2.0) for jobs in populations]
    assert list(swept.throughput_lower) == pytest.approx([b.throughput_lower for b in alone])
    assert list(swept.throughput_upper) == pytest.approx([b.throughput_upper for b in alone])


def test_proportional_bounds_of_two_jobs_are_exact():
    """One other job is at a station in proportion to its demand: Hsieh and Lam."""
    exact = solve_closed([MM1(0.7), MM1(0.2), MM1(0.1)], [1, 1, 1], 2, 0.0).throughput
    result = proportional_bounds([0.7, 0.2, 0.1], 2)
    assert result.throughput_lower == pytest.approx(exact, rel=1e-12)
    assert result.throughput_upper == pytest.approx(exact, rel=1e-12)
    named = network_bounds([MM1(0.7), MM1(0.2), MM1(0.1)], [1, 1, 1], 2)
    assert list(named) == ["asymptotic", "balanced job", "proportional", "geometric"]


SHARED = (
    (ServiceKind.QUEUE, 1),
    (ServiceKind.QUEUE, 3),
    (ServiceKind.PARALLEL, 2),
    (ServiceKind.DELAY, 1),
)
times = st.sampled_from([0.0, 0.05, 0.2, 0.6])


@given(
    st.lists(st.tuples(st.sampled_from(SHARED), times, times, times), min_size=1, max_size=4),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.1, 3.0])),
    st.sampled_from([0.0, 0.7]),
)
def test_every_class_lies_within_its_bounds(made, jobs, think, rate):
    stations = [
        SharedStation(f"s{k}", (0.1 + one, two, three), (1, 1, 1), kind, servers)
        for k, ((kind, servers), one, two, three) in enumerate(made)
    ]
    classes = [
        JobClass("a", population=jobs[0], think_time=think[0]),
        JobClass("b", population=jobs[1], think_time=think[1]),
        JobClass("c", arrival_rate=rate),
    ]
    result = class_bounds(stations, classes)
    pools = any(servers == 3 for (_, servers), *_ in made)
    assert bool(result) or (pools and rate > 0)
    solution = solve_multiclass(stations, classes)
    for place, name in enumerate("ab" if result else ""):
        rate_of, time_of = solution.throughput[place], solution.response_time[place]
        for bounds in result[name].values():
            within(rate_of, bounds.throughput_lower, bounds.throughput_upper)
            if time_of > 1e-3:
                low, high = bounds.response_time_lower, bounds.response_time_upper
                assert low <= time_of * (1 + 1e-9) + 1e-12
                assert time_of <= high * (1 + 1e-9) + 1e-12


def test_what_others_get_through_is_not_left():
    cpu = SharedStation("cpu", (0.1, 0.2), (1, 1))
    few, many = JobClass("few", population=1), JobClass("many", population=50)
    result = class_bounds([cpu], [few, many])
    assert result["many"]["composite"].throughput_upper < 5
    assert result["many"]["asymptotic"].throughput_upper == pytest.approx(5)
    varied = [SharedStation("cpu", (0.1, 0.2), (1, 1), ServiceKind.VARYING, speeds=(1, 2))]
    assert class_bounds(varied, [few, many]) == {}


@given(
    st.lists(
        st.tuples(st.sampled_from([MM1, Delay, MMm, Parallel]), st.sampled_from([0.05, 0.2, 0.6])),
        min_size=1,
        max_size=5,
    ),
    st.floats(0.01, 1.6),
)
def test_open_networks_lie_within_their_bounds(made, rate):
    stations = [kind(t, 3) if kind in {MMm, Parallel} else kind(t) for kind, t in made]
    exact = sum(station.response_time(rate) for station in stations)
    result = open_bounds(stations, [1] * len(stations), rate)
    for bounds in result.values():
        within(exact, bounds.response_time_lower, bounds.response_time_upper)
    busy = max(float(station.utilisation(rate)) for station in stations)
    if busy > 0:
        assert rate / result["asymptotic"].throughput_upper == pytest.approx(busy)


def test_bounds_of_open_networks_by_what_their_stations_are():
    plain = open_bounds([MG1(0.1, 3.0)], [1], np.array([2.0, 12.0]))
    assert list(plain) == ["asymptotic"]
    assert plain["asymptotic"].response_time_lower == pytest.approx(0.1)
    assert open_bounds([MM1K(0.1, 3)], [1], 2.0) == {}
    full = open_bounds([MM1(0.1), MM1(0.1)], [1, 1], 12.0)["balanced job"]
    assert np.isinf(full.response_time_lower)


CLASSES = """
name = "both"
[classes.web]
population = 3
[classes.batch]
population = 4
think_time = 0.5
[stations.cpu]
kind = "MM1"
discipline = "ps"
service_time = {web = 0.1, batch = 0.2}
[stations.disk]
kind = "MM1"
service_time = 0.05
[[routes]]
from = "cpu"
to = "disk"
"""


def test_bounds_stand_in_json_and_csv(tmp_path):
    path = tmp_path / "both.toml"
    path.write_text(CLASSES)
    (point,) = json.loads(headway("solve", str(path), "--json").out)["points"]
    low, high = point["class_bounds"]["batch"]["composite"]["throughput"]
    assert low <= point["classes"]["batch"]["throughput"] <= high
    low, high = point["class_bounds"]["web"]["balanced job"]["response_time"]
    assert low <= point["classes"]["web"]["response_time"] <= high
    header = headway("solve", str(path), "--csv").out.splitlines()[0].split(",")
    assert "web_composite_throughput_upper_per_s" in header

    closed = ("solve", "nfs-server", "--preset", "raid", "--population", "10,20")
    (_, point) = json.loads(headway(*closed, "--json").out)["points"]
    low, high = point["bounds"]["asymptotic"]["throughput"]
    assert low <= point["outputs"]["throughput"] <= high
    rows = Measurements.parse(headway(*closed, "--csv").out, "bounds.csv")
    column = rows.column("asymptotic_throughput_upper")
    assert column.values[1] == pytest.approx(high)

    opened = catalogue_model("nfs-server").with_preset("raid").solve(1200.0)
    bounds = opened.bounds()["balanced job"]
    within(opened.response_time, bounds.response_time_lower, bounds.response_time_upper)
    assert opened.rows()[0]["bounds"]["asymptotic"]["response_time"][1] == np.inf


def test_what_has_no_bounds_has_none(tmp_path):
    assert catalogue_model("program-latency").solve().bounds() == {}
    assert catalogue_model("server-single").solve(500.0).bounds() == {}  # by a formula
    path = tmp_path / "both.toml"
    path.write_text(CLASSES.replace("population = 3", "arrival_rate = 20"))
    assert find_model(str(path)).solve().class_bounds() == {}  # saturated
    assert find_model(str(path)).solve().bounds() == {}
