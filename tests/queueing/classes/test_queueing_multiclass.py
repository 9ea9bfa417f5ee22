"""Several classes: against direct sums over all states, and by the laws."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.queueing import (
    MM1,
    Delay,
    JobClass,
    Method,
    MMm,
    Parallel,
    ServiceKind,
    SharedStation,
    solve_closed,
    solve_multiclass,
)
from tests.support.class_networks import AGREE, BY_VISITS, closed, demands, opened, shared


def state_weight(jobs, demand, beside, load, servers):
    """Product form of a station with `jobs` by class and `beside` open jobs."""
    total = sum(jobs) + beside
    ways = factorial(total) // prod(factorial(n) for n in (*jobs, beside))
    speeds = prod(min(n, servers) for n in range(1, total + 1))
    return ways / speeds * prod(d**n for d, n in zip(demand, jobs, strict=True)) * load**beside


def direct(stations, populations, think_times):
    """Sum over all placements; `stations` are (closed demands, servers, open load)."""
    states = list(product(*(range(n + 1) for n in populations)))
    series = {
        n: prod(z**i / factorial(i) for z, i in zip(think_times, n, strict=True)) for n in states
    }
    tables = []
    for demand, servers, load in stations:
        own = {n: [0.0, 0.0] for n in states}
        for n in states:
            for beside in range(120 if load else 1):
                weight = state_weight(n, demand, beside, load, servers)
                own[n][0] += weight
                own[n][1] += weight * beside
        tables.append(own)

    def together(parts):
        total = dict(series)
        for part in parts:
            total = {
                n: sum(
                    part[i] * total[tuple(a - b for a, b in zip(n, i, strict=True))]
                    for i in product(*(range(x + 1) for x in n))
                )
                for n in states
            }
        return total

    plain = [{n: w[0] for n, w in own.items()} for own in tables]
    chances = together(plain)
    top = chances[tuple(populations)]
    rates = []
    for c, size in enumerate(populations):
        fewer = tuple(n - (i == c) for i, n in enumerate(populations))
        rates.append(chances[fewer] / top if size else 0.0)
    queues, opens = [], []
    for k, own in enumerate(tables):
        others = plain[:k] + plain[k + 1 :]
        by_class = [
            together([*others, {n: n[c] * w[0] for n, w in own.items()}])[tuple(populations)] / top
            for c in range(len(populations))
        ]
        queues.append(by_class)
        opens.append(
            together([*others, {n: w[1] for n, w in own.items()}])[tuple(populations)] / top
        )
    return rates, queues, opens


@given(
    st.lists(st.tuples(demands, demands), min_size=2, max_size=2),
    st.lists(st.integers(1, 4), min_size=2, max_size=2),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just(0.0) | demands, demands),
    st.floats(0.0, 0.6),
)
@settings(max_examples=40, deadline=None)
def test_mixed_networks_with_pools_against_direct_sums(times, servers, populations, think, busy):
    open_times = [0.3, 1.1]
    rate = busy * min(m / t for m, t in zip(servers, open_times, strict=True))
    stations = [shared(f"s{k}", [open_times[k], *times[k]], servers[k]) for k in range(2)]
    classes = [
        JobClass("web", arrival_rate=rate),
        *(closed(n, z) for n, z in zip(populations, think, strict=True)),
    ]

    solution = solve_multiclass(stations, classes)

    rates, queues, opens = direct(
        [(times[k], servers[k], rate * open_times[k]) for k in range(2)], populations, think
    )
    assert solution.throughput[1:] == pytest.approx(rates, rel=AGREE, abs=1e-12)
    assert solution.queue_length[:, 1:] == pytest.approx(np.array(queues), rel=AGREE, abs=1e-12)
    assert solution.queue_length[:, 0] == pytest.approx(opens, rel=AGREE, abs=1e-12)
    assert not solution.approximation


@given(
    st.lists(st.tuples(demands, demands, demands), min_size=1, max_size=4),
    st.tuples(*[st.integers(0, 6)] * 3),
    st.tuples(*[st.just(0.0) | demands] * 3),
)
@settings(max_examples=40, deadline=None)
def test_lattice_mva_equals_lattice_convolution(times, populations, think):
    stations = [shared(f"s{k}", row) for k, row in enumerate(times)]
    stations.append(shared("disks", [0.5] * 3, 3, ServiceKind.PARALLEL))
    stations.append(shared("net", [0.2] * 3, 1, ServiceKind.DELAY))
    classes = [closed(n, z) for n, z in zip(populations, think, strict=True)]

    exact = solve_multiclass(stations, classes, Method.EXACT)
    convolved = solve_multiclass(stations, classes, Method.CONVOLUTION)

    assert exact.method is Method.EXACT
    np.testing.assert_allclose(exact.throughput, convolved.throughput, rtol=AGREE)
    np.testing.assert_allclose(exact.queue_length, convolved.queue_length, rtol=AGREE)
    # Little's law for each class's whole circle.
    np.testing.assert_allclose(
        exact.throughput * (think + exact.response_time), populations, rtol=AGREE
    )
    np.testing.assert_allclose(
        exact.queue_length, exact.station_throughput * exact.station_response_time, rtol=AGREE
    )
    assert (exact.utilisation.sum(axis=1) <= 1 + 1e-12).all()


@given(st.integers(0, 12), st.integers(1, 3), st.booleans())
@settings(max_examples=25, deadline=None)
def test_one_class_is_the_single_class_solution(population, servers, think):
    stations = [MMm(2.0, servers), MM1(0.7), Delay(0.4), Parallel(1.0, 4)]
    places = [
        shared("pool", [2.0], servers),
        shared("one", [0.7]),
        shared("rest", [0.4], 1, ServiceKind.DELAY),
        shared("side by side", [1.0], 4, ServiceKind.PARALLEL),
    ]

    one = solve_closed(stations, [1] * 4, population, 3.0 * think)
    several = solve_multiclass(places, [closed(population, 3.0 * think)])

    assert several.throughput[0] == pytest.approx(one.throughput, rel=AGREE)
    assert several.queue_length[:, 0] == pytest.approx(one.queue_length, rel=AGREE)
    assert several.utilisation[:, 0] == pytest.approx(one.utilisation, rel=AGREE)


def test_a_class_cut_in_two_is_the_class():
    stations = [shared("pool", [2.0, 2.0], 4), shared("one", [0.7, 0.7])]

    two = solve_multiclass(stations, [closed(30), closed(12)])

    one = solve_closed([MMm(2.0, 4), MM1(0.7)], [1, 1], 42)
    assert two.throughput.sum() == pytest.approx(one.throughput, rel=AGREE)
    assert two.queue_length.sum(axis=1) == pytest.approx(one.queue_length, rel=AGREE)


@given(st.floats(0, 0.95), st.integers(1, 5))
def test_open_classes_alone(busy, servers):
    rates = busy * servers * np.array([0.25, 0.75]) / 0.5
    stations = [SharedStation("pool", (0.5, 0.5), (1, 1), servers=servers)]

    solution = solve_multiclass(
        stations, [JobClass(str(c), arrival_rate=rate) for c, rate in enumerate(rates)]
    )

    together = MMm(0.5, servers)
    assert solution.response_time == pytest.approx(together.response_time(rates.sum()), rel=1e-12)
    assert solution.utilisation.sum() == pytest.approx(busy, rel=1e-12, abs=1e-12)


def test_mixed_utilisation_counts_visits_once():
    stations = [SharedStation("cpu", (0.1, 0.05), (2, 3))]
    solution = solve_multiclass(
        stations, [JobClass("web", arrival_rate=2.0), closed(4, 1.0, "batch")]
    )

    assert solution.utilisation[0, 0] == pytest.approx(2.0 * 2 * 0.1, rel=1e-12)
    assert solution.utilisation[0, 1] == pytest.approx(solution.throughput[1] * 3 * 0.05, rel=1e-12)
    assert solution.station_throughput[0].tolist() == [4.0, 3 * solution.throughput[1]]


@pytest.mark.parametrize("method", [Method.EXACT, Method.CONVOLUTION, Method.LINEARIZER])
def test_points_are_solved_as_one_by_one(method):
    times, rates, populations = [0.5, 1.0, 0.1], [0.1, 0.4, 0.0], [1, 3, 2]
    classes = [
        JobClass("web", arrival_rate=np.array(rates)),
        closed(np.array(populations), 0.3),
        closed(2),
    ]
    pool = 1 if method is Method.EXACT else 2
    stations = [shared("a", [np.array(times), 0.2, 0.3]), shared("b", [0.7, 0.4, 0.9], pool)]

    table = solve_multiclass(stations, classes, method)

    for i in range(3):
        own = [JobClass("web", arrival_rate=rates[i]), closed(populations[i], 0.3), closed(2)]
        places = [shared("a", [times[i], 0.2, 0.3]), stations[1]]
        one = solve_multiclass(places, own, method)
        # A fixed point of many points is iterated until the slowest has settled.
        assert table.throughput[:, i] == pytest.approx(one.throughput, rel=1e-10)
        assert table.queue_length[:, :, i] == pytest.approx(one.queue_length, rel=1e-9)


def test_measured_error_of_the_approximations():
    rng = np.random.default_rng(11)
    points, errors = 300, {}
    times = 10 ** rng.uniform(-1, 0, (4, 2, points))
    stations = [shared(f"s{k}", list(times[k])) for k in range(4)]
    populations = rng.integers(1, 12, (2, points))
    classes = [closed(populations[0], 1.0), closed(populations[1], 2.0)]

    exact = solve_multiclass(stations, classes).throughput
    for method in (Method.SCHWEITZER, Method.LINEARIZER):
        errors[method] = np.abs(solve_multiclass(stations, classes, method).throughput / exact - 1)

    # Measured over these 300 networks: the figures the documentation gives.
    assert errors[Method.SCHWEITZER].max() < 0.09
    assert errors[Method.LINEARIZER].max() < 0.008
    assert np.median(errors[Method.SCHWEITZER]) < 0.03
    assert np.median(errors[Method.LINEARIZER]) < 0.0015


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: JobClass("web"), GraphError, "class web needs either"),
        (lambda: JobClass("web", 1.0, 3), GraphError, "class web needs either"),
        (lambda: JobClass("web", population=1.5), InvalidParameter, "population is 1.5"),
        (lambda: JobClass("web", arrival_rate=-1), InvalidParameter, "arrival_rate is -1"),
        (lambda: shared("cpu", [np.inf]), InvalidParameter, "cpu: service_time is inf"),
        (lambda: shared("cpu", ["fast"]), InvalidParameter, "cpu: fast is not a number"),
        (lambda: solve_multiclass([], []), GraphError, "needs at least one station"),
        (
            lambda: solve_multiclass([shared("cpu", [1.0])], [closed(1), closed(2)]),
            GraphError,
            "cpu: service_times has 1 entries for 2 classes",
        ),
        (
            lambda: solve_multiclass([shared("cpu", [0.0])], [closed(1, name="idle")]),
            GraphError,
            "class idle visits no station",
        ),
    ],
)
def test_bad_input(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("method", BY_VISITS)
def test_idle_classes_take_the_time_of_their_service(method):
    rest = shared("rest", [0.7, 0.4, 0.2], 1, ServiceKind.DELAY)
    places = [SharedStation("cpu", (0.1, 0.2, 0.3), (2, 3, 4)), rest]
    classes = [opened(0.0), closed(np.array([0, 0]), 1.0), closed(np.array([0, 5]))]

    solution = solve_multiclass(places, classes, method)

    assert solution.response_time[0] == pytest.approx([0.9, 0.9], rel=1e-12)
    assert solution.response_time[1] == pytest.approx([1.0, 1.0], rel=1e-12)
    assert solution.response_time[2, 0] == pytest.approx(1.4, rel=1e-12)
    assert solution.station_response_time[0, :2] == pytest.approx(np.array([[0.1] * 2, [0.2] * 2]))
    assert not solution.throughput[:, 0].any()


@pytest.mark.parametrize("method", BY_VISITS)
def test_delays_alone(method):
    places = [shared("rest", [0.5, 2.0], 1, ServiceKind.DELAY)]

    solution = solve_multiclass(places, [closed(3, 1.0), closed(4)], method)

    assert solution.throughput == pytest.approx([2.0, 2.0], rel=1e-12)
    assert solution.queue_length == pytest.approx(np.array([[1.0, 4.0]]), rel=1e-12)


@pytest.mark.parametrize("method", [Method.SCHWEITZER, Method.LINEARIZER])
def test_jobs_at_pools_where_nobody_waits(method):
    stations = [shared("a", [2.628], 4), shared("b", [0.397], 4)]

    solution = solve_multiclass(stations, [closed(4)], method)

    assert solution.throughput == pytest.approx([4 / (2.628 + 0.397)], rel=1e-12)


@pytest.mark.parametrize("method", BY_VISITS)
def test_a_class_without_jobs_or_visits_has_no_throughput(method):
    delay = SharedStation("net", (0.3, 0.001), (3, 0), ServiceKind.DELAY)
    classes = [JobClass("a", population=2), JobClass("b", population=0)]

    solution = solve_multiclass([delay], classes, method)

    assert solution.throughput.tolist() == pytest.approx([2 / 0.9, 0])
    assert solution.response_time.tolist() == pytest.approx([0.9, 0])
