"""What share of a station works whose speed depends on how many are there, in closed networks."""

import numpy as np
import pytest

from headway.queueing import (
    MM1,
    Batch,
    LoadDependent,
    Quota,
    Slowing,
    UnequalServers,
    WakeUp,
    solve_closed,
)

SPEEDS = [
    (WakeUp(0.1, 0.25), 1),
    (LoadDependent((10.0, 8.0, 6.0)), 1),
    (LoadDependent((5.0, 10.0, 15.0, 20.0)), 4),
    (LoadDependent((5.0, 9.0, 12.0)), 1),
    (Slowing(0.1, 0.3, 5), 1),
    (WakeUp(0.1, 0.25, 3), 3),
    (Slowing(0.1, 0.3, 5, 2), 2),
    (Batch(0.1, 0.02, 4), 1),
    (UnequalServers((0.1, 0.3, 0.4)), 3),
]
"""Stations, and their servers of which min(n, m) work."""


@pytest.mark.parametrize("think", [0.0, 0.4])
@pytest.mark.parametrize(("station", "crew"), SPEEDS)
def test_what_works_in_a_closed_network_is_that_of_its_whole_chain(station, crew, think):
    """States: jobs at the station, at the disk, the rest thinks; all balance equations at once."""
    disk, rates = 0.2, [float(rate) for rate in station.rates_to()]
    for jobs in (1, 2, 5, 9):
        states = [(n, k) for n in range(jobs + 1) for k in range(jobs + 1 - n)]
        states = [s for s in states if think or sum(s) == jobs]
        flow = np.zeros((len(states), len(states)))

        def move(start, end, rate, states=states, flow=flow):
            if end in states:
                flow[states.index(start), states.index(end)] += rate

        for n, k in states:
            if n:
                move((n, k), (n - 1, k + 1), rates[min(n, len(rates)) - 1])
            if k:
                move((n, k), (n, k - 1) if think else (n + 1, k - 1), 1 / disk)
            if think:
                move((n, k), (n + 1, k), (jobs - n - k) / think)
        flow -= np.diag(flow.sum(axis=1))
        balance = np.vstack([flow.T[:-1], np.ones(len(states))])
        chances = np.linalg.solve(balance, np.eye(len(states))[-1])
        works = sum(p * min(n, crew) / crew for (n, _), p in zip(states, chances, strict=True))

        solution = solve_closed([station, MM1(disk)], [1, 1], jobs, think)
        assert solution.utilisation[0] == pytest.approx(works, rel=1e-9)


@pytest.mark.parametrize(("station", "crew"), SPEEDS)
def test_points_side_by_side_work_as_one_by_one(station, crew):
    """One network at many populations, many networks of one station, of two."""
    jobs, think = np.arange(0, 9), np.linspace(0.1, 1.0, 9)
    for others in ([], [MM1(0.2)], [Batch(0.1, 0.01, 3)], [MM1(0.2), Slowing(0.05, 0.2, 3)]):
        network, visits = [station, *others], [1.0] * (1 + len(others))
        for pause in (0.5, think):
            sweep = solve_closed(network, visits, jobs, pause).utilisation
            pauses = np.broadcast_to(pause, jobs.shape)
            pairs = zip(jobs.tolist(), pauses.tolist(), strict=True)
            each = [solve_closed(network, visits, n, z).utilisation for n, z in pairs]
            np.testing.assert_allclose(sweep, np.transpose(each), rtol=1e-10)
    assert float(np.asarray(station.crew)) == crew


@pytest.mark.parametrize(("station", "crew"), SPEEDS)
@pytest.mark.parametrize("load", [1e-9, 0.3, 0.9])
def test_what_works_in_an_open_network_is_the_sum_over_its_states(station, crew, load):
    rates = [float(rate) for rate in station.rates_to()]
    rate, weights = load * rates[-1], [1.0]
    for n in range(3000):
        weights.append(weights[-1] * rate / rates[min(n, len(rates) - 1)])
    works = sum(w * min(n, crew) / crew for n, w in enumerate(weights)) / sum(weights)
    assert station.utilisation(rate) == pytest.approx(works, rel=1e-9)
    assert station.offered(1.5 * rates[-1]) == pytest.approx(1.5, rel=1e-12)
    assert station.utilisation(1.5 * rates[-1]) >= 1


def test_who_is_not_full_is_below_one():
    """Somebody is there all but 1e-24 of the time, and yet all who come are served."""
    station = LoadDependent((1.0,) * 15 + (100.0,))
    assert station.utilisation(50.0) < 1 <= station.utilisation(100.0)


def test_what_works_beside_a_quota_lies_between_its_ends():
    slow = LoadDependent((10.0, 8.0, 6.0))
    solution = solve_closed([Quota(0.05, 0.5, 0.1), slow], [1, 1], 20, 0.1)
    assert solution.utilisation[1] == pytest.approx(1, rel=1e-3)


def test_who_wakes_up_beside_nothing_else_is_always_busy():
    solution = solve_closed([WakeUp(0.1, 0.2)], [1], np.array([0, 1, 5]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(solution.utilisation[0], [0, 1, 1], rtol=1e-12)

    two = [WakeUp(0.1, 0.2), WakeUp(0.3, 0.1)]
    sweep = solve_closed(two, [2.0, 1.0], np.arange(1, 9), 0.5).utilisation
    alone = [solve_closed(two, [2.0, 1.0], n, 0.5).utilisation for n in range(1, 9)]
    np.testing.assert_allclose(sweep, np.transpose(alone), rtol=1e-11)


@pytest.mark.parametrize("wake", [1e-12, 1.0, 1e12])
def test_no_time_is_too_long_to_wake_up(wake):
    solution = solve_closed([WakeUp(wake, wake)], [1], np.array([1, 5]), 0.0)
    np.testing.assert_allclose(solution.utilisation[0], [1, 1], rtol=1e-12)
