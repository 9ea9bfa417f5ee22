"""How busy a server that wakes up is in closed networks."""

import numpy as np
import pytest

from headway.queueing import MM1, WakeUp, solve_closed


@pytest.mark.parametrize("jobs", [1, 2, 5, 9])
@pytest.mark.parametrize("think", [0.0, 0.4])
def test_how_busy_who_wakes_up_is_in_a_closed_network_is_its_whole_chain(jobs, think):
    """States: jobs at the server, at the disk, the rest thinks; all balance equations at once."""
    own, wake, disk = 0.1, 0.25, 0.2
    states = [(n, k) for n in range(jobs + 1) for k in range(jobs + 1 - n)]
    states = [s for s in states if think or sum(s) == jobs]
    flow = np.zeros((len(states), len(states)))

    def move(start, end, rate):
        if end in states:
            flow[states.index(start), states.index(end)] += rate

    for n, k in states:
        if n:
            move((n, k), (n - 1, k + 1), 1 / (own + wake * (n == 1)))
        if k:
            move((n, k), (n, k - 1) if think else (n + 1, k - 1), 1 / disk)
        if think:
            move((n, k), (n + 1, k), (jobs - n - k) / think)
    flow -= np.diag(flow.sum(axis=1))
    balance = np.vstack([flow.T[:-1], np.ones(len(states))])
    chances = np.linalg.solve(balance, np.eye(len(states))[-1])
    busy = sum(p for (n, _), p in zip(states, chances, strict=True) if n)
    waking = sum(p for (n, _), p in zip(states, chances, strict=True) if n == 1)

    station = WakeUp(own, wake)
    solution = solve_closed([station, MM1(disk)], [1, 1], jobs, think)
    assert solution.utilisation[0] == pytest.approx(busy, rel=1e-10)
    share = solution.utilisation[0] - solution.throughput * own
    assert share == pytest.approx(waking * wake / (own + wake), rel=1e-10, abs=1e-12)


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
