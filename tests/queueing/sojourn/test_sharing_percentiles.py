"""Percentiles of several classes that circulate, or come, and share servers: whole chains."""

from itertools import product
from math import comb, lgamma, log

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import gamma as gamma_law

from headway.models import ModelGraph
from headway.queueing import MM1, MMm
from headway.queueing.passages import processor_sharing, sharing_chain
from headway.queueing.passages.aggregation import ArrivingClass, outside_weights
from headway.queueing.passages.processor_sharing import NEAREST
from headway.queueing.times.uniformisation import AbsorbingChain

BACK = np.array([[0.2, 0.5], [0.6, 0.0]])
"""From the first to itself and the second, and from there back; the rest leaves."""


def moves(state, numbers, classes, times, servers):
    """Rates of what happens: counts by class at both queues; an open class has no thinkers."""
    for c, (jobs, away) in enumerate(classes):
        change = np.zeros((len(classes), 2), int)
        thinking = jobs - sum(state[c]) if jobs else 1
        if thinking > 0 and (jobs or sum(state[c]) < numbers[c]):
            change[c, 0] = 1
            yield c, None, 0, change.copy(), thinking / away
        for k, target in product(range(2), (0, 1, None)):
            chance = (1 - BACK[k].sum()) if target is None else BACK[k, target]
            total = sum(state[each][k] for each in range(len(classes)))
            if state[c][k] and chance:
                change = np.zeros((len(classes), 2), int)
                change[c, k] -= 1
                if target is not None:
                    change[c, target] += 1
                speed = min(1, servers[k] / total) / times[c][k]
                yield c, k, target, change, state[c][k] * speed * chance


def chain(classes, times, servers, room):
    """Exceedance of the first class's time, by a chain that also knows where one of its jobs is."""
    numbers = [jobs or room for jobs, _ in classes]
    each = [[(a, b) for a in range(n + 1) for b in range(n + 1 - a)] for n in numbers]
    states = [(at, s) for s in product(*each) for at in (None, 0, 1) if fits(at, s, numbers)]
    place = {state: number for number, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for (at, state), row in place.items():
        for c, source, target, change, rate in moves(state, numbers, classes, times, servers):
            after = tuple(map(tuple, (np.array(state) + change).tolist()))
            crowd = numbers[0] - sum(state[0]) if source is None else state[c][source]
            own = 1 / crowd if c == 0 and source == at else 0.0
            for share, then in ((own, target), (1 - own, at)):
                if share * rate > 0 and (then, after) in place:
                    rates[row, place[then, after]] += share * rate
    inside = np.array([at is not None for at, _ in states])
    whole = rates - np.diag(rates.sum(axis=1))
    system = np.vstack([whole.T, np.ones(len(states))])
    steady = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    came = (np.where(inside, 0.0, steady) @ rates)[inside]
    stay = whole[np.ix_(inside, inside)]
    return came / came.sum(), stay


def fits(at, state, numbers):
    return (sum(state[0]) < numbers[0]) if at is None else state[0][at] > 0


def percentile(start, stay, share, scale):
    speeds, ways = np.linalg.eig(stay)
    weights = (start @ ways) * np.linalg.solve(ways, np.ones(len(stay)))
    late = lambda t: float((weights * np.exp(speeds * t)).sum().real)  # noqa: E731
    return brentq(lambda t: late(t) - 1 + share, 0, scale, xtol=1e-9)


def model(classes, times, servers):
    graph = ModelGraph("two")
    names = [f"c{c}" for c in range(len(classes))]
    for k, count in enumerate(servers):
        own = {name: each[k] for name, each in zip(names, times, strict=True)}
        station = MMm(own["c0"], count) if count > 1 else MM1(own["c0"])
        graph = graph.station(f"s{k}", station, service_times=own, discipline="ps")
    graph = graph.route_all(BACK)
    for name, (jobs, away) in zip(names, classes, strict=True):
        given = {"population": jobs, "think_time": away} if jobs else {"arrival_rate": 1 / away}
        graph = graph.job_class(name, **given)
    return graph.at()


@pytest.mark.parametrize(
    ("classes", "servers", "near"),
    [
        ([(2, 4.0), (3, 6.0)], (1, 1), 1e-5),
        ([(2, 1.0), (2, 9.0)], (2, 1), 1e-5),
        ([(2, 5.0), (0, 60.0)], (1, 1), 1e-4),  # the chain is cut at 4 open jobs
    ],
)
def test_classes_of_different_times_at_two_shared_queues_are_followed_exactly(
    classes, servers, near
):
    times = [(0.5, 2.0), (1.5, 0.4)]
    start, stay = chain(classes, times, servers, room=4)
    solution = model(classes, times, servers).solve()
    for share in (0.5, 0.95, 0.999):
        solved = solution.with_percentile(100 * share)
        value = solved[f"class c0.response_time_p{100 * share:g}"]
        assert value == pytest.approx(percentile(start, stay, share, 10 * value), rel=near)
        assert "percentiles" not in solved.approximation


def test_classes_that_are_too_many_to_follow_count_as_one_and_it_is_said(monkeypatch):
    several = model([(3, 4.0), (4, 6.0)], [(0.5, 2.0), (1.5, 0.4)], (1, 1)).solve()
    fine = several.with_percentile(95)["class c0.response_time_p95"]
    by_chain = sharing_chain.sharing_chain_law
    monkeypatch.setattr(
        "headway.queueing.passages.processor_sharing.sharing_chain_law",
        lambda network, mean: None if len(network.classes) > 1 else by_chain(network, mean),
    )
    processor_sharing.sharing_law.cache_clear()
    solution = several.with_percentile(95)
    processor_sharing.sharing_law.cache_clear()
    assert NEAREST in solution.approximation
    assert solution["class c0.response_time_p95"] == pytest.approx(fine, rel=0.08)


def test_open_jobs_beside_closed_ones_in_order_are_met_as_they_come():
    """n others are found as n! sum_j C(2, j) (S / Z)**j (rate S)**(n - j) / (n - j)! has it."""
    graph = ModelGraph("m").station("s", MM1(1.0)).job_class("web", arrival_rate=0.5)
    mixed = graph.job_class("batch", population=3, think_time=10).at().solve()
    most = 80
    weights = outside_weights([ArrivingClass(2, 10.0), ArrivingClass(0, 2.0)], most, 1.0)[::-1]
    direct = [
        sum(np.exp(gamma_ratio(n, j) + j * np.log(0.1) + (n - j) * np.log(0.5)) for j in range(3))
        for n in range(2, 20)
    ]
    assert weights[2:20] / weights[2] == pytest.approx(np.array(direct) / direct[0], rel=1e-12)
    chances = weights / weights.sum()
    for percent in (50, 95, 99.9):
        time = mixed.with_percentile(percent)[f"class batch.response_time_p{percent:g}"]
        late = sum(p * gamma_law.sf(time, n + 1) for n, p in enumerate(chances))
        assert late == pytest.approx(1 - percent / 100, rel=1e-5)


def gamma_ratio(n, j):
    """Logarithm of n! C(2, j) / (n - j)!."""
    return lgamma(n + 1) - lgamma(n - j + 1) + log(comb(2, j))


def test_moves_into_states_that_nothing_leaves_are_left_out():
    """A job that got there would never be through, and its law never be found (seed 361 of
    tests/models/test_random_models.py): 3 leads to 4 alone, 4 nowhere, and only 0 lets jobs out.
    """
    starts, ends = np.array([0, 1, 2, 2, 3]), np.array([1, 0, 0, 3, 4])
    exits = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    chain = AbsorbingChain(starts, ends, np.arange(1.0, 6.0), exits, np.eye(5)[0])
    kept = chain.without_dead_ends()[:3]
    assert [part.tolist() for part in kept] == [[0, 1, 2], [1, 0, 0], [1.0, 2.0, 3.0]]
