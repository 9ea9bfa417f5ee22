"""Errors of approximations for stations that block and for regions, on random small networks.

``python -m tests.campaigns.blocking_errors --workers 2`` recomputes the table of docs/accuracy.md
(minutes); `tests/queueing/blocking/test_blocking_errors.py` a part of it. A network is drawn from
its seed; cases alternate.

The truth is the whole chain of `tests.brute.held_up`, which does not use headway; with several
servers or regions it is headway's own chain, which `tests.brute.campaign` compares with the former.

Constants or labels of `headway.queueing.blocking.decomposition`,
`headway.queueing.blocking.measured` and `headway.queueing.blocking.methods` rest on it.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from math import inf, log, sqrt
from random import Random

import numpy as np

from headway.errors import GraphError, Saturated
from headway.queueing import MM1, MM1K, Delay, MMm, MMmK
from headway.queueing.blocking import answers
from headway.queueing.blocking.decomposition import decomposed_saturation
from headway.queueing.blocking.solve_blocking import (
    BlockingMethod as Way,
)
from headway.queueing.blocking.solve_blocking import (
    blocking_saturation,
    room_of,
    solve_blocking,
)
from headway.queueing.network.blocking import Blocking as Blocks
from headway.queueing.network.blocking import BlockingNetwork, Window
from tests import campaigns
from tests.brute.chain import TooLarge
from tests.brute.held_up import Blocking, Crowd, Region
from tests.brute.held_up import solve_blocking as whole_blocking
from tests.brute.held_up import solve_region as whole_region

MOST = 8_000
CUT = 1e-6


@dataclass(frozen=True)
class Net:
    """A network as both sides read it.

    `ways` are (share, target) of each station, None for leaving; rooms without blocking are
    unlimited.
    """

    times: tuple[float, ...]
    servers: tuple[float, ...]
    rooms: tuple[float, ...]
    ways: dict
    population: int = 0
    think_time: float = 0.0
    rate: float = 0.0
    windows: tuple[Window, ...] = ()

    @property
    def stations(self):
        """The stations as headway's kinds."""
        return [self._station(k) for k in range(len(self.times))]

    def _station(self, k):
        time, servers, room = self.times[k], self.servers[k], self.rooms[k]
        if servers == inf:
            return Delay(time)
        if room < inf:
            return MM1K(time, room) if servers == 1 else MMmK(time, servers, room)
        return MM1(time) if servers == 1 else MMm(time, servers)

    @property
    def network(self):
        """The network as headway's."""
        onward = np.zeros((len(self.times),) * 2)
        for k, row in self.ways.items():
            for share, target in row:
                if target is not None:
                    onward[k, target] += share
        rooms = tuple(
            room_of(s, Blocks.AFTER_SERVICE if self.rooms[k] < inf else Blocks.LOST)
            for k, s in enumerate(self.stations)
        )
        first = np.eye(1, len(rooms))[0]
        load = (self.rate, self.population, self.think_time)
        return BlockingNetwork(rooms, onward, first, *load, self.windows)

    def solved(self, way):
        """headway's solution."""
        return solve_blocking(self.network, self.stations, way)


def whole(net):
    """Throughput and response time by the independent whole chain."""
    cap = round(log(CUT) / log(net.rate / limit(net))) + 5 if net.rate else 0
    some = Crowd(net.rate, net.population, net.think_time, cap)
    ways = net.ways if net.rate or net.think_time else _round(net.ways)
    if net.windows:
        (window,) = net.windows
        inside, room = frozenset(window.stations), int(window.limit)
        region = Region(net.times, net.servers, ways, some, inside, room)
        numbers = whole_region(region, MOST).numbers
    else:
        rooms = tuple(min(room, cap or net.population) for room in net.rooms)
        numbers = whole_blocking(Blocking(net.times, rooms, ways, some), MOST).numbers
    return _by_class(net, numbers)


def _by_class(net, actual):
    """Response times by class, by Little's law over all jobs present, or N / X - Z."""
    if net.rate:
        present = sum(n for name, n in actual.items() if not name.endswith("throughput"))
        return net.rate, present / net.rate
    leaving = {k: sum(s for s, to in row if to is None) for k, row in net.ways.items()}
    rate = sum(share * actual[f"s{k}.throughput"] for k, share in leaving.items())
    return rate, net.population / rate - net.think_time


def limit(net):
    """Largest throughput of an open network."""
    return blocking_saturation(replace(net, rate=1e-3).network, net.stations)


def spread(net, *, stages):
    """The network where the second station's delay has scv 1/4 or 4: phases in series, or two."""
    first, delay, last = net.times
    if stages:
        times = (first, *[delay / 4] * 4, last)
        ways = {k: [(1.0, k + 1)] for k in range(5)} | {5: net.ways[2]}
    else:
        # share of the short phase; both phases take the same total time
        share = (1 + sqrt(3 / 5)) / 2
        times = (first, delay / 2 / share, delay / 2 / (1 - share), last)
        ways = {0: [(share, 1), (1 - share, 2)], 1: [(1.0, 3)], 2: [(1.0, 3)], 3: net.ways[2]}
    count = len(times)
    inside = (Window(tuple(range(count)), net.windows[0].limit),)
    servers = (1, *[inf] * (count - 2), 1)
    return whole(
        replace(net, times=times, servers=servers, rooms=(inf,) * count, ways=ways, windows=inside)
    )


def _round(ways):
    """The closed network in which jobs that would leave return to the first station."""
    return {k: [(share, 0 if t is None else t) for share, t in row] for k, row in ways.items()}


def own(net):
    """Throughput and response time by headway's chain."""
    solution = answers.solve_chain(net.network)
    return solution.throughput, solution.response_time


def line(draw, count):
    """Routes from each station to the next."""
    return {k: [(1.0, k + 1 if k + 1 < count else None)] for k in range(count)}


def split(draw):
    """Routes from the first station to either of two, and then to a last."""
    share = draw.uniform(0.2, 0.8)
    return {0: [(share, 1), (1 - share, 2)], 1: [(1.0, 3)], 2: [(1.0, 3)], 3: [(1.0, None)]}


def times(draw, count):
    """Mean service times, log-uniform from 0.3 to 1.7 s."""
    return tuple(10 ** draw.uniform(-0.5, 0.25) for _ in range(count))


def loaded(draw, net, most=0.9):
    """The network at 10% or more of its largest throughput."""
    return replace(net, rate=draw.uniform(0.1, most) * limit(net))


def blocking(draw, *, closed=False, think=False, splits=False, servers=False, most=4):
    """Stations with limited room."""
    count = 4 if splits else draw.randint(max(most - 2, 2), most)
    ways = split(draw) if splits else line(draw, count)
    many = tuple(draw.randint(1, 3) if servers else 1 for _ in range(count))
    rooms = [float(m + draw.randint(0, 3)) for m in many]
    if not closed or draw.random() < 0.5:
        rooms[0] = inf
    net = Net(times(draw, count), many, tuple(rooms), ways)
    if not closed:
        return loaded(draw, net)
    jobs = draw.randint(2, max(int(min(sum(rooms) - 1, 14)), 2))
    return replace(net, population=jobs, think_time=draw.uniform(0.5, 5) if think else 0.0)


def regions(draw, *, closed=False, outside=False, two=False):
    """Two to four stations of which some share a limit, or two groups have a limit each."""
    count = draw.randint(3, 4) if outside or two else draw.randint(2, 3)
    ways = line(draw, count)
    ways[count - 1] = [(0.6, None), (0.4, draw.randrange(count - 1))]
    many = tuple(draw.choice((1, 1, 2)) for _ in range(count))
    inside = tuple(range(1 if outside else 0, count))
    parts = (inside[: count - 2], inside[count - 2 :]) if two else (inside,)
    windows = tuple(Window(part, draw.randint(1, 4)) for part in parts)
    net = Net(times(draw, count), many, (inf,) * count, ways, windows=windows)
    if not closed:
        return loaded(draw, net, 0.6 if outside else 0.9)
    return replace(net, population=draw.randint(2, 10), think_time=draw.uniform(0.5, 5))


def behind(draw, *, limited=False):
    """Two stations of which the second blocks, or both in a region, and a queue behind them."""
    rooms = (inf, inf if limited else float(draw.randint(1, 3)), inf)
    windows = (Window((0, 1), draw.randint(1, 4)),) if limited else ()
    return loaded(draw, Net(times(draw, 3), (1, 1, 1), rooms, line(draw, 3), windows=windows), 0.6)


def delayed(draw, *, closed=False):
    """A region around a server, a delay and a server."""
    service, inside = times(draw, 3), (Window((0, 1, 2), draw.randint(1, 4)),)
    net = Net(service, (1, inf, 1), (inf,) * 3, line(draw, 3), windows=inside)
    if closed:
        return replace(net, population=draw.randint(2, 8), think_time=draw.uniform(0.5, 5))
    return loaded(draw, net)


CASES = {
    "line, open": (blocking, whole, Way.DECOMPOSITION),
    "split in two, open": (partial(blocking, splits=True), whole, Way.DECOMPOSITION),
    "several servers, open": (partial(blocking, servers=True), own, Way.DECOMPOSITION),
    "ring, closed": (partial(blocking, closed=True), whole, Way.DECOMPOSITION),
    "split in two, closed": (partial(blocking, closed=True, splits=True), whole, Way.DECOMPOSITION),
    "think time, closed": (partial(blocking, closed=True, think=True), whole, Way.DECOMPOSITION),
    "several servers, closed": (
        partial(blocking, closed=True, servers=True),
        own,
        Way.DECOMPOSITION,
    ),
    "ring of 4 to 6, closed": (partial(blocking, closed=True, most=6), own, Way.DECOMPOSITION),
    "region, open": (regions, whole, Way.EQUIVALENCE),
    "region beside a queue, open": (partial(regions, outside=True), whole, Way.EQUIVALENCE),
    "region, closed": (partial(regions, closed=True), whole, Way.EQUIVALENCE),
    "region beside a queue, closed": (
        partial(regions, closed=True, outside=True),
        whole,
        Way.EQUIVALENCE,
    ),
    "two regions, closed": (partial(regions, closed=True, two=True), own, Way.EQUIVALENCE),
    "a queue behind a line, open": (behind, whole, Way.CHAIN),
    "a queue behind a region, open": (partial(behind, limited=True), whole, Way.CHAIN),
    "delays of scv 1/4, open": (delayed, partial(spread, stages=True), Way.CHAIN),
    "delays of scv 4, open": (delayed, partial(spread, stages=False), Way.CHAIN),
    "delays of scv 1/4, closed": (
        partial(delayed, closed=True),
        partial(spread, stages=True),
        Way.CHAIN,
    ),
    "delays of scv 4, closed": (
        partial(delayed, closed=True),
        partial(spread, stages=False),
        Way.CHAIN,
    ),
}


def measured(seed):
    """Case, and errors of throughput and response time, for a seed's network; None if too large."""
    names = list(CASES)
    name, draw = names[seed % len(names)], Random(seed)
    make, truth, way = CASES[name]
    try:
        net = make(draw)
        assert net.network  # not for a ring that is deadlocked
        true = truth(net)
    except (TooLarge, GraphError):
        return name, None
    return name, errors(net, true, way)


def errors(net, true, way):
    """Relative errors; for open networks, that of their largest throughput."""
    try:
        near = net.solved(way)
        time = near.response_time
    except Saturated:
        time = inf
    rate = near.throughput / true[0] if net.population else _largest(net, way)
    return abs(rate - 1), abs(time / true[1] - 1)


def _largest(net, way):
    """Ratio of an open network's largest throughput by the approximation to the true one."""
    if way is Way.DECOMPOSITION:
        return decomposed_saturation(net.network) / limit(net)
    return 1.0  # flow equivalence is exact there, and equals the chain


def main(arguments=None):
    """Print the table."""
    result = defaultdict(list)
    for name, missed in campaigns.seeded(measured, __doc__, 1140, arguments):
        result[name] += [missed] if missed else []
    for name, rows in result.items():
        parts = [show(part) for part in 100 * np.array(rows).T]
        print(f"{name:32} {len(rows):5} {'   '.join(parts)}")
    return 0


def show(part):
    """Print median, 95th percentile and largest."""
    return f"{np.median(part):6.2f} {np.percentile(part, 95):6.1f} {part.max():6.1f}"


if __name__ == "__main__":
    campaigns.run(__spec__)
