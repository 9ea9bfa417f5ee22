"""Room for the jobs of open classes at a station solved state by state.

An open class has no largest number of jobs. The chain has room for n of them; a share B of its
arrivals finds no room and is lost, as the solved chain shows. This changes the throughput of the
class by B, and its mean number by about B (n + d) d, d = 1 / (1 - r), with r the ratio of the
probabilities of successive numbers. In a product form B = 1e-14 for a room of

    n = N + log 1e-14 / log r,   r = rho_c / (1 - sum of the rho of other open classes),

with N the number of all closed jobs. The chain begins with this room, which is doubled until B of
the solved chain is as small. So light loads need few states.

Source: Bolch, Greiner, de Meer and Trivedi, *Queueing Networks and Markov Chains*, 2nd ed., 2006,
section 7.3 (open classes of a product form).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log

from headway.kinds import FloatArray
from headway.queueing.orders.chain import MOST, Local

LOST = 1e-14
"""Largest share of arrivals that may find no room before it is enlarged."""

_SMALLEST, _LARGEST = 8, 1 << 20  # first and largest room for open jobs: for speed


def with_room(local: Local, loads: Sequence[float]) -> Local:
    """Give open classes the room that their loads need, as far as `MOST` states allow.

    Parameters
    ----------
    local
        The station, with 0 jobs of each open class.
    loads
        Share of the servers that each open class keeps busy; 0 for closed classes.

    Examples
    --------
    >>> with_room(Local((3, 0), (1, 1), 1, False), [0.0, 0.1]).jobs
    (3, 24)
    >>> with_room(Local((3, 0), (1, 1), 1, False), [0.0, 0.9]).jobs
    (3, 384)
    >>> with_room(Local((), (), 1, False), []).jobs
    ()
    """
    if not local.jobs:
        return local  # a station without arrivals
    closed, whole = sum(local.jobs), sum(loads)
    wanted = []
    for jobs, load in zip(local.jobs, loads, strict=True):
        free = 1 - whole + load
        ratio = load / free if free > 0 else 1.0
        needed = log(LOST) / log(ratio) if 0 < ratio < 1 else _LARGEST
        wanted.append(jobs or closed + min(needed, _LARGEST))
    return _fitting(local, wanted, [not jobs for jobs in local.jobs])


def with_more_room(local: Local, lost: FloatArray) -> Local | None:
    """Double the room of classes that are lost too often; None if there is no more room.

    Parameters
    ----------
    local
        The station.
    lost
        Share of the arrivals of each class that finds no room.

    Examples
    --------
    >>> import numpy as np
    >>> with_more_room(Local((3, 24), (1, 1), 1, False), np.array([0.0, 1e-9])).jobs
    (3, 48)
    >>> with_more_room(Local((3, 24), (1, 1), 1, False), np.array([0.0, 1e-15])) is None
    True
    """
    short = (lost > LOST).tolist()
    if not any(short):
        return None
    wanted = [n * (2 if few else 1) for n, few in zip(local.jobs, short, strict=True)]
    larger = _fitting(local, wanted, short)
    return larger if larger.states > local.states else None


def _fitting(local: Local, wanted: Sequence[float], free: Sequence[bool]) -> Local:
    """Round room up, so that points share chains; if states are short, cut the largest wishes."""
    jobs = [0 if room else int(n) for n, room in zip(wanted, free, strict=True)]
    left = MOST / replace(local, jobs=tuple(jobs)).states
    growing = sorted((c for c, room in enumerate(free) if room), key=lambda c: wanted[c])
    for behind, c in zip(range(len(growing), 0, -1), growing, strict=True):
        equal = int(left ** (1 / behind) + 1e-9) - 1
        jobs[c] = max(min(_round(wanted[c]), equal), 1)
        left /= jobs[c] + 1
    return replace(local, jobs=tuple(jobs))


def _round(room: float) -> int:
    """The next of 8, 12, 16, 24, 32, 48..."""
    size = _SMALLEST
    while size < room:
        size = size * 3 // 2 if size & (size - 1) == 0 else size * 4 // 3
    return size
