"""Branches of one request that meet each other where they come to the same server.

A branch b of n takes R_b by itself. It needs D_b of a station of m servers, and is there for the
share w_b of its time. With another branch j going on, D_b takes w_j / m as much longer where there
are more branches than servers. Over all pairs of branches, let

    e = sum_{b != j} D_b / R_b w_j / (n (n - 1)).                                               (1)

While g branches go on, they take s_g = 1 + sum over stations of e max(g - m, 0) / m times as long.
With X_i the i-th of the independent times, k of n branches have ended after

    E T = sum_{i <= k} s_{n - i + 1} (E X_i - E X_{i - 1}).                                     (2)

If all branches do exponential work at one shared processor, and nothing else, e is 1, and the last
ends when all work is done, which is exact. docs/explanation/branches-in-layers.md derives it.

A pool of one thread is such a station, with the time for which the thread is held. What is done
with the thread meets no other branch.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.decomposed.works import Works
from headway.queueing.layers.flow import Flow, Together, steps_of
from headway.queueing.layers.numerics.moments import Moments
from headway.queueing.layers.numerics.stations import NEVER, Column, Sums
from headway.queueing.layers.parts import is_unlimited
from headway.records import dataclass


@dataclass(frozen=True)
class _Need:
    """What a branch needs of a station: slices and their time at a processor, or holds of a thread.

    Parameters
    ----------
    station
        Its name, and whether it is a pool of one thread.
    row
        Of the work that is done there.
    slices, busy
        Mean number of slices and their time [s]; for a pool how often its thread is held, and 0.
    """

    station: tuple[str, bool]
    row: int
    slices: Amount
    busy: Amount


class Siblings:
    """The branches of a fork, for each source that comes to it.

    Parameters
    ----------
    sources, works, column
        Of a system, and how a number becomes a row.
    fork
        The branches.
    own
        The work in which they are, by source.
    """

    def __init__(
        self, sources: Sources, works: Works, column: Column, fork: Together, own: list[Work]
    ) -> None:
        self.count, self.needed, self.shared = len(fork.branches), fork.needed, works.shared
        needs = [
            [list(_needs(sources, works, branch, work)) for branch in fork.branches] for work in own
        ]
        servers = self._met(sources, needs[0])
        self.stations, self.servers = list(servers), np.array(list(servers.values()))
        self.shape = len(own), self.count, len(servers)
        if not servers:
            return
        parts = [
            [need for need in branch if need.station == station]
            for of in needs
            for branch in of
            for station in servers
        ]
        at_processors = [[need for need in part if not need.station[1]] for part in parts]
        at_pools = [[need for need in part if need.station[1]] for part in parts]
        zero = column(0.0)
        self.busy = np.stack([sum((column(n.busy) for n in part), zero) for part in parts])
        self.delayed = Sums(
            [
                _weights((n.row, n.busy if self.shared[n.row, 0] else n.slices) for n in part)
                for part in at_processors
            ],
            column,
        )
        self.held = Sums([_weights((n.row, n.slices) for n in part) for part in at_pools], column)

    def _met(self, sources: Sources, branches: list[list[_Need]]) -> dict[tuple[str, bool], float]:
        """Servers m of the stations where branches wait for each other."""
        visitors = Counter(
            chain.from_iterable(dict.fromkeys(n.station for n in each) for each in branches)
        )
        processors = sources.system.processors
        servers = {
            (name, is_pool): 1.0 if is_pool else float(processors[name].servers)
            for (name, is_pool), many in visitors.items()
            if many > 1
        }
        return {station: m for station, m in servers.items() if m < self.count}

    def slower(
        self, branches: list[Moments], delays: FloatArray, waits: FloatArray, mean: FloatArray
    ) -> FloatArray:
        """How much longer branches take by each other, until the first, the second, ... has ended.

        Parameters
        ----------
        branches
            Their times by themselves, each of shape (sources, points).
        delays, waits, mean
            Delays at processors, waits for threads and mean times of all work, as in `State`.
        """
        times = np.maximum(np.stack([one.mean for one in branches], axis=1), NEVER)
        found = np.ones((self.needed, times.shape[0], times.shape[2]))
        if not self.stations:
            return found
        each = self.held.of(np.array([mean, mean + waits]))
        need = (self.busy + each[0]).reshape(*self.shape, -1) / times[:, :, np.newaxis]
        # a share of a server takes that many times as long, a slice waits before it is served
        there = self.busy + self.delayed.of(delays - self.shared) + each[1]
        share = np.minimum(there.reshape(*self.shape, -1) / times[:, :, np.newaxis], 1.0)
        pairs = need.sum(axis=1) * share.sum(axis=1) - (need * share).sum(axis=1)  # (1)
        met = pairs / (self.count * (self.count - 1))
        for k in range(self.needed):
            more = np.maximum(self.count - k - self.servers, 0) / self.servers
            found[k] += np.einsum("asp,s->ap", met, more)
        return found


def _weights(rows: Iterator[tuple[int, Amount]]) -> dict[int, Amount]:
    found: dict[int, Amount] = {}
    for row, weight in rows:
        found[row] = found.get(row, 0.0) + weight
    return found


def _needs(sources: Sources, works: Works, branch: Flow, own: Work) -> Iterator[_Need]:
    """What a branch needs of processors and pools of one thread, by itself and by its calls."""
    processors, place = sources.system.processors, sources.processor(own.entry)
    asked: dict[str, Amount] = {}
    for step, times in steps_of(branch):
        if not is_unlimited(processors[place].servers):
            slices = times * step.slices * np.not_equal(step.demand, 0)
            busy = times * step.demand / processors[place].speed
            yield _Need((place, False), works.index[own], slices, busy)
        for called, number in step.calls.items():
            asked[called] = asked.get(called, 0.0) + times * number
    yield from _of_calls(sources, works, own.source, asked)


def _of_calls(
    sources: Sources, works: Works, source: int, asked: dict[str, Amount]
) -> Iterator[_Need]:
    """What calls need, and those that they make in turn, but for those behind a single thread."""
    system = sources.system
    for entry in system.callers_first:
        if entry not in asked:
            continue
        often, task, place = asked[entry], system.entries[entry].task, sources.processor(entry)
        work, onward = Work(source, entry), [system.entries[entry].forwards]
        if np.all(system.tasks[task].threads == 1):
            yield _Need((task, True), works.index[work], often, 0.0)
        else:
            onward.append(sources.calls(entry))
            if not is_unlimited(system.processors[place].servers):
                slices, busy = sources.use(work)
                yield _Need((place, False), works.index[work], often * slices, often * busy)
        for called, number in chain.from_iterable(each.items() for each in onward):
            asked[called] = asked.get(called, 0.0) + often * number
