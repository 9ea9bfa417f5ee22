"""Networks with blocking and regions, against chains written down by hand and published numbers."""

from math import inf
from typing import Any

import numpy as np
import pytest

from headway.errors import GraphError, Saturated
from headway.queueing import MM1, MM1K, Delay, LoadDependent, MMm, MMmK, solve_closed
from headway.queueing.blocking.answers import solve_chain
from headway.queueing.blocking.chain import saturation
from headway.queueing.blocking.decomposition import decomposed_saturation, solve_decomposed
from headway.queueing.blocking.measured import decomposed_note
from headway.queueing.blocking.moves import rates_of
from headway.queueing.blocking.solve_blocking import BlockingMethod as Way
from headway.queueing.blocking.solve_blocking import blocking_saturation, room_of, solve_blocking
from headway.queueing.blocking.states import estimate, space_of
from headway.queueing.network.blocking import Blocking, BlockingNetwork, Room, Window

AFTER, AGAIN = Blocking.AFTER_SERVICE, Blocking.REPETITIVE
EXACT = 1e-10


def network(rooms: list[Room], onward: Any, **more: Any) -> BlockingNetwork:
    """A network that jobs enter at its first station."""
    first = np.eye(1, len(rooms))[0]
    return BlockingNetwork(tuple(rooms), np.array(onward, float), first, **more)


def line(rooms: list[Room], **more: Any) -> BlockingNetwork:
    """Stations one after the other."""
    return network(rooms, np.diag(np.ones(len(rooms) - 1), 1), **more)


@pytest.mark.parametrize(
    ("places", "most"),
    [((1,), 2 / 3), ((1, 1), 22 / 39), ((2,), 3 / 4), ((5,), 6 / 7)],
)
def test_lines_without_room_saturate_as_published(places: tuple[int, ...], most: float) -> None:
    """Hunt, Operations Research 4(6), 1956: two without room between, and three."""
    rooms = [Room(1.0), *(Room(1.0, 1, n, AFTER) for n in places)]
    assert saturation(line(rooms, arrival_rate=0.1)) == pytest.approx(most, rel=EXACT)


@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("limit", [1, 3, 7])
def test_a_region_around_one_pool_only_moves_its_queue_outside(servers: int, limit: int) -> None:
    """With as many places as servers or more, it serves as ever; else by so many servers."""
    station = MMm(1.0, min(servers, limit))
    inside = network([Room(1.0, servers)], [[0]], arrival_rate=0.7, windows=(Window((0,), limit),))
    solution = solve_chain(inside)
    assert solution.response_time == pytest.approx(station.response_time(0.7), rel=EXACT)
    assert solution.windows[0].full == pytest.approx(_at_least(station, limit), rel=EXACT)


def _at_least(pool: MMm, number: int) -> float:
    """Chance that so many or more are at M/M/m, by its geometric tail."""
    load, servers = 0.7 * pool.mean_service, int(pool.plain_count)
    empty = float(pool.empty_probability(0.7))
    at = [
        empty * load**n / np.prod([min(k, servers) for k in range(1, n + 1)]) for n in range(number)
    ]
    return 1 - float(sum(at))


def test_two_stations_that_block_after_service_are_as_two_with_more_room() -> None:
    """Akyildiz: a ring of two with places b is as one with b + m of the other and no blocking."""
    rooms = [Room(0.5, 2, 4, AFTER), Room(0.8, 1, 3, AFTER)]
    solution = solve_chain(line(rooms, population=5))
    speeds = [lambda n: min(n, 2) / 0.5, lambda n: min(n, 1) / 0.8]
    states = [n for n in range(6) if n <= 4 + 1 and 5 - n <= 3 + 2]
    weights = dict.fromkeys(states, 1.0)
    for n in states[1:]:
        weights[n] = weights[n - 1] * speeds[1](5 - n + 1) / speeds[0](n)
    total = sum(weights.values())
    through = sum(w * speeds[0](n) * (n - 1 in states) for n, w in weights.items()) / total
    assert solution.throughput == pytest.approx(through, rel=EXACT)


def test_repetitive_service_and_ways_that_reverse_have_a_product_form() -> None:
    """A truncated product form: two satellites around a centre, each full with two."""
    rooms = [Room(1.0), Room(2.0, 1, 2, AGAIN), Room(3.0, 1, 2, AGAIN)]
    states = [(4 - a - b, a, b) for a in range(3) for b in range(3) if a + b <= 4]
    weight = {n: (0.6 * 2.0) ** n[1] * (0.4 * 3.0) ** n[2] for n in states}
    total = sum(weight.values())
    ring = network(rooms, [[0, 0.6, 0.4], [0, 0, 0], [1, 0, 0]], population=4)
    solution = solve_chain(ring)
    for k in range(3):
        mean = sum(w * n[k] for n, w in weight.items()) / total
        assert solution.queue_length[k] == pytest.approx(mean, rel=EXACT)


def test_what_never_fills_is_as_if_nothing_limited_it() -> None:
    """With room for all, the chain is the product form of mean value analysis."""
    for blocking in (AFTER, AGAIN):
        rooms = [Room(0.1, 1, 6, blocking), Room(0.3, 2, 7, blocking), Room(0.2)]
        solution = solve_chain(network(rooms, _FORK, population=6, think_time=0.5))
        plain = solve_closed([MM1(0.1), MMm(0.3, 2), MM1(0.2)], [1.0, 0.5, 0.5], 6, 0.5)
        assert solution.throughput == pytest.approx(plain.throughput, rel=EXACT)
        assert solution.queue_length == pytest.approx(plain.queue_length, rel=EXACT)
        assert solution.blocked == pytest.approx(0.0, abs=EXACT)


_FORK = [[0, 0.5, 0.5], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("blocking", [AFTER, AGAIN])
@pytest.mark.parametrize("closed", [False, True])
def test_flows_and_jobs_are_kept(blocking: Blocking, closed: bool) -> None:
    """Whatever blocks: flows balance, jobs add up, and those lost came from outside."""
    rooms = [Room(0.2, 1, 3, blocking), Room(0.3, 2, 3, blocking), Room(0.25, 1, 2, blocking)]
    load: dict[str, Any] = {"population": 7, "think_time": 0.4} if closed else {"arrival_rate": 4.0}
    solution = solve_chain(network(rooms, _FORK, **load))
    first, *last = solution.station_throughput
    assert [first, sum(last)] == pytest.approx([solution.throughput] * 2, rel=EXACT)
    if blocking is AFTER:  # drawing anew sends more to where there is room
        assert last == pytest.approx([first / 2] * 2, rel=EXACT)
    if closed:
        present = solution.throughput * (solution.response_time + 0.4)
        assert present == pytest.approx(7, rel=EXACT)
    else:
        assert solution.throughput == pytest.approx(4 * (1 - solution.loss_probability), rel=EXACT)
        assert solution.loss_probability > 0.05


def test_a_full_region_outside_which_somebody_waits_is_a_closed_network() -> None:
    """Its largest throughput is that of its stations with as many jobs as it lets in."""
    rooms = [Room(0.1), Room(0.2)]
    most = saturation(line(rooms, arrival_rate=1.0, windows=(Window((0, 1), 4),)))
    inside = solve_closed([MM1(0.1), MM1(0.2)], [1, 1], 4).throughput
    assert most == pytest.approx(inside, rel=EXACT)
    with pytest.raises(Saturated, match="more jobs arrive"):
        solve_chain(line(rooms, arrival_rate=most * 1.001, windows=(Window((0, 1), 4),)))


def test_what_stands_still_is_refused_by_name() -> None:
    full = [Room(1.0, 1, 2, AFTER), Room(1.0, 1, 3, AFTER)]
    with pytest.raises(
        GraphError, match="deadlock: station 1 -> station 2 -> station 1 has 5 places"
    ):
        line(full, population=5)
    assert solve_chain(line(full, population=4)).throughput > 0
    with pytest.raises(GraphError, match="deadlock: .* jobs from outside fill it"):
        network([Room(1.0), *full], [[0, 1, 0], [0, 0, 1], [0, 0.5, 0]], arrival_rate=0.1)
    again = [Room(1.0, 1, 2, AGAIN), Room(1.0, 1, 3, AGAIN)]
    with pytest.raises(GraphError, match="deadlock: all stations together have 5 places for 5"):
        line(again, population=5)


def test_what_no_chain_holds_is_refused_with_the_remedy() -> None:
    many = [Room(1.0, 1, 40, AFTER) for _ in range(5)]
    with pytest.raises(GraphError, match=r"has 598,800 states, above the limit of 20,000"):
        solve_chain(line(many, population=60))
    with pytest.raises(GraphError, match="in two regions"):
        line([Room(1.0)], arrival_rate=0.1, windows=(Window((0,), 1), Window((0,), 2)))
    with pytest.raises(GraphError, match="has a capacity and is in a region"):
        line([Room(1.0, 1, 2, AFTER)], arrival_rate=0.1, windows=(Window((0,), 1),))
    with pytest.raises(GraphError, match="loses jobs that come from other stations"):
        line([Room(1.0), Room(1.0, 1, 2)], arrival_rate=0.1)


@pytest.mark.parametrize("blocking", [AFTER, AGAIN])
def test_the_estimate_counts_every_state(blocking: Blocking) -> None:
    """Never fewer than there are; at repetitive service exactly those."""
    rooms = [Room(1.0, 2, 4, blocking), Room(1.0, 1, 2, blocking), Room(1.0, 1, 4, blocking)]
    shape = rates_of(network(rooms, _FORK, population=5)).shape
    listed = len(space_of(shape).states)
    assert listed <= estimate(shape) <= 2 * listed
    if blocking is AGAIN:
        assert listed == estimate(shape)


def test_a_region_beside_others_is_solved_in_parts() -> None:
    """Before it Poisson, after it a delay: exact; what is before and after is as alone."""
    stations = [MMm(0.1, 2), MM1(0.2), Delay(3.0)]
    rooms = tuple(map(room_of, stations))
    whole = line(list(rooms), arrival_rate=3.0, windows=(Window((1,), 2),))
    solution = solve_blocking(whole, stations)
    alone = [s.response_time(3.0) for s in stations]
    assert solution.method == "chain"
    assert not solution.approximation
    assert solution.response_time == pytest.approx(sum(alone), rel=EXACT)
    assert blocking_saturation(whole, stations) == pytest.approx(5.0, rel=EXACT)


def test_a_station_that_nobody_visits_saturates_nothing() -> None:
    rooms = (room_of(MM1(0.2)), room_of(MM1(0.5)))
    first, nowhere = np.array([1.0, 0.0]), np.zeros((2, 2))
    windows = (Window((0,), 2),)
    one = BlockingNetwork(rooms, nowhere, first, arrival_rate=1.0, windows=windows)
    assert blocking_saturation(one, [MM1(0.2), MM1(0.5)]) == pytest.approx(5.0, rel=EXACT)


def test_a_region_that_never_fills_is_exact_by_flow_equivalence() -> None:
    """As many places as jobs: Norton's theorem."""
    stations = [MM1(0.1), LoadDependent((4.0, 6.0)), MM1(0.3)]
    rooms = tuple(map(room_of, stations))
    inside = line(list(rooms), population=5, think_time=1.0, windows=(Window((1, 2), 5),))
    solution = solve_blocking(inside, stations)
    plain = solve_closed(stations, [1, 1, 1], 5, 1.0)
    assert (solution.method, solution.approximation) == ("flow equivalence", "")
    assert solution.throughput == pytest.approx(plain.throughput, rel=EXACT)
    assert solution.queue_length == pytest.approx(plain.queue_length, rel=EXACT)


def test_stations_of_other_kinds_are_refused_where_they_block() -> None:
    stations = [MM1K(1.0, 2), MMmK(1.0, 2, 3)]
    rooms = (room_of(stations[0], AFTER), room_of(stations[1], AFTER))
    assert rooms[1] == Room(1.0, 2.0, 3.0, AFTER)
    assert room_of(Delay(1.0)).servers == inf
    varying = LoadDependent((1.0, 2.0))
    mixed = line([room_of(varying), rooms[1]], population=2)
    with pytest.raises(GraphError, match="LoadDependent has no Markov chain"):
        solve_blocking(mixed, [varying, stations[1]], Way.CHAIN)


def test_decomposition_of_two_in_line_is_exact_in_what_saturates_it() -> None:
    for places, servers in ((1, 1), (3, 2), (6, 1)):
        rooms = [Room(1.0, servers), Room(1.2, 1, places, AFTER)]
        two = line(rooms, arrival_rate=0.5)
        assert decomposed_saturation(two) == pytest.approx(saturation(two), rel=1e-6)


def test_decomposition_is_near_the_chain() -> None:
    """The whole table is in docs/accuracy.md; here a line at 80% of what it lets through."""
    rooms = [Room(1.0), Room(0.9, 1, 3, AFTER), Room(1.1, 2, 4, AFTER)]
    load = 0.8 * saturation(line(rooms, arrival_rate=1.0))
    exact, near = (f(line(rooms, arrival_rate=load)) for f in (solve_chain, solve_decomposed))
    assert near.response_time == pytest.approx(exact.response_time, rel=0.02)
    assert near.approximation == decomposed_note(closed=False)
    rooms[0] = Room(1.0, 1, 5, AFTER)
    ring = line(rooms, population=8)
    exact, near = (f(ring) for f in (solve_chain, solve_decomposed))
    assert near.throughput == pytest.approx(exact.throughput, rel=0.05)
