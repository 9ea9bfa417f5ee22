"""Room for open classes at stations that are solved state by state."""

from dataclasses import replace

import numpy as np
import pytest

from headway.queueing import Discipline, JobClass, Method, SharedStation, solve_multiclass
from headway.queueing.orders.chain import MOST, Local, solve_local
from headway.queueing.orders.room import LOST, with_more_room, with_room
from tests.oracles.order_chain import Coming, Served, solve_orders

CLOSED = 3
TIMES, AWAY = [0.1, 0.3], [1.0, 1.0]


def solved(local, load):
    """Throughputs, numbers and losses beside an open class with such a load."""
    return solve_local(local, TIMES, AWAY, [0.0, load / TIMES[1]])


@pytest.mark.parametrize("ranks", [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("interrupts", [False, True])
@pytest.mark.parametrize(("load", "states"), [(0.05, 400), (0.3, 500), (0.6, 1600)])
def test_light_loads_take_few_states_and_lose_no_digits(load, states, ranks, interrupts):
    local = with_room(Local((CLOSED, 0), ranks, 1, interrupts), [0.0, load])
    while larger := with_more_room(local, solved(local, load)[2]):
        local = larger
    assert local.states <= states

    # twice the room, at twice the error that the module states for B = 1e-14; with ever more the
    # rounding of states that hardly ever are adds up
    whole = replace(local, jobs=(CLOSED, 2 * local.jobs[1]))
    room, decay = local.jobs[1], 1 / (1 - load - 0.1)
    rate, number, lost = solved(local, load)
    all_rate, all_number, _ = solved(whole, load)
    assert lost.max() <= LOST
    assert rate == pytest.approx(all_rate, rel=1e-12)
    assert number == pytest.approx(all_number, rel=2 * LOST * (room + decay) * decay + 1e-12)


def test_room_never_has_more_states_than_are_solved():
    """Those that need more than an equal share of them have one."""
    local = with_room(Local((2, 0, 0, 0), (1,) * 4, 1, True), [0.0, 0.01, 0.6, 0.38])
    assert local.states <= MOST
    assert local.jobs[1] == 10
    assert min(local.jobs[2:]) >= 10
    assert with_more_room(local, np.array([0.0, 0.0, 1e-3, 1e-3])) is None


def test_random_order_beside_an_open_class_is_exact_at_one_queue():
    """As in its whole chain; 18 jobs of the open class at a load of 0.09: 1e-19 are cut off."""
    cpu = SharedStation("cpu", (0.3, 0.1), (1, 1), discipline=Discipline.RANDOM)
    classes = [JobClass("a", arrival_rate=0.3), JobClass("b", population=3, think_time=1.0)]

    solution = solve_multiclass([cpu], classes)

    assert (solution.method, solution.approximation) == (Method.CHAIN, "")
    coming = [Coming(18, arrival_rate=0.3), Coming(3, think_time=1.0)]
    through, length = solve_orders((Served("siro", 1, (0.3, 0.1)),), coming)
    assert solution.response_time == pytest.approx(length[:, 0] / through, rel=1e-10)
    assert solution.throughput == pytest.approx(through, rel=1e-10)
