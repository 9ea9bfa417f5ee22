"""Several classes by whose turn it is: equal and unequal times in order of arrival."""

import numpy as np
import pytest

from headway.queueing import Discipline, MMm, SharedStation, solve_multiclass
from tests.support.class_networks import closed, opened, shared


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("discipline", list(Discipline))
def test_a_class_without_demand_does_not_queue(order, discipline):
    times, classes = [0.0, 0.5][::order], [opened(1.0), opened(1.0)][::order]

    solution = solve_multiclass([shared("cpu", times, discipline=discipline)], classes)

    assert solution.response_time[::order] == pytest.approx([0.0, 1.0], rel=1e-12)


def test_first_come_first_served_is_pollaczek_and_khinchines_wait():
    stations = [shared("cpu", [0.2, 2.0], discipline=Discipline.FCFS)]

    solution = solve_multiclass(stations, [opened(0.4), opened(0.4)])

    wait = (0.4 * 2 * 0.2**2 + 0.4 * 2 * 2.0**2) / (2 * (1 - 0.88))
    assert solution.response_time == pytest.approx([0.2 + wait, 2.0 + wait], rel=1e-12)
    assert solution.response_time == pytest.approx([13.67, 15.47], abs=0.005)
    assert not solution.approximation


def test_first_come_first_served_is_exact_where_times_are_equal():
    stations = [shared("a", [0.2, 0.2], 3, discipline=Discipline.FCFS), shared("b", [0.3, 0.1])]

    solution = solve_multiclass(stations, [opened(1.0), closed(4)])

    product = solve_multiclass([shared("a", [0.2, 0.2], 3), stations[1]], [opened(1.0), closed(4)])
    assert solution.response_time.tolist() == product.response_time.tolist()
    assert not solution.approximation


def test_first_come_first_served_is_labelled_where_it_is_not_exact():
    unlike = shared("cpu", [0.2, 2.0], discipline=Discipline.FCFS)
    pool = shared("cpu", [0.2, 2.0], 2, discipline=Discipline.FCFS)
    again = SharedStation("cpu", (0.2, 2.0), (2, 1), discipline=Discipline.FCFS)
    for stations in ([unlike, shared("disk", [0.1, 0.1])], [pool], [again]):
        solution = solve_multiclass(stations, [opened(0.2), opened(0.2)])

        assert solution.approximation.startswith("cpu: first come first served")


def test_several_servers_wait_by_two_moments():
    times, rates, servers = np.array([0.2, 2.0]), np.array([0.4, 0.9]), 3

    solution = solve_multiclass(
        [shared("cpu", times, servers, discipline=Discipline.FCFS)], [opened(r) for r in rates]
    )

    total, mean = rates.sum(), (rates * times).sum() / rates.sum()
    scv = 2 * (rates * times**2).sum() / total / mean**2 - 1
    wait = MMm(mean, servers).waiting_time(total) * (1 + scv) / 2
    assert solution.response_time == pytest.approx(times + wait, rel=1e-12)


def test_points_in_order_of_arrival_are_solved_as_one_by_one():
    def solved(time):
        places = [shared("cpu", [0.2, time], discipline=Discipline.FCFS), shared("b", [0.3, 0.1])]
        return solve_multiclass(places, [closed(3, 1.0), closed(2)])

    times = np.array([0.2, 0.5, 0.2, 0.1])
    table = solved(times)

    assert "first come first served" in table.approximation
    for i, time in enumerate(times):
        one = solved(float(time))
        assert bool(one.approximation) == (time != 0.2)
        assert table.throughput[:, i] == pytest.approx(one.throughput, rel=1e-9)
        assert table.queue_length[..., i] == pytest.approx(one.queue_length, rel=1e-8)
