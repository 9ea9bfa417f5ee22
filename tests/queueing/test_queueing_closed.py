"""Closed networks of one class: methods agree, laws hold, extremes stay finite."""

from bisect import bisect_left
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.queueing import (
    MG1,
    MM1,
    Delay,
    LoadDependent,
    Method,
    MMm,
    Parallel,
    solve_closed,
)
from headway.queueing.closed.digits import digit_convolution, has_few_digits
from headway.queueing.closed.saturated import SinglePoint, is_saturated, saturated

# The acceptance; two recursions of a few hundred positive steps differ by less.
AGREE = 1e-10

times = st.floats(1e-3, 1e3)  # six decades


@st.composite
def networks(draw, kinds=(Delay, MM1, Parallel)):
    stations = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5)):
        time = draw(times)
        if kind in (MMm, Parallel):
            stations.append(kind(time, draw(st.integers(1, 9))))
        else:
            stations.append(kind(time))
    visits = draw(
        st.lists(
            st.one_of(st.just(0.0), st.floats(0.1, 10)),
            min_size=len(stations),
            max_size=len(stations),
        )
    )
    return stations, [*visits[:-1], max(visits[-1], 0.1)]


def assert_same(one, other, rel=AGREE):
    np.testing.assert_allclose(one.throughput, other.throughput, rtol=rel)
    np.testing.assert_allclose(one.queue_length, other.queue_length, rtol=rel)
    np.testing.assert_allclose(one.residence_time, other.residence_time, rtol=rel)


@given(networks(), st.integers(0, 120), st.one_of(st.just(0.0), times))
@settings(deadline=None)
def test_convolution_and_load_dependence_agree_with_exact_mva(network, population, think_time):
    stations, visits = network
    exact = solve_closed(stations, visits, population, think_time, Method.EXACT)
    convolved = solve_closed(stations, visits, population, think_time, Method.CONVOLUTION)
    rates = [LoadDependent([1 / s.service_time]) if isinstance(s, MM1) else s for s in stations]
    dependent = solve_closed(rates, visits, population, think_time)

    assert_same(exact, convolved)
    assert_same(exact, dependent)


@given(networks((Delay, MM1, MMm)), st.integers(1, 60), st.one_of(st.just(0.0), times))
@settings(deadline=None)
def test_laws_of_every_solution(network, population, think_time):
    stations, visits = network
    solution = solve_closed(stations, visits, population, think_time)

    jobs = solution.queue_length.sum() + solution.throughput * think_time
    assert jobs == pytest.approx(population, rel=AGREE)
    assert solution.throughput * (think_time + solution.response_time) == pytest.approx(
        population, rel=AGREE
    )
    np.testing.assert_allclose(
        solution.queue_length, solution.station_throughput * solution.station_response_time, AGREE
    )
    # Rounding may carry a saturated server a few digits past 1.
    assert (solution.utilisation <= 1 + 1e-12).all()
    assert (solution.utilisation >= 0).all()
    for station, busy, rate in zip(
        stations, solution.utilisation, solution.station_throughput, strict=True
    ):
        assert busy == station.utilisation(rate)


@given(networks((MM1, MMm)), st.integers(1, 40))
@settings(deadline=None)
def test_pool_is_its_load_dependent_self(network, population):
    stations, visits = network
    dependent = [
        LoadDependent([n / s.service_time for n in range(1, getattr(s, "servers", 1) + 1)])
        for s in stations
    ]

    assert_same(
        solve_closed(stations, visits, population), solve_closed(dependent, visits, population)
    )


def exact_series(demands, speeds, think, population):
    """Series G(0), G(1)... in 50 digits; speeds by number present."""
    series = [mpmath.mpf(think) ** n / mpmath.factorial(n) for n in range(population + 1)]
    for demand, speed in zip(demands, speeds, strict=True):
        factor = [mpmath.mpf(1)]
        for n in range(1, population + 1):
            factor.append(factor[-1] * mpmath.mpf(demand) / speed(n))
        series = [
            mpmath.fsum(factor[j] * series[n - j] for j in range(n + 1))
            for n in range(population + 1)
        ]
    return series


def exact_single(demands, speeds, think, population):
    """Throughput by convolution in 50 digits."""
    series = exact_series(demands, speeds, think, population)
    return series[population - 1] / series[population]


def test_eight_servers_and_a_hundred_jobs_against_fifty_digits():
    with mpmath.workdps(50):
        for demand in (0.5, 1.0, 7.9, 8.0, 8.1, 50.0):
            solution = solve_closed([MMm(demand, 8), MM1(1.0)], [1, 1], 100, think_time=2.0)
            exact = exact_single([demand, 1.0], [lambda n: min(n, 8), lambda _: 1], 2.0, 100)
            # Some hundred sums of positive terms.
            assert abs(solution.throughput / exact - 1) < 1e-12
            assert solution.method is Method.CONVOLUTION


@pytest.mark.parametrize("demands", [[1.0, 0.999, 0.5, 1e-6], [0.3, 0.3, 0.3], [2.0, 0.0]])
@pytest.mark.parametrize("think_time", [0.0, 7.0])
@pytest.mark.parametrize("population", [1, 2, 127, 128, 200])
def test_digits_against_fifty_digits(demands, think_time, population):
    network = SinglePoint(np.array(demands), np.ones(len(demands), int), think_time, population)
    rate, queue = digit_convolution(network)

    with mpmath.workdps(50):
        alone = [lambda _: 1] * len(demands)
        series = exact_series(demands, alone, think_time, population)
        # Eight digits of five sums of positive terms each.
        assert abs(rate[0] * series[-1] / series[-2] - 1) < 1e-12
        for demand, result in zip(demands, queue[:, 0], strict=True):
            exact = (
                sum(mpmath.mpf(demand) ** j * series[-1 - j] for j in range(1, population + 1))
                / series[-1]
            )
            assert abs(result - exact) <= 1e-12 * exact


@given(
    st.lists(times, min_size=1, max_size=6),
    st.one_of(st.just(0.0), times),
    st.integers(1, 3),
)
@settings(deadline=None)
def test_saturated_is_within_rounding_where_it_begins(demands, think_time, queues):
    split = np.array([1] * (len(demands) - 1) + [queues])
    anywhere = SinglePoint(np.array(demands), split, think_time, 1)
    populations = range(1, 10**6)
    first = bisect_left(
        populations, True, key=lambda n: is_saturated(replace(anywhere, population=n))
    )
    network = replace(anywhere, population=first + 1)
    assume(first < len(populations) and has_few_digits(network))

    for result, exact in zip(saturated(network), digit_convolution(network), strict=True):
        # Twenty digits of up to nine factors each; the rest at the slowest queue is a difference.
        np.testing.assert_allclose(result, exact, rtol=1e-12)


def test_speeds_that_fall_with_load():
    rates = [2.0, 3.0, 3.5, 2.0, 1.0, 0.5]
    with mpmath.workdps(50):
        exact = exact_single([0.5, 0.4], [lambda n: rates[min(n, 6) - 1] / 2, lambda _: 1], 0.0, 60)
    solution = solve_closed([LoadDependent(rates), MM1(0.4)], [1, 1], 60)

    assert solution.throughput == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("method", [Method.AUTO, Method.CONVOLUTION])
@pytest.mark.parametrize("think_time", [0.0, 20.0, 5e4, 1e7])
def test_hundred_thousand_jobs(think_time, method):
    stations = [MM1(1.0), MM1(0.999), MM1(1e-6), MM1(1.0), Delay(3.0)]

    solution = solve_closed(stations, [1, 1, 1, 1, 1], 100_000, think_time, method)

    # N (X Z + sum of Q) adds a hundred thousand rounded terms.
    jobs = solution.queue_length.sum() + solution.throughput * think_time
    assert jobs == pytest.approx(1e5, rel=1e-9)
    assert 0 < solution.throughput <= 1 + 1e-12


def test_hundred_thousand_jobs_and_many_servers():
    solution = solve_closed([MMm(1.0, 600), MM1(0.0016)], [1, 1], 100_000, think_time=100.0)

    assert solution.throughput == pytest.approx(600, rel=1e-9)
    assert solution.queue_length.sum() + 100 * solution.throughput == pytest.approx(1e5, rel=1e-9)


def test_identical_stations_in_balance():
    solution = solve_closed([MM1(2.0)] * 7, [1] * 7, 5000, method=Method.CONVOLUTION)

    # X = N / (D (N + K - 1)) for K equal stations.
    assert solution.throughput == pytest.approx(5000 / (2 * 5006), rel=1e-11)
    np.testing.assert_allclose(solution.queue_length, 5000 / 7, rtol=1e-11)


def test_one_job_never_waits_and_none_does_nothing():
    stations = [MM1(1.0), MMm(2.0, 3), Delay(4.0)]

    one = solve_closed(stations, [1, 0.5, 1], np.array([0, 1]), 3.0)

    assert one.throughput == pytest.approx([0, 1 / 9], rel=1e-12)
    assert one.residence_time[:, 1] == pytest.approx([1, 1, 4], rel=1e-12)
    assert one.queue_length[:, 0].tolist() == [0, 0, 0]
    assert one.response_time[0] == 0


def test_a_station_nobody_visits():
    solution = solve_closed([MM1(1.0), MM1(5.0), MMm(5.0, 2)], [1, 0, 0], 4)

    assert solution.throughput == pytest.approx(1.0, rel=1e-12)
    assert solution.queue_length == pytest.approx([4, 0, 0])
    assert solution.station_response_time == pytest.approx([4, 5, 5])


@pytest.mark.parametrize("method", [Method.EXACT, Method.CONVOLUTION])
def test_points_are_solved_as_one_by_one(method):
    service = np.array([[0.5, 1.0], [2.0, 0.01]])
    population = np.array([1, 30])
    servers = np.array([[2], [5]])
    stations = [MM1(service), Parallel(1.0, 3), MM1(1.1)]
    if method is Method.CONVOLUTION:
        stations.append(MMm(3.0, servers))

    table = solve_closed(stations, [1] * len(stations), population, 0.3, method)

    for i in range(2):
        for j in range(2):
            own = [MM1(service[i, j]), *stations[1:3]]
            if method is Method.CONVOLUTION:
                own.append(MMm(3.0, int(servers[i, 0])))
            single = solve_closed(own, [1] * len(own), int(population[j]), 0.3, method)
            assert table.throughput[i, j] == pytest.approx(single.throughput, rel=1e-12)
            assert table.queue_length[:, i, j] == pytest.approx(single.queue_length, rel=1e-11)


@given(networks((Delay, MM1)), st.integers(1, 60), st.one_of(st.just(0.0), times))
@settings(deadline=None)
def test_approximations_keep_their_published_error(network, population, think_time):
    stations, visits = network
    exact = solve_closed(stations, visits, population, think_time)

    near = solve_closed(stations, visits, population, think_time, Method.SCHWEITZER)
    nearer = solve_closed(stations, visits, population, think_time, Method.LINEARIZER)

    # Lazowska et al., chapter 7: throughput within some 5 to 10%, Linearizer within 1 to 2%.
    assert near.throughput == pytest.approx(exact.throughput, rel=0.10)
    assert nearer.throughput == pytest.approx(exact.throughput, rel=0.02)
    assert near.approximation.startswith("Bard-Schweitzer")
    assert nearer.approximation.startswith("Linearizer")
    assert not exact.approximation


def test_measured_error_of_the_approximations():
    rng = np.random.default_rng(7)
    demands = 10 ** rng.uniform(-2, 0, (4, 3000))
    population, think = rng.integers(1, 60, 3000), rng.uniform(0, 5, 3000)
    stations = [MM1(row) for row in demands]

    exact = solve_closed(stations, [1] * 4, population, think).throughput
    errors = {}
    for method in (Method.SCHWEITZER, Method.LINEARIZER):
        rate = solve_closed(stations, [1] * 4, population, think, method).throughput
        errors[method] = np.abs(rate / exact - 1)

    # Measured over these 3000 networks: the figures the documentation gives.
    assert errors[Method.SCHWEITZER].max() < 0.07
    assert errors[Method.LINEARIZER].max() < 0.009
    assert np.median(errors[Method.SCHWEITZER]) < 0.0075
    assert np.median(errors[Method.LINEARIZER]) < 0.0003


def test_approximated_pool_says_what_was_measured():
    solution = solve_closed([MMm(1.0, 4), MM1(0.2)], [1, 1], 12, 1.0, Method.SCHWEITZER)
    exact = solve_closed([MMm(1.0, 4), MM1(0.2)], [1, 1], 12, 1.0)

    assert "largest error measured: throughput" in solution.approximation
    assert solution.throughput == pytest.approx(exact.throughput, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], [], 1), GraphError, "needs a station"),
        (([MM1(1.0)], [1, 2], 1), GraphError, "visits has 2 entries for 1 stations"),
        (([MG1(1.0, 2.0)], [1], 1), GraphError, "^MG1 has no closed product form; use Delay"),
        (([MM1(1.0)], [1], -1), InvalidParameter, "population is -1"),
        (([MM1(1.0)], [1], 2.5), InvalidParameter, "population is 2.5"),
        (([MM1(1.0)], [np.nan], 1), InvalidParameter, "visits is nan"),
        (([MM1(1.0)], [1], 1, np.inf), InvalidParameter, "think_time is inf"),
        (([MM1(1.0)], ["twice"], 1), InvalidParameter, "twice is not a number"),
        (([MM1(1.0)], [0.0], 1), GraphError, "no station has a demand"),
        (([LoadDependent([1.0, 5.0])], [1], 3, 0.0, "linearizer"), GraphError, "use method exact"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        solve_closed(*arguments)


@pytest.mark.parametrize("points", [12, 300])
def test_sweep_of_populations_by_both_exact_methods(points):
    population = np.arange(points)
    stations = [MM1(0.5), Parallel(1.0, 2), MM1(np.linspace(0.1, 2.0, points)), Delay(1.0)]

    exact = solve_closed(stations, [1, 1, 1, 1], population, 0.7, Method.EXACT)
    convolved = solve_closed(stations, [1, 1, 1, 1], population, 0.7, Method.CONVOLUTION)

    assert_same(exact, convolved)


@pytest.mark.parametrize("method", [Method.SCHWEITZER, Method.LINEARIZER])
def test_approximations_of_pools_beside_queues_over_many_points(method):
    times = np.array([0.1, 0.2, 0.4])
    stations = [MM1(0.2), MMm(times, 4), Delay(1.0)]

    together = solve_closed(stations, [1, 1, 1], 12, 0.0, method)

    for k, time in enumerate(times):
        alone = solve_closed([MM1(0.2), MMm(time, 4), Delay(1.0)], [1, 1, 1], 12, 0.0, method)
        # Fixed points are iterated until the slowest point has settled.
        assert together.throughput[k] == pytest.approx(alone.throughput, rel=1e-9)
