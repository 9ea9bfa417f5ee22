"""How fast the threads of pools are freed, by how many of them are busy.

Threads of one pool wait for each other at processors and for the threads of lower pools. With n of
them busy they are freed as n jobs leave a closed network of these stations, which are slowed down
by all others there (`headway.queueing.layers.numerics.pools`, (4)). A pool of one thread is freed
at the rate 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.decomposed.structures import Others
from headway.queueing.layers.decomposed.works import State, Works
from headway.queueing.layers.numerics.pools import MOST, pool_capacities
from headway.queueing.layers.numerics.stations import NEVER, Column, Sums, counted
from headway.queueing.layers.parts import is_unlimited
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

_LEAST = 1e-6  # share of the holding time elsewhere that stands for 0
_SLOWEST = 1e-2  # callers outside a pool at least


class Capacities:
    """Rates at which the threads of pools are freed.

    Parameters
    ----------
    sources, others, works, column
        Of a system, and how a number becomes a row.
    alone
        Cycles [1/s] and mean times [s] of all work if nobody waited.

    Attributes
    ----------
    names
        Tasks with a limited number of threads, each after all that it calls.
    threads, first
        Their numbers of threads as rows, and the first row of each.
    """

    def __init__(
        self,
        sources: Sources,
        others: Others,
        works: Works,
        column: Column,
        alone: tuple[FloatArray, FloatArray],
    ) -> None:
        self.sources, self.works = sources, works
        tasks = sources.system.tasks
        limited = [n for n, one in tasks.items() if not (one.clients or is_unlimited(one.threads))]
        self._rank = _ranks(sources)
        self.names = sorted(limited, key=lambda name: -self._rank[name])
        self.threads = counted([tasks[name].threads for name in self.names], column)
        self.tallest = self.threads.max(axis=1)
        self.first = np.cumsum(self.tallest) - self.tallest
        if not self.names:
            return
        self._places = [sources.processor(work.entry) for work in works.all]
        self._narrow = self._narrow_pools(limited, column, *alone)
        self._read_stations(column)
        is_open = any(one.own is None for one in sources.all)
        clients = [one.own is not None and not one.own.second for one in sources.all]
        self.endless = np.array([[is_open and not clients[k]] for k in works.source], float)
        callers = [others.callers(name) for name in self.names]
        most = [np.where(one.above_in_all, one.above_in_all, one.in_all) for one in callers]
        self.callers = np.maximum(counted(most, column), self.threads)
        self._work = np.zeros(2 * (MOST + 1))

    def _read_stations(self, column: Column) -> None:
        """Read the stations below each pool, and the work there and for each thread."""
        found = [dict(self._stations(name)) or {("", False): {}} for name in self.names]
        each = [(key, rows) for one in found for key, rows in one.items()]
        self.begins = np.cumsum([0, *map(len, found)]).astype(np.int64)
        self.pool = np.repeat(np.arange(len(found)), np.diff(self.begins))
        row = dict(zip(self.names, self.first.tolist(), strict=True))
        self.lower = np.array([row[name] if is_task else -1 for (name, is_task), _ in each])
        self.is_task = np.array([[is_task] for (_, is_task), _ in each])
        self.servers = counted([self._servers(*key) for key, _ in each], column)
        self.own = Sums([rows for _, rows in each], column)
        self.all = Sums([self._everybody(*key) for key, _ in each], column)
        asked = [dict.fromkeys(self._asked(name), 1.0) for name in self.names]
        self.asked = Sums(asked, column)

    def _narrow_pools(
        self, limited: Sequence[str], column: Column, cycles: FloatArray, mean: FloatArray
    ) -> Mapping[str, FloatArray]:
        """1 where a pool would be full before any processor that its threads use, 0 elsewhere.

        The rates at which both are full alone are compared.
        """
        works, system = self.works, self.sources.system
        often = cycles * works.often
        held = often * mean
        use = dict.fromkeys(system.processors, np.zeros_like(works.busy[0]))
        busy = {name: dict(use) for name in limited}
        for row, (work, time) in enumerate(zip(works.all, often * works.busy, strict=True)):
            place = self._places[row]
            for stack, share in self.sources.held(work).items():
                for name in stack & busy.keys():
                    busy[name][place] = busy[name][place] + time * column(share)
        narrow: dict[str, FloatArray] = {}
        for name, each in busy.items():
            servers = system.processors
            full = [time / column(servers[place].servers) for place, time in each.items()]
            threads = column(system.tasks[name].threads)
            of_pool = held[list(self._asked(name))].sum(axis=0) / threads
            # the same in all views
            found = np.asarray(of_pool >= np.max(full, axis=0), float)[: int(np.prod(system.shape))]
            narrow[name] = found.reshape(system.shape)
        return narrow

    def _asked(self, task: str) -> Iterator[int]:
        """Rows of work for which a thread of a task is asked."""
        sources, works = self.sources, self.works
        for row, work in enumerate(works.all):
            is_own = work == sources.all[work.source].own
            if sources.system.entries[work.entry].task == task and not is_own:
                yield row

    def _servers(self, name: str, is_task: bool) -> Amount:  # noqa: FBT001 - a key
        if not name:
            return 1
        system = self.sources.system
        return system.tasks[name].threads if is_task else system.processors[name].servers

    def _everybody(self, name: str, is_task: bool) -> dict[int, Amount]:  # noqa: FBT001 - a key
        """Rows of all work at a station."""
        if is_task:
            return dict.fromkeys(self._asked(name), 1.0)
        return {row: 1.0 for row, place in enumerate(self._places) if place == name}

    def _stations(self, pool: str) -> Iterator[tuple[tuple[str, bool], dict[int, Amount]]]:
        """Stations below a pool, whether they are pools, and their work with its share.

        A thread is at the first of the pools below that is narrow, or else at the processor.
        """
        found: dict[tuple[str, bool], dict[int, Amount]] = {}
        for row in range(len(self.works.all)):
            for key, share in self._at(pool, row):
                if np.any(share):
                    into = found.setdefault(key, {})
                    into[row] = into.get(row, 0.0) + share
        yield from found.items()

    def _at(self, pool: str, row: int) -> Iterator[tuple[tuple[str, bool], Amount]]:
        """Stations below a pool at which its threads are for some work, with the share of it."""
        system, work = self.sources.system, self.works.all[row]
        is_asked = work != self.sources.all[work.source].own
        for held, share in self.sources.held(work).items():
            if pool in held:
                here: Amount = share
                for name in self._below(pool, held):
                    if is_asked and name == system.entries[work.entry].task:
                        yield (name, True), here * self._narrow[name]
                    here = here * (1 - self._narrow[name])
                if not is_unlimited(system.processors[self._places[row]].servers):
                    yield (self._places[row], False), here

    def _below(self, pool: str, held: frozenset[str]) -> list[str]:
        """Pools of held threads below a pool, the highest first."""
        below = [n for n in held & self._narrow.keys() if self._rank[n] > self._rank[pool]]
        return sorted(below, key=lambda name: (self._rank[name], name))

    def of(self, now: State) -> "Freed":
        """How fast the threads of pools are freed."""
        works, rows = self.works, (int(self.tallest.sum()), now.cycles.shape[1])
        asked = now.cycles * works.often
        pools = len(self.names), rows[1]
        found = Freed(np.ones(rows), *np.zeros((4, *pools)))
        if not self.names:
            return found
        first, whole = asked * now.first, asked * (now.first + now.second)
        found.rate[:], found.inside[:], found.held[:] = self.asked.of(
            np.array([asked, first + asked * now.waits, whole])
        )
        busy, slices = asked * works.busy, asked * works.slices
        wait = np.where(works.shared, busy * (now.delays - 1), slices * now.delays)
        held = np.maximum(found.held, NEVER)
        mine = np.where(self.is_task, self.own.of(first), self.own.of(busy))

        def there(sums: Sums, thread: FloatArray, share: FloatArray) -> FloatArray:
            """Mean jobs at stations that hold a thread for so long, and a share of them."""
            at_pools = (thread + asked * now.waits) * share
            return np.where(self.is_task, sums.of(at_pools), sums.of((busy + wait) * share))

        from_outside, of_clients = shares = self.endless, 1 - self.endless
        own = [there(self.own, first, share) for share in shares]
        spent = own[0] + own[1]
        streams = np.maximum(there(self.all, whole, from_outside) - own[0], 0.0)
        others = np.maximum(there(self.all, whole, of_clients) - own[1], 0.0)
        loads = mine * (1 + streams / (self.servers + spent)) / held[self.pool]
        elsewhere = 1 - np.add.reduceat(spent, self.begins[:-1], axis=0) / held
        outside = np.maximum(self.callers - found.inside, _SLOWEST)
        numbers = self.threads, self.begins, self.servers, self.lower, self.callers
        given = loads, others, np.maximum(elsewhere, _LEAST), held / outside
        pool_capacities(*numbers, *given, found.rates, found.most, self._work)
        found.most[:] *= found.rate / held
        return found


@dataclass(frozen=True, eq=False)
class Freed:
    """How fast the threads of pools are freed, and who is there.

    Parameters
    ----------
    rates
        c(1) to c(T) of each pool, relative to one thread at its mean holding time.
    most
        Requests answered while all threads are busy [1/s].
    rate, inside, held
        Requests [1/s], mean callers who wait or hold a thread, and mean busy threads, of each pool.
    """

    rates: FloatArray
    most: FloatArray
    rate: FloatArray
    inside: FloatArray
    held: FloatArray

    def at(self, rows: IntArray) -> FloatArray:
        """Rates in some rows, which may be others at each point, shape (rows, points)."""
        return np.asarray(self.rates[rows, np.arange(self.rates.shape[1])])


def _ranks(sources: Sources) -> Mapping[str, int]:
    """How many tasks lead to each task by calls: fewer for those above."""
    system = sources.system
    below: dict[str, set[str]] = {name: set() for name in system.tasks}
    for name in system.callers_first[::-1]:
        entry = system.entries[name]
        calls = sources.calls(name), sources.calls(name, second=True), entry.forwards
        for called in chain.from_iterable(calls):
            other = system.entries[called].task
            below[entry.task] |= {other} | below[other]
    return {name: sum(name in each for each in below.values()) for name in below}
