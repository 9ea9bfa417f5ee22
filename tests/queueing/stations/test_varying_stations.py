"""Stations whose speed depends on the number there: batches, wake-ups, growing times."""

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.queueing import (
    MM1,
    MM1K,
    Batch,
    BatchK,
    Delay,
    LoadDependent,
    MMm,
    MMmK,
    Slowing,
    WakeUp,
    solve_closed,
)

# Sums of at most some hundred positive terms, whose logarithms are summed first.
SUMMED = 1e-11

times = st.floats(1e-3, 10.0)
counts = st.integers(1, 12)

LAWS = {
    "batch": (Batch(0.3, 0.05, 5), lambda n: min(n, 5) / (0.3 + 0.05 * min(n, 5))),
    "wake-up": (WakeUp(0.1, 0.25), lambda n: 1 / (0.35 if n == 1 else 0.1)),
    "slowing": (Slowing(0.1, 0.4, 6), lambda n: 1 / (0.1 * (1 + 0.4 * np.log(min(n, 6))))),
    "wake-ups of a pool": (WakeUp(0.1, 0.25, 3), lambda n: n / 0.35 if n <= 3 else 3 / 0.1),
    "a slowing pool": (
        Slowing(0.1, 0.4, 6, 3),
        lambda n: min(n, 3) / (0.1 * (1 + 0.4 * np.log(min(n, 6)))),
    ),
    "a pool that slows down for few": (
        Slowing(0.1, 0.4, 2, 5),
        lambda n: min(n, 5) / (0.1 * (1 + 0.4 * np.log(min(n, 2)))),
    ),
}


def chain(arrivals, rates):
    """Chances of 0, 1, 2... by the balance equations of the whole chain, solved as they stand."""
    size = len(rates) + 1
    flow = np.zeros((size, size))
    for n, (up, down) in enumerate(zip(arrivals, rates, strict=True)):
        flow[n, n + 1], flow[n + 1, n] = up, down
    flow -= np.diag(flow.sum(axis=1))
    balance = np.vstack([flow.T[:-1], np.ones(size)])
    return np.linalg.solve(balance, np.eye(size)[-1])


@pytest.mark.parametrize("alone", [1e3, 1e7, 1e9])
def test_who_is_much_slower_alone_is_counted_in_closed_networks_all_the_same(alone):
    """Log weights summed by hand; series scaled for N jobs at w each lost their digits."""
    away, jobs, own = 0.5, np.arange(1, 65), 1e-3
    served = np.array([alone * own, *[own] * 63])
    graph = ModelGraph("web").station("away", Delay(away))
    graph = graph.station("cpu", WakeUp(own, alone * own - own)).route("away", "cpu")
    solved = graph.at().closed(jobs).solve()

    for n, result in zip(jobs, solved["throughput"], strict=True):
        ways = np.cumsum([0, *np.log((n - np.arange(n)) / away * served[:n])])
        chances = np.exp(ways - ways.max()) / np.exp(ways - ways.max()).sum()
        assert result == pytest.approx(chances[1:] @ (1 / served[:n]), rel=1e-9)


@pytest.mark.parametrize("load", [0.3, 0.9, 1.0, 1.7])
@pytest.mark.parametrize(("batch", "places"), [(4, 9), (4, 4), (6, 3), (1, 1)])
def test_a_room_of_batches_is_its_whole_chain(batch, places, load):
    station = BatchK(0.3, 0.05, batch, places)
    rates = [min(n, batch) / (0.3 + 0.05 * min(n, batch)) for n in range(1, places + 1)]
    arriving = load * rates[-1]
    chances = chain([arriving] * places, rates)
    length = chances @ np.arange(places + 1)
    through = arriving * (1 - chances[-1])

    # Tolerance: a dense solution of ten equations.
    assert station.loss_probability(arriving) == pytest.approx(chances[-1], rel=1e-12)
    assert station.throughput(arriving) == pytest.approx(through, rel=1e-12)
    assert station.queue_length(arriving) == pytest.approx(length, rel=1e-12)
    assert station.response_time(arriving) == pytest.approx(length / through, rel=1e-12)
    assert station.empty_probability(arriving) == pytest.approx(chances[0], rel=1e-12)
    assert station.utilisation(arriving) == pytest.approx(1 - chances[0], rel=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_an_endless_queue_is_its_chain_cut_far_out(name):
    station, law = LAWS[name]
    rates = [law(n) for n in range(1, 301)]
    arriving = 0.8 * rates[-1]
    chances = chain([arriving] * 300, rates)

    # Tolerance: 0.8**300 of the chances lies beyond, and 300 equations.
    assert station.queue_length(arriving) == pytest.approx(chances @ np.arange(301), rel=1e-9)
    assert station.empty_probability(arriving) == pytest.approx(chances[0], rel=1e-9)


@pytest.mark.parametrize("jobs", [1, 2, 7, 40])
@pytest.mark.parametrize("name", LAWS)
def test_a_closed_network_with_one_is_its_whole_chain(name, jobs):
    station, law = LAWS[name]
    rates = [law(n) for n in range(1, jobs + 1)]
    chances = chain([(jobs - n) / 2.0 for n in range(jobs)], rates)
    solution = solve_closed([station], [1], jobs, think_time=2.0)

    # Tolerance: a dense solution of 40 equations.
    assert solution.throughput == pytest.approx(chances[1:] @ rates, rel=1e-10)
    assert solution.queue_length[0] == pytest.approx(chances @ np.arange(jobs + 1), rel=1e-10)


def test_a_long_wake_up_is_solved_in_a_sweep_of_populations():
    """Alone a job takes five million times as long as in company."""
    jobs = np.arange(1, 65)
    station = WakeUp(9e-6, 45.0)
    solution = solve_closed([station], [1], jobs, think_time=4e-6)
    for n in (1, 2, 9, 64):
        rates = [1 / 45.000009, *[1 / 9e-6] * (n - 1)]
        chances = chain([(n - k) / 4e-6 for k in range(n)], rates)
        assert solution.throughput[n - 1] == pytest.approx(chances[1:] @ rates, rel=1e-9)


@pytest.mark.parametrize("short", [0.0, 1e-300, 1e-12])
def test_a_station_that_takes_no_time_at_some_points_lets_everybody_through(short):
    """Solved beside points where it does; what it lost was silenced, and the throughput 0."""
    times = np.array([short, 1.0, 2.0])
    pools = solve_closed([MMm(times, 2)], [1], 5, think_time=2.0)
    waking = solve_closed([WakeUp(np.ones(3), 0.5)], [times], 5, think_time=2.0)

    for result in (pools, waking):
        assert result.throughput[0] == pytest.approx(5 / 2.0, rel=1e-11)
        assert result.queue_length[0, 0] == pytest.approx(0, abs=1e-9)
    alone = [solve_closed([MMm(time, 2)], [1], 5, 2.0).throughput for time in times]
    np.testing.assert_allclose(pools.throughput, alone, rtol=1e-11)


def test_a_steep_station_is_solved_alike_beside_larger_populations():
    """Weights up to 104 jobs took the digits of one: its throughput was 4% too high."""
    times, growth = np.array([1652.3, 9e-11]), np.array([744.8, 0.02])
    steep, beside = Slowing(times, growth, 105), WakeUp(np.array([360.4, 1.7e-4]), 0.0)
    solution = solve_closed([steep, beside], [1, 1], np.array([1, 104]), 0.04)

    assert solution.throughput[0] == pytest.approx(1 / (1652.3 + 360.4 + 0.04), rel=1e-11)


def test_who_never_thinks_keeps_a_pool_busy_beside_points_where_they_do():
    thinks, times = np.array([0.0, 1e-200, 1e-3, 0.5]), np.array([1.0, 1e9, 2.0, 1e-160])
    rate = solve_closed([MMm(times, 2)], [1], 5, thinks).throughput

    np.testing.assert_allclose(rate[:2], 2 / times[:2], rtol=1e-12)
    assert rate[2] == pytest.approx(1.0, rel=1e-9)
    assert rate[3] == pytest.approx(10.0, rel=1e-12)


@given(times, counts, counts, st.floats(0.0, 3.0))
def test_batches_without_a_time_of_their_own_are_one_server(time, batch, places, load):
    batches, server = BatchK(0.0, time, batch, places), MM1K(time, places)
    for law in ("loss_probability", "response_time", "throughput", "empty_probability"):
        assert getattr(batches, law)(load / time) == pytest.approx(
            getattr(server, law)(load / time), rel=SUMMED
        )


@given(times, counts, st.integers(0, 8), st.floats(0.0, 3.0))
def test_batches_that_cost_nothing_more_are_servers(time, batch, more, load):
    batches, pool = BatchK(time, 0.0, batch, batch + more), MMmK(time, batch, batch + more)
    rate = load * batch / time
    for law in ("loss_probability", "response_time", "throughput", "empty_probability"):
        assert getattr(batches, law)(rate) == pytest.approx(getattr(pool, law)(rate), rel=SUMMED)


@given(times, counts, st.floats(0.0, 0.95))
def test_endless_batches_have_the_same_limits(time, batch, load):
    alone, pool = Batch(0.0, time, batch), Batch(time, 0.0, batch)

    assert alone.response_time(load / time) == pytest.approx(
        MM1(time).response_time(load / time), rel=SUMMED
    )
    assert pool.response_time(load * batch / time) == pytest.approx(
        MMm(time, batch).response_time(load * batch / time), rel=SUMMED
    )


def test_much_room_is_no_limit():
    room, endless = BatchK(0.3, 0.05, 5, 400), Batch(0.3, 0.05, 5)

    assert room.response_time(7.0) == pytest.approx(endless.response_time(7.0), rel=SUMMED)


@pytest.mark.parametrize("load", [1e-9, 0.3, 0.99, 1 - 1e-9, 1.0, 1.01, 40.0, 1e9])
@pytest.mark.parametrize(("batch", "places"), [(1, 440), (112, 440), (440, 440), (64, 3000)])
def test_a_large_room_against_fifty_digits(batch, places, load):
    station = BatchK(0.45, 0.006, batch, places)
    with mpmath.workdps(50):
        a, b = mpmath.mpf(0.45), mpmath.mpf(0.006)
        rates = [min(n, batch) / (a + b * min(n, batch)) for n in range(1, places + 1)]
        arriving = load * float(rates[-1])
        chances = [mpmath.mpf(1)]
        for rate in rates:
            chances.append(chances[-1] * mpmath.mpf(arriving) / rate)
        total, let_in = mpmath.fsum(chances), mpmath.fsum(chances[:-1])
        length = mpmath.fsum(n * chance for n, chance in enumerate(chances))
        right = {
            "loss_probability": chances[-1] / total,
            "admitted": let_in / total,
            "response_time": length / (arriving * let_in),
            "empty_probability": 1 / total,
        }
        for law, value in right.items():
            result = getattr(station, law)(arriving)
            assert abs(result - value) <= SUMMED * value + 1e-290


@given(times, times, st.floats(0.0, 0.99))
def test_a_server_that_wakes_up_is_busy_by_the_law(time, wake_up, load):
    station = WakeUp(time, wake_up)

    # U = x (s + w) / (1 + x w) is the chance that somebody is there.
    assert station.utilisation(load / time) == pytest.approx(
        1 - station.empty_probability(load / time), rel=1e-9, abs=1e-12
    )
    assert WakeUp(time, 0.0).response_time(load / time) == pytest.approx(
        MM1(time).response_time(load / time), rel=SUMMED
    )


@given(times, counts, counts, st.floats(0.0, 0.95))
def test_pools_that_neither_sleep_nor_slow_down_are_servers_of_one_queue(
    time, servers, crowd, load
):
    pool, rate = MMm(time, servers), load * servers / time
    for station in (WakeUp(time, 0.0, servers), Slowing(time, 0.0, crowd, servers)):
        for law in ("response_time", "utilisation", "empty_probability"):
            assert getattr(station, law)(rate) == pytest.approx(
                getattr(pool, law)(rate), rel=1e-10, abs=1e-12
            )


@given(times, times, counts, st.floats(0.01, 0.9))
def test_numbers_of_servers_side_by_side_are_each_alone(time, wake_up, crowd, load):
    servers, rate = np.array([1.0, 2.0, 7.0]), load / time
    for kind in (lambda m: WakeUp(time, wake_up, m), lambda m: Slowing(time, 0.0, crowd, m)):
        for law in ("response_time", "utilisation", "empty_probability"):
            each = [getattr(kind(m), law)(rate) for m in servers]
            np.testing.assert_allclose(getattr(kind(servers), law)(rate), each, rtol=1e-10)


def test_overload_is_infinite_and_a_share_above_one():
    station = WakeUp(0.1, 0.2)

    assert station.response_time(np.array([0.0, 10.0, 12.0])).tolist() == [
        pytest.approx(0.3), np.inf, np.inf
    ]  # fmt: skip
    assert station.utilisation(10.0) == pytest.approx(1.0, rel=1e-12)
    assert station.utilisation(12.0) > 1


@given(times, counts, st.floats(0.0, 0.95))
def test_times_that_do_not_grow_are_one_server(time, crowd, load):
    assert Slowing(time, 0.0, crowd).response_time(load / time) == pytest.approx(
        MM1(time).response_time(load / time), rel=SUMMED
    )


@pytest.mark.parametrize("name", LAWS)
def test_rates_one_by_one_are_the_law(name):
    station, law = LAWS[name]
    listed = LoadDependent([law(n) for n in range(1, 7)])
    jobs = np.arange(1, 9)

    np.testing.assert_allclose(station.fastest(jobs), listed.fastest(jobs), rtol=1e-12)
    for one, other in zip(station.stay(jobs), listed.stay(jobs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert station.hastens == listed.hastens
    assert station.response_time(4.0) == pytest.approx(listed.response_time(4.0), rel=SUMMED)


def test_many_sets_and_points_at_once_are_each_alone():
    a, b = np.array([[0.3], [0.4], [0.5]]), np.array([[0.05], [0.0], [0.2]])
    batch, places = np.array([[2.0], [5.0], [9.0]]), np.array([[9.0], [5.0], [7.0]])
    rate = np.array([0.0, 3.0, 8.0, 50.0])
    for law in ("throughput", "response_time", "loss_probability"):
        together = getattr(BatchK(a, b, batch, places), law)(rate)
        each = [BatchK(*(float(v[k, 0]) for v in (a, b, batch, places))) for k in range(3)]
        alone = [[getattr(one, law)(x) for x in rate] for one in each]
        np.testing.assert_allclose(together, alone, rtol=1e-12)
    open_ones = Batch(a, b, batch).response_time(rate[:2])
    assert open_ones[2, 1] == pytest.approx(Batch(0.5, 0.2, 9).response_time(3.0), rel=1e-12)


def test_a_population_and_counts_by_point_solve_together():
    jobs, batch = np.array([1, 5, 30, 30]), np.array([4.0, 4.0, 4.0, 8.0])
    solution = solve_closed([Batch(0.3, 0.05, batch)], [1], jobs, think_time=0.5)
    alone = [
        solve_closed([Batch(0.3, 0.05, b)], [1], n, think_time=0.5).throughput
        for n, b in zip(jobs.tolist(), batch.tolist(), strict=True)
    ]
    np.testing.assert_allclose(solution.throughput, alone, rtol=1e-12)


@given(counts, counts, st.floats(0.01, 40.0))
@settings(max_examples=20, deadline=None)
def test_symbols_give_what_numbers_give(batch, places, load):
    rate = sympy.Symbol("rate", positive=True)
    station = BatchK(0.3, 0.05, batch, places)
    for law in ("loss_probability", "response_time", "throughput"):
        formula = getattr(station, law)(rate)
        assert float(formula.subs(rate, load)) == pytest.approx(
            getattr(station, law)(load), rel=1e-9
        )


def test_a_wake_up_has_a_closed_form():
    graph = ModelGraph("web").declare("s", "w").station("cpu", WakeUp("s", "w"))
    x, s, w = sympy.symbols("arrival_rate s w", positive=True)

    assert sympy.simplify(graph.closed_form("cpu.utilisation") - x * (s + w) / (1 + x * w)) == 0
    time = graph.closed_form("response_time").subs({x: 3, s: 0.1, w: 0.2})
    assert float(time) == pytest.approx(WakeUp(0.1, 0.2).response_time(3.0), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Batch(0.3, 0.05, 2.5), "largest_batch is 2.5; it must be a whole number of 1"),
        (lambda: BatchK(0.3, 0.05, 2, 0), "places is 0; it must be a whole number of 1"),
        (lambda: Batch(0.0, 0.0, 2), r"batch_time \+ request_time is 0; it must be positive"),
        (lambda: Batch(-1.0, 2.0, 2), "batch_time is -1; it must be zero or more"),
        (lambda: WakeUp(0.0, 1.0), "request_time is 0; it must be positive"),
        (lambda: Slowing(1.0, 0.1, 1.5), "crowd is 1.5; it must be a whole number"),
        (lambda: WakeUp(1.0, 0.1, 0), "servers is 0; it must be a whole number"),
        (lambda: Slowing(1.0, 0.1, 4, 2.5), "servers is 2.5; it must be a whole number"),
        (lambda: Slowing(1.0, 0.1, 4, 1e8).response_time(1.0), "crowd or servers is 100000000"),
        (
            lambda: BatchK(1.0, 1.0, 2, 1e8).response_time(1.0),
            "places is 100000000; it must be",
        ),
        (
            lambda: Batch(1.0, 1.0, 1e8).response_time(1.0),
            "largest_batch is 100000000; it must be",
        ),
        (lambda: BatchK(1.0, 1.0, 2, 3).response_time(-1.0), "the arrival rate is negative"),
        (
            lambda: Batch(1.0, 1.0, 65).response_time(sympy.Symbol("x")),
            "formulas write out sums up to 64 requests, not 65",
        ),
        (
            lambda: Batch(1.0, 1.0, sympy.Symbol("b", positive=True)).response_time(1.0),
            "largest_batch must be a number in a formula",
        ),
    ],
)
def test_what_is_outside_its_domain_is_refused(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


def test_a_room_has_no_place_in_a_closed_network():
    with pytest.raises(GraphError, match="BatchK has no closed product form; use .*Batch"):
        solve_closed([BatchK(1.0, 1.0, 2, 3)], [1], 5)


def test_formulas_in_a_file_and_shapes_of_counts():
    text = """name = "engine"
[parameters]
arrival_rate = "80 op/s"
start = "300 ms"
tokens = 20
largest = 64
[stations.gpu]
kind = "BatchK"
batch_time = "start + 0.15"
request_time = "tokens * 0.3e-3"
largest_batch = "largest"
capacity = "4 * largest"
"""
    solved = parse_model(text).at(arrival_rate=np.array([20.0, 80.0])).solve()

    engine = BatchK(0.45, 0.006, 64, 256)
    np.testing.assert_allclose(solved.response_time, engine.response_time(np.array([20.0, 80.0])))
    assert solved["loss_probability"][1] > 0.02


@pytest.mark.parametrize(
    ("station", "most"),
    [(MM1K(0.5, 400), 2.0), (MMmK(0.5, 2, 400), 4.0), (BatchK(0.1, 0.4, 3, 400), 3 / 1.3)],
)
def test_a_room_that_is_always_full_is_no_overload(station, most):
    """Its servers are busy all the time but for less than a rounding error."""
    graph = ModelGraph("room").declare("x").station("cpu", station)
    solved = graph.at(x=1.0).solve(arrival_rate=np.array([1.0, 40.0]))

    assert solved["cpu.utilisation"][1] == pytest.approx(1, rel=1e-12)
    assert not solved.saturated.any()
    assert solved.throughput[1] == pytest.approx(most, rel=1e-12)
