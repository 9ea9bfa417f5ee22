"""One station and its classes state by state, with the rest of the network as time away.

A state says how many jobs of each class are present and, without interruption, how many of each are
in service; times at the station and away are exponential. So it is exact for jobs that only think
between visits; in a network it is Marie's method for a station. Jobs of one priority are taken in
random order, or share the servers if they can be interrupted: exact if their times are equal.

Source: Marie, "An approximate analytical method for general queueing networks", IEEE Trans.
Software Engineering 5(5), 1979.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import comb, prod
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.markov.space import StateSpace, explore, stationary
from headway.records import dataclass

MOST = 4000
"""Most states of a station that is solved state by state."""

_Counts = tuple[int, ...]
_State = tuple[_Counts, _Counts]
_Move = tuple[_State, int, float]


@dataclass(frozen=True)
class Local:
    """A station and its classes, without their times.

    Parameters
    ----------
    jobs
        Largest number of jobs of each class.
    priority
        Priority of each class, 1 before 2.
    servers
        m.
    interrupts
        Whether higher priorities interrupt lower ones.
    """

    jobs: _Counts
    priority: tuple[int, ...]
    servers: int
    interrupts: bool

    @property
    def states(self) -> int:
        """Upper bound on the number of states."""
        lattice = prod(n + 1 for n in self.jobs)
        served = 1 if self.interrupts else comb(self.servers + len(self.jobs) - 1, self.servers)
        return lattice * served


def solve_local(
    local: Local, times: Sequence[float], away: Sequence[float], rates: Sequence[float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Throughputs of the classes, mean numbers, and probabilities of finding no room.

    Parameters
    ----------
    local
        The station.
    times, away
        Mean service time of each class, and time between two visits, above 0 [s].
    rates
        Arrival rate of each open class, for whose jobs there is limited room [1/s]; otherwise 0.

    Examples
    --------
    >>> two = Local((1, 1), (1, 2), 1, True)
    >>> rate, number, _ = solve_local(two, [1.0, 1.0], [1.0, 1.0], [0.0, 0.0])
    >>> rate.round(3).tolist(), number.round(3).tolist()
    ([0.5, 0.3], [0.5, 0.7])
    """
    space, present = _space(local)
    opened = np.array(rates)
    back = np.where(opened > 0, opened, 1 / np.array(away))
    paces = np.stack([back, 1 / np.array(times)], axis=1).ravel()
    room = np.where(opened[space.rate // 2] > 0, np.minimum(space.times, 1.0), space.times)
    times_of = np.where(space.rate % 2 == 0, room, space.times)
    chances = stationary(replace(space, times=times_of), paces)
    ends = space.rate % 2 == 1
    flow = (chances[space.source] * space.times * paces[space.rate])[ends]
    through = np.bincount(space.rate[ends] // 2, flow, len(local.jobs))
    full = (present == np.array(local.jobs)) & (opened > 0)
    return (
        np.asarray(through, np.float64),
        chances @ present,
        np.asarray(chances @ full, np.float64),
    )


@lru_cache(maxsize=8)
def _space(local: Local) -> tuple[StateSpace, FloatArray]:
    """States and moves, with rate 2 c for arrivals of class c, 2 c + 1 for departures; counts."""
    nobody = (0,) * len(local.jobs)
    space = explore((nobody, nobody), partial(_moves, local), local.states)
    assert space is not None  # noqa: S101 - the limit is an upper bound on the states
    states: Any = space.states
    return space, np.array([there for there, _ in states], np.float64)


def _moves(local: Local, state: _State) -> Iterator[_Move]:
    there, _ = state
    for c, most in enumerate(local.jobs):
        if there[c] < most:
            yield _arrived(local, state, c), 2 * c, float(most - there[c])
    yield from _ends(local, state)


def _ends(local: Local, state: _State) -> Iterator[_Move]:
    there, served = state
    for c, share in enumerate(_shares(local, there) if local.interrupts else ()):
        if share:
            yield (_plus(there, c, -1), served), 2 * c + 1, share
    for c, busy in enumerate(served):
        if busy:
            left, rest = _plus(there, c, -1), _plus(served, c, -1)
            for following, chance in _next(local, left, rest):
                yield (left, following), 2 * c + 1, busy * chance


def _arrived(local: Local, state: _State, c: int) -> _State:
    there, served = _plus(state[0], c, 1), state[1]
    idle = not local.interrupts and sum(served) < local.servers
    return there, _plus(served, c, 1) if idle else served


def _plus(counts: _Counts, c: int, by: int) -> _Counts:
    return (*counts[:c], counts[c] + by, *counts[c + 1 :])


def _shares(local: Local, there: _Counts) -> list[float]:
    """Servers held by classes that interrupt each other; those of one priority share them."""
    left, shares = float(local.servers), [0.0] * len(there)
    for rank in sorted(set(local.priority)):
        here = [c for c, own in enumerate(local.priority) if own == rank]
        present = sum(there[c] for c in here)
        if present:
            got = min(left, present)
            for c in here:
                shares[c] = got * there[c] / present
            left -= got
    return shares


def _next(local: Local, there: _Counts, served: _Counts) -> list[tuple[_Counts, float]]:
    """Which waiting job is served next: one of the first priority, at random."""
    waits = [n - b for n, b in zip(there, served, strict=True)]
    if not any(waits):
        return [(served, 1.0)]
    first = min(rank for rank, n in zip(local.priority, waits, strict=True) if n)
    here = [c for c, rank in enumerate(local.priority) if rank == first and waits[c]]
    among = sum(waits[c] for c in here)
    return [(_plus(served, c, 1), waits[c] / among) for c in here]
