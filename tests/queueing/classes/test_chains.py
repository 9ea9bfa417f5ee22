"""Routes by class, classes that turn into one another, and networks that nothing leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, Saturated
from headway.queueing import Discipline, JobClass, ServiceKind, SharedStation, solve_multiclass
from headway.queueing.chains.measured import IN_TURN, LAST, RATIOS
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.chains.solve_chains import solve_chains
from tests.brute.network import Jobs, Network, means
from tests.brute.orders import Line, Sharing
from tests.campaigns.chain_errors import lines, measured, no_states, regions, stored
from tests.support.class_networks import AGREE
from tests.support.pages import accuracy

# Chances out of each class (a, b) at each of three stations: a turns into b at the second.
TURNS = {
    (0, 0): [(0.4, 1, 0), (0.6, 2, 0)],
    (1, 0): [(0.7, 0, 1), (0.3, 2, 0)],
    (2, 0): [(1.0, 0, 0)],
    (0, 1): [(0.5, 2, 1), (0.5, 2, 0)],
    (1, 1): [(1.0, 0, 1)],
    (2, 1): [(0.8, 1, 1), (0.2, 0, 1)],
}
TIMES = ((0.1, 0.3), (0.2, 0.05), (0.4, 0.1))
NAMES = ("s0", "s1", "s2")


def ways(hops, closed="", entries=None, references=()):
    """The law's routes of what the chain is given."""
    onward = {
        (("ab"[c], NAMES[k]), ("ab"[d], NAMES[t])): p
        for (k, c), row in hops.items()
        for p, t, d in row
        if t is not None
    }
    return ClassRoutes(NAMES, ("a", "b"), onward, entries or {}, frozenset(closed), references)


def stations(*kinds):
    """Stations of those times that share their servers."""
    made = []
    for name, times, (kind, servers) in zip(NAMES, TIMES, kinds, strict=True):
        made.append(SharedStation(name, times, (1, 1), kind, servers))
    return made


def sharing(*kinds):
    """The same, state by state."""
    servers = [float("inf") if kind is ServiceKind.DELAY else m for kind, m in kinds]
    return tuple(Sharing(t, servers=m) for t, m in zip(TIMES, servers, strict=True))


QUEUE, DELAY = ServiceKind.QUEUE, ServiceKind.DELAY
SINGLE = ((DELAY, 1), (QUEUE, 1), (QUEUE, 1))
POOLED = ((QUEUE, 2), (QUEUE, 1), (DELAY, 1))


@pytest.mark.parametrize("kinds", [SINGLE, POOLED])
@pytest.mark.parametrize("jobs", [(3, 0), (2, 2)])
def test_a_closed_chain_is_its_whole_markov_chain_by_class_and_station(kinds, jobs):
    classes = [JobClass(c, population=n) for c, n in zip("ab", jobs, strict=True)]
    solution = solve_chains(stations(*kinds), classes, ways(TURNS, closed="ab"))
    crowd = tuple(Jobs(c, None, n) for c, n in zip("ab", jobs, strict=True))
    queue, served, _ = means(Network(sharing(*kinds), crowd, TURNS))

    assert solution.method == ("convolution" if kinds is POOLED else "exact")
    assert not solution.approximation
    np.testing.assert_allclose(solution.queue_length, queue, rtol=AGREE)
    np.testing.assert_allclose(solution.station_throughput, served, rtol=AGREE)
    np.testing.assert_allclose(solution.station_response_time, queue / served, rtol=AGREE)


def test_rounds_that_end_by_leaving_are_the_whole_markov_chain():
    """What leaves as b thinks and begins again as b; think times differ by class."""
    hops = {**TURNS, (2, 0): [(1.0, None, 0)], (2, 1): [(0.5, None, 1), (0.5, 0, 0)]}
    crowd = (("a", 2, 1.0), ("b", 1, 3.0))
    classes = [JobClass(c, population=n, think_time=z) for c, n, z in crowd]
    solution = solve_chains(stations(*SINGLE), classes, ways(hops, closed="ab"))
    same = tuple(Jobs(c, None, n, z) for c, n, z in crowd)
    queue, served, _ = means(Network(sharing(*SINGLE), same, hops))

    np.testing.assert_allclose(solution.queue_length, queue, rtol=AGREE)
    np.testing.assert_allclose(solution.station_throughput, served, rtol=AGREE)
    left = served[2, 0], served[2, 1] * 0.5
    np.testing.assert_allclose(solution.throughput, left, rtol=AGREE)
    thinking = solution.throughput @ [1.0, 3.0]
    assert solution.throughput @ solution.response_time + thinking == pytest.approx(3, rel=AGREE)


def test_an_open_chain_beside_a_closed_class_is_the_whole_markov_chain():
    """Utilisation 0.05 at most, so that of 9 jobs at once little is cut off."""
    hops = {
        (0, 0): [(0.5, 1, 1), (0.5, 1, 0)],
        (1, 0): [(1.0, None, 0)],
        (1, 1): [(0.7, None, 1), (0.3, 0, 1)],
        (0, 1): [(1.0, None, 1)],
    }
    hops |= {(2, 0): [(1.0, None, 0)], (2, 1): [(1.0, None, 1)]}
    kinds = ((QUEUE, 1), (QUEUE, 1), (QUEUE, 1))
    rates, enters = (0.1, 0.05), ({0: 0.25, 1: 0.75}, {0: 1.0})
    entries = {"a": {"s0": 0.25, "s1": 0.75}, "b": {"s0": 1.0}}
    classes = [JobClass(c, arrival_rate=r) for c, r in zip("ab", rates, strict=True)]
    solution = solve_chains(stations(*kinds), classes, ways(hops, entries=entries))
    crowd = tuple(Jobs(c, r, enters=e) for c, r, e in zip("ab", rates, enters, strict=True))
    queue, served, _ = means(Network(sharing(*kinds), crowd, hops, cap=9))

    # of 0.05 to the 9th, 2e-12, and the queues it would make
    np.testing.assert_allclose(solution.queue_length[:2], queue[:2], rtol=1e-8)
    np.testing.assert_allclose(solution.station_throughput[:2], served[:2], rtol=1e-8)
    inside = solution.queue_length.sum()
    assert solution.throughput @ solution.response_time == pytest.approx(inside, rel=AGREE)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_turning_into_a_like_class_changes_nothing(data):
    """Two classes of the same times and ways are one class, whatever turns into whatever."""
    share = st.floats(0.0, 1.0)
    turn = [data.draw(share) for _ in range(4)]
    times = [data.draw(st.floats(0.01, 2.0)) for _ in range(2)]
    jobs = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 3))
    onward = {}
    for row, (c, k) in enumerate([("a", "s0"), ("a", "s1"), ("b", "s0"), ("b", "s1")]):
        other, after = "ba"["ab".index(c)], "s1" if k == "s0" else "s0"
        onward[(c, k), (c, after)] = 1 - turn[row]
        onward[(c, k), (other, after)] = turn[row]
    names = ("s0", "s1")
    routes = ClassRoutes(names, ("a", "b"), onward, closed=frozenset("ab"))
    both = [SharedStation(n, (t, t), (1, 1)) for n, t in zip(names, times, strict=True)]
    one = [SharedStation(n, (t,), (1,)) for n, t in zip(names, times, strict=True)]
    classes = [JobClass(c, population=n) for c, n in zip("ab", jobs, strict=True)]
    whole = solve_multiclass(one, [JobClass("all", population=sum(jobs))])
    solution = solve_chains(both, classes, routes)

    assert solution.throughput.sum() == pytest.approx(float(whole.throughput[0]), rel=1e-9)
    np.testing.assert_allclose(
        solution.queue_length.sum(axis=1), whole.queue_length[:, 0], rtol=1e-9
    )


def test_chances_and_times_may_be_arrays_of_operating_points():
    turn, jobs = np.array([0.1, 0.5, 1.0]), np.array([1, 4, 9])
    onward = {
        (("a", "s0"), ("b", "s1")): turn,
        (("a", "s0"), ("a", "s1")): 1 - turn,
        (("a", "s1"), ("a", "s0")): 1.0,
        (("b", "s1"), ("a", "s2")): 1.0,
        (("a", "s2"), ("a", "s0")): 1.0,
    }
    routes = ClassRoutes(NAMES, ("a", "b"), onward, closed=frozenset("ab"))
    made = stations(*SINGLE)
    many = solve_chains(made, [JobClass("a", population=jobs), JobClass("b", population=0)], routes)
    for k in range(3):
        each = {ends: p[k] if np.ndim(p) else p for ends, p in onward.items()}
        alone = solve_chains(
            made,
            [JobClass("a", population=jobs[k]), JobClass("b", population=0)],
            ClassRoutes(NAMES, ("a", "b"), each, closed=frozenset("ab")),
        )
        np.testing.assert_allclose(many.queue_length[..., k], alone.queue_length, rtol=1e-12)


@pytest.mark.parametrize(
    ("hops", "closed", "jobs", "words"),
    [
        ({(0, 0): [(1.0, 1, 1)], (1, 1): [(1.0, 0, 0)]}, "", (1, 1), r"for ever \(class a at"),
        ({(0, 0): [(1.0, 1, 1)], (1, 1): [(1.0, 1, 1)]}, "ab", (2, 0), "never return"),
        ({(0, 0): [(1.0, 1, 1)], (1, 1): [(0.5, 0, 0)]}, "a", (2, 1), "b is open and class a"),
        ({(0, 0): [(0.7, 1, 0), (0.7, 1, 1)]}, "", (1, 1), "sum to 1.4"),
        ({(0, 0): [(1.2, 1, 0)]}, "", (1, 1), "1.2 is not between 0 and 1"),
        ({(0, 0): [(1.0, 1, 1)], (1, 1): [(1.0, 0, 0)]}, "ab", (0, 0), "a, b has no job"),
    ],
)  # fmt: skip
def test_routes_that_make_no_network_are_refused(hops, closed, jobs, words):
    classes = [
        JobClass(c, population=n) if c in closed else JobClass(c, arrival_rate=n)
        for c, n in zip("ab", jobs, strict=True)
    ]
    with pytest.raises(GraphError, match=words):
        solve_chains(stations(*SINGLE), classes, ways(hops, closed=closed))


def test_a_chain_that_comes_back_to_its_reference_may_not_leak():
    hops = {(0, 0): [(1.0, 1, 1)], (1, 1): [(0.9, 0, 0)]}
    classes = [JobClass("a", population=1), JobClass("b", population=0)]
    leaking = ways(hops, "ab", references=frozenset("a"))
    with pytest.raises(GraphError, match=r"of class b at s1 a share of 0\.1 leaves"):
        solve_chains(stations(*SINGLE), classes, leaking)


def test_an_open_chain_saturates_where_all_of_it_does():
    hops = {(0, 0): [(1.0, 1, 1)], (1, 1): [(1.0, None, 1)]}
    classes = [JobClass("a", arrival_rate=15.0), JobClass("b", arrival_rate=0.0)]
    solution = solve_chains(stations(*SINGLE), classes, ways(hops), saturation="mark")
    assert not solution.saturated  # 15 /s of 0.05 s
    classes = [JobClass("a", arrival_rate=25.0), JobClass("b", arrival_rate=0.0)]
    with pytest.raises(Saturated, match="s1: utilisation 1.25"):
        solve_chains(stations(*SINGLE), classes, ways(hops))
    solution = solve_chains(stations(*SINGLE), classes, ways(hops), saturation="mark")
    assert solution.saturated
    assert np.isinf(solution.response_time[0])


@pytest.mark.parametrize(("last", "labels"), [(False, IN_TURN), (True, LAST)])
def test_labels_of_chains_are_the_largest_errors_of_their_regions(last, labels):
    """Rounded up to a tenth; the last first at several servers, and the other disciplines."""
    for (ratio, most, _, count), label in zip(regions(stored(), last=last), labels, strict=True):
        assert ratio in RATIOS
        assert count > 100
        assert ((most <= label) & (label <= most + 0.1 + 1e-9)).all()


@pytest.mark.parametrize("seed", [0, 1, 2, 30, 34, 32])
def test_stored_errors_of_chains_are_those_that_are_found(seed):
    """Six digits are stored; two chains of each discipline."""
    (row,) = (row for row in stored() if row.seed == seed)
    result = measured(seed)
    assert result.discipline == row.discipline
    for name in ("ratio", "rate", "time"):
        assert getattr(result, name) == pytest.approx(getattr(row, name), rel=1e-3, abs=1e-6), name


def test_the_page_has_the_table_of_chains():
    page = accuracy()
    for line in lines(stored()):
        assert line in page, line


def test_one_time_in_order_of_arrival_is_exact_and_several_are_labelled():
    hops = {(0, 0): [(1.0, 1, 1)], (1, 1): [(1.0, 0, 0)]}
    classes = [JobClass("a", population=3), JobClass("b", population=0)]
    crowd = (Jobs("a", None, 3), Jobs("b"))
    alike = [
        SharedStation(n, (t, t), (1, 1), discipline=Discipline.FCFS)
        for n, t in zip(NAMES, (0.1, 0.3, 0.2), strict=True)
    ]
    solution = solve_chains(alike, classes, ways(hops, "ab"))
    rest = {(k, c): [(1.0, 0, c)] for k in range(3) for c in (0, 1)}
    lines = (Line((0.1, 0.1)), Line((0.3, 0.3)), Line((0.2, 0.2)))
    queue, served, _ = means(Network(lines, crowd, {**rest, **hops}))
    np.testing.assert_allclose(solution.queue_length, queue, rtol=AGREE, atol=1e-12)
    np.testing.assert_allclose(solution.station_throughput, served, rtol=AGREE, atol=1e-12)
    assert not solution.approximation

    both = {**hops, (0, 0): [(0.5, 1, 1), (0.5, 1, 0)], (1, 0): [(1.0, 0, 0)]}
    unlike = [SharedStation("s0", (0.1, 0.1), (1, 1)),
              SharedStation("s1", (0.1, 0.4), (1, 1), discipline=Discipline.FCFS),
              SharedStation("s2", (0.1, 0.1), (1, 1))]  # fmt: skip
    with no_states():
        note = solve_chains(unlike, classes, ways(both, "ab")).approximation
    assert note.startswith("s1: first come first served with times that differ by class of a chain")
    rate, time = IN_TURN[1]
    assert f"up to 10 times apart: throughput {rate}%, response time of a visit {time}%" in note
