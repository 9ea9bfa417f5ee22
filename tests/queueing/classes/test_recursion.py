"""Many classes at few stations, exactly: RECAL and Gaussian quadrature."""

import tracemalloc
from fractions import Fraction
from itertools import product
from math import comb, prod

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.queueing import JobClass, Method, SharedStation, solve_multiclass
from headway.queueing.recursion.closed_classes import ClosedClasses, solve_groups
from headway.queueing.recursion.estimates import SOLVERS, estimate
from headway.queueing.recursion.gauss import beta_rule, gamma_rule
from headway.queueing.stations.abilities import ServiceKind
from tests.support.class_networks import closed, shared

AGREE = 1e-10
BOTH = [Method.RECAL, Method.QUADRATURE]
demands = st.floats(1e-3, 3.0)


def alike(one, other):
    """Tolerance: the digits that the issue asks for."""
    for name in ("throughput", "queue_length", "response_time", "utilisation"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=AGREE, atol=1e-12)


@pytest.mark.parametrize("method", BOTH)
@given(
    st.lists(st.tuples(*[st.just(0.0) | demands] * 3), min_size=1, max_size=3),
    st.tuples(*[st.integers(0, 4)] * 3),
    st.tuples(*[st.just(0.0) | demands] * 3),
    st.integers(1, 3),
    st.floats(0, 0.6),
)
@settings(max_examples=40, deadline=None)
def test_random_networks_are_as_on_the_lattice(method, times, populations, think, disks, rate):
    stations = [shared(f"s{k}", [0.1, *row]) for k, row in enumerate(times)]
    stations.append(shared("disks", [0.3] * 4, disks, ServiceKind.PARALLEL))
    stations.append(shared("more", [0.3, 0.1, 0.1, 0.1]))
    stations.append(shared("the same", [0.3, 0.1, 0.1, 0.1]))
    stations.append(shared("net", [0.2, 0.2, 0.0, 0.0], 1, ServiceKind.DELAY))
    opened = JobClass("open", arrival_rate=rate)
    classes = [opened, *(closed(n, z) for n, z in zip(populations, think, strict=True))]

    solution = solve_multiclass(stations, classes, method)

    assert solution.method is method
    assert not solution.approximation
    alike(solution, solve_multiclass(stations, classes, Method.EXACT))


@pytest.mark.parametrize("method", BOTH)
def test_points_of_different_populations_are_as_one_by_one(method):
    times, rates = np.array([0.5, 1.0, 0.1, 0.2]), np.array([0.1, 0.4, 0.0, 0.3])
    jobs, think = np.array([1, 3, 0, 3]), np.array([0.0, 1.0, 2.0, 0.0])
    disks = np.array([1, 2, 2, 1])

    def network(point):
        stations = [
            shared("cpu", [0.2, times[point], 0.3]),
            shared("disks", [0.4] * 3, disks[point], ServiceKind.PARALLEL),
        ]
        web = JobClass("web", arrival_rate=rates[point])
        return solve_multiclass(
            stations, [web, closed(jobs[point], think[point]), closed(2)], method
        )

    together = network(slice(None))

    for point in range(4):
        alone = network(point)
        np.testing.assert_allclose(together.throughput[:, point], alone.throughput, rtol=1e-12)
        np.testing.assert_allclose(
            together.queue_length[..., point], alone.queue_length, rtol=1e-12, atol=1e-12
        )


def constant(demand, think, populations, copies):
    """G, by all ways to share the jobs of each class among stations and thinking: fractions."""
    ways = [
        [c for c in product(range(n + 1), repeat=len(copies)) if sum(c) <= n] for n in populations
    ]
    total = Fraction(0)
    for chosen in product(*ways):
        term = Fraction(1)
        for i, q in enumerate(copies):
            here = [c[i] for c in chosen]
            orders = prod(comb(sum(here[:r]) + n, n) for r, n in enumerate(here))
            term *= orders * comb(sum(here) + q - 1, q - 1)
            term *= prod(demand[r][i] ** n for r, n in enumerate(here))
        for r, c in enumerate(chosen):
            rest = populations[r] - sum(c)
            term *= think[r] ** rest / Fraction(prod(range(1, rest + 1)))
        total += term
    return total


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("thinks", [True, False])
def test_against_sums_of_fractions(method, thinks):
    demand = [[Fraction(1, 3), Fraction(2)], [Fraction(5, 4), Fraction(1, 100)], [Fraction(1)] * 2]
    think = [Fraction(7, 2) * thinks, Fraction(0), Fraction(1, 9) * thinks]
    populations, copies = (3, 2, 2), (1, 3)
    whole = constant(demand, think, populations, copies)
    wanted = [
        float(
            constant(demand, think, tuple(n - (r == c) for r, n in enumerate(populations)), copies)
            / whole
        )
        for c in range(3)
    ]

    crowds = ClosedClasses(
        np.array(demand, float)[..., None],
        np.array(copies, float),
        np.array(think, float)[:, None],
        np.array(populations),
    )
    rate, _ = SOLVERS[method](crowds)

    # Tolerance: rounding of double precision, of some hundred operations.
    assert rate[:, 0] == pytest.approx(wanted, rel=1e-12)


def test_many_jobs_at_one_station_against_the_series_in_high_precision():
    with mpmath.workdps(60):
        think, jobs = mpmath.mpf(40), 3000
        terms = [think**n / mpmath.factorial(n) for n in range(jobs + 1)]
        wanted = mpmath.fsum(terms[:-1]) / mpmath.fsum(terms)

    classes = [JobClass(str(c), population=jobs // 3, think_time=40.0) for c in range(3)]
    solution = solve_multiclass([shared("cpu", [1.0] * 3)], classes, Method.QUADRATURE)

    # Tolerance: sums of 3000 logarithms.
    assert solution.throughput.sum() == pytest.approx(float(wanted), rel=1e-12)


def twelve(stations, jobs=3, think=2.0):
    """Twelve classes that differ in everything."""
    times = np.random.default_rng(12).uniform(0.1, 1, (stations, 12))
    places = [shared(f"s{k}", list(row)) for k, row in enumerate(times)]
    return places, [closed(jobs, think + c) for c in range(12)]


def test_twelve_classes_of_three_jobs_without_their_lattice():
    stations, classes = twelve(4)
    tracemalloc.start()
    solution = solve_multiclass(stations, classes, Method.RECAL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    alike(solution, solve_multiclass(stations, classes, Method.QUADRATURE))
    # Little's law for the circle of each class, and nobody served in no time.
    thinking = np.array([2.0 + c for c in range(12)])
    np.testing.assert_allclose(
        solution.throughput * (thinking + solution.response_time), 3, rtol=1e-12
    )
    assert peak < 40e6  # the lattice has 16.8 million populations


@pytest.mark.parametrize(("parts", "jobs"), [(3, 200), (5, 40), (6, 24)])
def test_memory_is_what_was_estimated(parts, jobs):
    demand = np.random.default_rng(1).uniform(0.1, 1, (4, parts, 1))
    given = demand, np.ones((parts, 1)), np.zeros((4, 1)), np.full((4, 1), jobs / 4)
    solve_groups(SOLVERS[Method.RECAL], *given)
    tracemalloc.start()
    solve_groups(SOLVERS[Method.RECAL], *given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    # Temporary arrays that overlap are not followed one by one.
    assert 0.5 < peak / estimate(Method.RECAL, *given).memory < 1.5


def test_auto_takes_the_cheapest_exact_one():
    few = solve_multiclass([shared("cpu", [0.2, 0.3])], [closed(3, 1.0), closed(2, 1.0)])
    many = solve_multiclass(*twelve(4))
    crowds = [closed(200, 150.0 + c) for c in range(6)]
    two = [shared("cpu", [0.1 + c / 100 for c in range(6)]), shared("disk", [0.2] * 6)]
    crowded = solve_multiclass(two, crowds)

    assert [few.method, many.method, crowded.method] == [
        Method.EXACT,
        Method.RECAL,
        Method.QUADRATURE,
    ]
    # six classes of 200: by the Linearizer before; its error where it was measured is up to 5.4%
    near = solve_multiclass(two, crowds, Method.LINEARIZER)
    assert crowded.throughput == pytest.approx(near.throughput, rel=0.054)
    assert crowded.throughput != pytest.approx(near.throughput, rel=1e-6)


def test_exact_refused_names_what_would_do_and_its_memory():
    with pytest.raises(
        InvalidParameter, match=r"use method linearizer or schweitzer, or exactly rec"
    ):
        solve_multiclass(*twelve(4, jobs=6), Method.EXACT)
    with pytest.raises(InvalidParameter, match=r"or exactly recal \(0\.0\d+ GB\) or quadrature \("):
        solve_multiclass(*twelve(4, jobs=6), Method.EXACT)


def test_what_does_not_fit_is_refused_with_what_it_takes():
    with pytest.raises(InvalidParameter, match=r"recal needs .* GB; use method linearizer"):
        solve_multiclass(*twelve(12), Method.RECAL)
    with pytest.raises(InvalidParameter, match=r"quadrature needs about .* h; use method linear"):
        solve_multiclass(*twelve(12), Method.QUADRATURE)
    with pytest.raises(
        InvalidParameter, match="recal supports at most 1,000 jobs, but there are 1,200"
    ):
        solve_multiclass(*twelve(1, jobs=100), Method.RECAL)


@pytest.mark.parametrize("method", BOTH)
def test_pools_are_convolved_and_unequal_times_in_order_refused(method):
    pool = shared("pool", [0.1, 0.2], 3)
    line = SharedStation("line", (0.1, 0.2), (1, 1), discipline="fcfs")

    assert solve_multiclass([pool], [closed(2), closed(3)], method).method is Method.CONVOLUTION
    with pytest.raises(GraphError, match="line: closed classes with different service times"):
        solve_multiclass([line], [closed(2), closed(3)], method)


@pytest.mark.parametrize("shape", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("count", [1, 2, 30, 700])
def test_nodes_add_up_powers(shape, count):
    for rule, moment in (
        (gamma_rule(shape, count), lambda n: mpmath.rf(shape, n)),
        (beta_rule(shape, 2.0, count), lambda n: mpmath.rf(shape, n) / mpmath.rf(shape + 2, n)),
    ):
        nodes, logs = rule
        for power in {0, 1, count, 2 * count - 1}:
            terms = logs + power * np.log(nodes)
            result = mpmath.fsum(mpmath.exp(mpmath.mpf(float(t))) for t in terms)
            # Tolerance: logarithms of weights down to exp(-2800), each of an error of 1e-16 of it.
            assert abs(result / moment(power) - 1) < 1e-11
