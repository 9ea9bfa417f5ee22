"""Several classes at stations whose speed depends on how many are there."""

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.queueing import (
    Batch,
    LoadDependent,
    ServiceKind,
    SharedStation,
    Slowing,
    UnequalServers,
    WakeUp,
    solve_closed,
    solve_multiclass,
)
from tests.brute.chain import solve_chain
from tests.brute.drawing import same_for_all
from tests.brute.network import Jobs, Network
from tests.brute.orders import Sharing
from tests.support.class_networks import AGREE, closed, opened, shared

KINDS = [
    LoadDependent((1.0, 2.5, 2.0)),
    Batch(0.3, 0.1, 3),
    Slowing(1.0, 0.3, 4),
    WakeUp(0.6, 0.5),
    LoadDependent((1.0, 2.0, 3.0)),
    LoadDependent((3.0, 2.0, 1.0)),
    UnequalServers((1.0, 3.0)),
]


def station(name, kind, times, visits=None):
    """A station of a kind, of which these are the times alone."""
    speeds = [float(speed) for speed in kind.speeds()]
    visits = visits or [1] * len(times)
    crew = float(kind.crew)
    return SharedStation(name, times, visits, ServiceKind.VARYING, 1, "ps", speeds, crew)


def place(kind, times):
    """The same as part of a chain."""
    speeds = kind.speeds()
    return Sharing(times, speed=lambda n: speeds[min(n, len(speeds)) - 1])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_closed_classes_are_solved_as_their_whole_chain(kind):
    ways = {0: [(0.5, 1), (0.5, None)], 1: [(1.0, 0)]}
    jobs = (Jobs("a", None, 3, 1.2), Jobs("b", None, 2, 0.8))
    two = Sharing((0.4, 0.9), servers=2)
    truth = Network((place(kind, (0.7, 1.5)), two), jobs, same_for_all(ways, 2))

    stations = [station("s", kind, (0.7, 1.5), (2, 2)), shared("d", (0.4, 0.9), 2)]
    solution = solve_multiclass(stations, [closed(3, 1.2), closed(2, 0.8)])

    assert_as(truth, solution)
    assert not solution.approximation
    assert solution.utilisation[0] == pytest.approx(busy(truth, kind), rel=AGREE)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_open_classes_beside_closed_ones_are_solved_as_their_whole_chain(kind):
    jobs = (Jobs("a", 0.15), Jobs("b", None, 2, 1.2), Jobs("c", None, 1, 0.4))
    alone = same_for_all({0: [(1.0, None)]}, 3)
    truth = Network((place(kind, (0.7, 0.5, 1.0)),), jobs, alone, cap=70)

    solution = solve_multiclass(
        [station("s", kind, (0.7, 0.5, 1.0))], [opened(0.15), closed(2, 1.2), closed(1, 0.4)]
    )

    assert_as(truth, solution)  # of 70 open jobs hardly any chance is left
    assert solution.utilisation[0] == pytest.approx(busy(truth, kind), rel=AGREE)


def assert_as(network, solution):
    chain = solve_chain(network.start, network.moves)
    for k, here in enumerate(network.places):
        for c in range(len(network.classes)):
            number = chain.mean(lambda state, k=k, c=c: network.places[k].counts(state[0][k])[c])
            rate = chain.mean(lambda state, k=k, c=c: served(network.places[k], state[0][k], c))
            assert solution.queue_length[k][c] == pytest.approx(number, rel=AGREE), here
            assert solution.station_throughput[k][c] == pytest.approx(rate, rel=AGREE), here


def served(here, state, c):
    return sum(rate for rate, of, _ in here.leaving(state) if of == c)


def busy(network, kind):
    """Mean share of the servers at the first station that works for each class."""
    chain, crew = solve_chain(network.start, network.moves), float(kind.crew)

    def share(state, c):
        counts = network.places[0].counts(state[0][0])
        present = max(sum(counts), 1)
        return min(present, crew) / crew * counts[c] / present

    classes = range(len(network.classes))
    return [chain.mean(lambda state, c=c: share(state, c)) for c in classes]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_classes_alike_are_one_class(kind):
    alone = float(np.asarray(kind.service_time))
    one = solve_closed([kind], [1], 6, 2.0)
    two = solve_multiclass([station("s", kind, (alone, alone))], [closed(4, 2.0), closed(2, 2.0)])
    assert two.throughput.sum() == pytest.approx(one.throughput, rel=AGREE)
    assert two.utilisation[0].sum() == pytest.approx(one.utilisation[0], rel=AGREE)

    rate = 0.6 * float(np.asarray(kind.capacity))
    two = solve_multiclass(
        [station("s", kind, (alone, alone))], [opened(rate / 3), opened(rate / 1.5)]
    )
    assert two.response_time == pytest.approx([kind.response_time(rate)] * 2, rel=1e-12)
    assert two.utilisation[0].sum() == pytest.approx(kind.utilisation(rate), rel=1e-12)


def test_points_of_different_speeds_are_solved_as_one_by_one():
    first, last = np.array([1.0, 1.0, 3.0]), np.array([2.0, 0.5, 1.0])
    place = SharedStation("s", (0.5, 1.0), (1, 1), ServiceKind.VARYING, speeds=(first, last))
    together = solve_multiclass([place, shared("d", (0.2, 0.3))], [closed(4, 1.0), closed(2)])

    for i in range(3):
        alone = SharedStation(
            "s", (0.5, 1.0), (1, 1), ServiceKind.VARYING, speeds=(first[i], last[i])
        )
        one = solve_multiclass([alone, shared("d", (0.2, 0.3))], [closed(4, 1.0), closed(2)])
        assert together.throughput[:, i] == pytest.approx(one.throughput, rel=AGREE)
        assert together.utilisation[..., i] == pytest.approx(one.utilisation, rel=AGREE)


def test_open_classes_saturate_it_at_its_last_speed():
    place = station("s", LoadDependent((1.0, 2.0)), (0.5, 0.5))
    solve_multiclass([place], [opened(2.0), opened(1.9)])
    with pytest.raises(Saturated, match=r"s: utilisation 1\.025 by open classes"):
        solve_multiclass([place], [opened(2.1), opened(2.0)])


def test_speeds_without_their_kind_are_refused():
    with pytest.raises(InvalidParameter, match="varying station"):
        SharedStation("s", (1.0,), (1,), speeds=(1.0, 2.0))
    with pytest.raises(InvalidParameter, match="varying station"):
        SharedStation("s", (1.0,), (1,), ServiceKind.VARYING)
    with pytest.raises(InvalidParameter, match="speeds"):
        SharedStation("s", (1.0,), (1,), ServiceKind.VARYING, speeds=(1.0, 0.0))


def test_times_by_class_in_order_of_arrival_are_refused():
    speeds = SharedStation("s", (1.0, 1.0), (1, 1), ServiceKind.VARYING, speeds=(1.0, 2.0))
    unlike = SharedStation("s", (1.0, 2.0), (1, 1), ServiceKind.VARYING, 1, "fcfs", (1.0, 2.0))
    line = SharedStation("d", (1.0, 2.0), (1, 1), discipline="fcfs")
    with pytest.raises(GraphError, match="s: first come first served, its speed"):
        solve_multiclass([unlike], [opened(0.1), opened(0.1)])
    with pytest.raises(GraphError, match="s: speeds by number present are solved exactly only"):
        solve_multiclass([speeds, line], [closed(2), closed(3)])
