"""Loads and times at the edge of their domain: none, less than none, not a number, endless."""

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.models.structure.graph import ModelGraph
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    Delay,
    ForkJoin,
    GGm,
    JobClass,
    LoadDependent,
    MGm,
    MMm,
    MMmK,
    Parallel,
    Quota,
    SharedStation,
    erlang_b,
    erlang_c,
    solve_closed,
    solve_multiclass,
)
from headway.queueing.stations.speeds.sources import FiniteSource

KINDS = [
    Delay,
    MM1,
    lambda s: MMm(s, 2),
    lambda s: MMm(s, 200),
    lambda s: Parallel(s, 2),
    MD1,
    lambda s: MG1(s, 2.0),
    lambda s: MGm(s, 2, 2.0),
    lambda s: GGm(s, 2, 1.0, 2.0),
    lambda s: Quota(s, 0.6, 2.0),
    lambda s: ForkJoin(s, 3, 2, 2.0),
    lambda s: MM1K(s, 3),
    lambda s: MMmK(s, 2, 3),
    lambda s: MMmK(s, 200, 300),
]
RATES = [lambda s: LoadDependent((1 / s, 2 / s)), lambda s: FiniteSource(s, 2, 3)]
LAWS = ("utilisation", "waiting_time", "response_time", "queue_length", "throughput")


@pytest.mark.parametrize("kind", [*KINDS, *RATES])
@pytest.mark.parametrize("law", LAWS)
def test_not_a_number_stays_so(kind, law):
    answer = getattr(kind(1.0), law)
    still = kind is Delay and law == "response_time"  # a delay is the same at any load

    assert still or np.isnan(answer(np.nan))
    pair = np.broadcast_to(answer(np.array([np.nan, 0.5])), (2,))
    assert still or np.isnan(pair).tolist() == [True, False]


@pytest.mark.parametrize("kind", [*KINDS[1:], RATES[0]])
@pytest.mark.parametrize("rate", [-1.0, np.array([0.5, -1e-9])])
def test_negative_arrivals_are_refused(kind, rate):
    with pytest.raises(InvalidParameter, match="arrival rate is negative"):
        kind(1.0).response_time(rate)


@pytest.mark.parametrize("formula", [erlang_b, erlang_c])
def test_negative_offered_load_is_refused(formula):
    assert np.isnan(formula(2, np.nan))
    for load in (-1.0, np.array([1.0, -1.0])):
        with pytest.raises(InvalidParameter, match="offered_load is -1"):
            formula(2, load)


def cpu(**arrivals):
    graph = ModelGraph("cpu").declare("t").station("cpu", MM1(0.5))
    for name, rate in arrivals.items():
        graph = graph.arrive(name, rate)
    return graph


@pytest.mark.parametrize("rate", [-1.0, np.nan, np.inf, np.array([0.1, -0.4])])
def test_models_refuse_arrivals_that_are_no_rate(rate):
    with pytest.raises(InvalidParameter, match=r"(arrivals at cpu|t) is .*finite"):
        cpu(cpu="t").at(t=rate).solve()
    with pytest.raises(InvalidParameter, match="arrival_rate is"):
        cpu().at(t=1.0).solve(arrival_rate=rate)


@pytest.mark.parametrize("kind", KINDS)
def test_a_station_without_service_takes_no_time(kind):
    none = kind(0.0)

    for rate in (0.0, 3.0, np.array([0.0, 3.0])):
        assert np.all(none.response_time(rate) == 0)
        assert np.all(none.utilisation(rate) == 0)
        assert np.all(none.queue_length(rate) == 0)
        assert np.all(none.loss_probability(rate) == 0)
    assert none.capacity == np.inf
    assert np.array_equal(kind(np.array([0.0, 0.25])).response_time(0.5) == 0, [True, False])


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_with_a_station_without_service(kind):
    two = ModelGraph("two").station("none", kind(0.0)).station("disk", MM1(0.5))
    solved = two.route("none", "disk").at().solve(arrival_rate=1.0)

    assert solved.response_time == pytest.approx(1.0, rel=1e-12)
    assert solved.saturation_throughput == 2.0
    assert str(solved.bottleneck) == "disk"
    assert solved.to_json()
    assert str(solved)


@pytest.mark.parametrize("kind", KINDS[:5])
@pytest.mark.parametrize("method", ["exact", "convolution", "schweitzer", "linearizer"])
def test_closed_a_station_without_service_changes_nothing(kind, method):
    disk = MM1(0.5)
    with_none = solve_closed([kind(0.0), disk], [3.0, 2.0], 4, 1.0, method)
    alone = solve_closed([disk], [2.0], 4, 1.0, method)

    # Tolerance: iterated methods stop at 1e-12 or so of the queue lengths.
    assert with_none.throughput == pytest.approx(alone.throughput, rel=1e-10)
    assert with_none.residence_time[0] == 0
    model = ModelGraph("two").station("none", kind(0.0)).station("disk", disk).route("none", "disk")
    solved = model.at().closed(4, 1.0).solve(method=method)
    assert solved.knee_population == 3.0
    assert all(b.throughput_upper >= solved.throughput * 0.7 for b in solved.bounds().values())
    assert solved.to_json()


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_no_service_for_one_class_in_any_order(order):
    times = {"a": 0.0, "b": 0.5}
    graph = ModelGraph("g").station(
        "cpu", MM1(times[order[0]]), 1.0, {name: times[name] for name in order}
    )
    solved = graph.job_class("a", 1.0).job_class("b", 1.0).at().solve()

    assert solved["class a.response_time"] == 0
    assert solved["class b.response_time"] == pytest.approx(1.0, rel=1e-12)
    both = [JobClass(name, arrival_rate=1.0) for name in order]
    station = SharedStation("cpu", tuple(times[name] for name in order), (1.0, 1.0))
    assert solve_multiclass([station], both).response_time[order.index("a")] == 0


@pytest.mark.parametrize("rate", [5e-324, 1e-310, 1e-300, 1e200, 1e308])
@pytest.mark.parametrize("station", [MM1K("s", 5), MMmK("s", 2, 5), MMmK("s", 200, 300)])
@pytest.mark.parametrize("service_time", [1.0, 1e-200, 1e200])
def test_finite_rooms_at_the_ends_of_the_range(rate, station, service_time):
    solved = ModelGraph("g").declare("s").station("a", station).at(s=service_time).solve(rate)
    servers = getattr(station, "servers", 1)
    light = rate * service_time < 1e-100
    full = rate * service_time > 1e100

    assert 0 <= solved["loss_probability"] <= 1
    assert 0 <= solved["a.utilisation"] <= 1 + 1e-12
    if light:
        assert solved.response_time == pytest.approx(service_time, rel=1e-12)
    if full:
        time = service_time * station.places / servers
        assert solved.response_time == pytest.approx(time, rel=1e-12)
        assert solved.throughput == pytest.approx(servers / service_time, rel=1e-12)
    assert "null" not in solved.to_json().replace('"preset": null', "").replace(
        '"approximation": null', ""
    ).replace('"saturation_throughput": null', "")
