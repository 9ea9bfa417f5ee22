"""Jobs that come back: how long until they are through a loop of stations.

Visits of a job are not independent where it comes back: who finds long queues finds them again.
A job is followed with what it knows of its queue (`headway.queueing.times.tagged_job.station`) and
the number of others in the loop, which come and go; where the rest of these are is taken as in
equilibrium, given their number. That is exact for one queue and, by Little's law, for the mean. The
chain is followed step by step (uniformisation) until few are left, and geometrically from there on.

Source: Gordon and Newell, Operations Research 15(2), 1967, and Jackson, Management Science 10(1),
1963 (the equilibrium). The conditional equilibrium is headway's own approximation:
docs/explanation/tagged-job.md derives it, and docs/accuracy/percentiles.md has what it costs.
"""

from functools import lru_cache

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw
from headway.queueing.times.tagged_job.chain import LoopChain, room_for
from headway.queueing.times.tagged_job.station import Loop
from headway.queueing.times.uniformisation import law_of_steps

BUSIEST = 0.85
"""Utilisation up to which the chain itself is followed."""

_LEVELS = (BUSIEST, 0.75, 0.65)  # from where busier ones are told, or those that take too long
_CALMER = 0.1  # below these, where shapes are known beside

Laws = list[list[TimeLaw]]


@lru_cache(maxsize=32)  # as several percentiles are asked for, of several classes
def loop_laws(loop: Loop, *, together: bool = False) -> Laws | None:
    """Time in a loop, by the station where jobs enter and leave it.

    Parameters
    ----------
    loop
        With no station saturated.
    together
        Whether it does not matter where they leave it.

    Returns
    -------
    A law for each station of entry and each of exit, of those who leave there, or of all together:
    None if the chain is too large to be followed, or visits lie too far apart to matter.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> from headway.queueing.times.tagged_job.kinds import FcfsQueue
    >>> one, service = np.ones(1), in_phases(1.0, 1.0)
    >>> loop = Loop((FcfsQueue(0.5, service, service, 2.0),), one, np.array([[0.9]]))
    >>> round(loop_laws(loop)[0][0].mean, 3)
    20.0
    """
    most = loop.busy
    if loop.is_slow:
        return None
    ends = np.ones((len(loop.stops), 1)) if together else np.eye(len(loop.stops))
    laws = _laws(loop, loop, ends) if most <= BUSIEST else None
    lower = (level for level in _LEVELS if level < most)
    while laws is None and (level := next(lower, None)):
        laws = _beyond(loop, level, ends)
    return laws


def is_exact(loop: Loop) -> bool:
    """Whether nothing is taken for granted: all others are at one queue, and not too many.

    Examples
    --------
    >>> from headway.queueing.times.tagged_job.kinds import MultiServerQueue
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one, service = np.ones(1), in_phases(1.0, 1.0)
    >>> pool = MultiServerQueue(1.0, service, service, 4 / 3, servers=2)
    >>> is_exact(Loop((pool,), one, np.array([[0.5]])))
    True
    """
    return loop.is_alone and loop.busy <= BUSIEST and not loop.is_mixed


def _beyond(loop: Loop, level: float, ends: FloatArray) -> Laws | None:
    """Laws from the shapes at a lower utilisation and at one below it."""
    most = loop.busy
    near = _laws(loop, loop.scaled(level / most), ends)
    far = None if near is None else _laws(loop, loop.scaled((level - _CALMER) / most), ends)
    if near is None or far is None:
        return None
    further = (most - level) / _CALMER
    return [
        [_extrapolated(one, other, further) for one, other in zip(*rows, strict=True)]
        for rows in zip(near, far, strict=True)
    ]


def _extrapolated(near: TimeLaw, far: TimeLaw, further: float) -> TimeLaw:
    """Go on in a straight line from one shape through another."""

    def law(s: ComplexArray) -> ComplexArray:
        return near.transform(s) + further * (near.transform(s) - far.transform(s))

    return TimeLaw((Piece(0.0, law),), near.mean)


def _laws(loop: Loop, followed: Loop, ends: FloatArray) -> Laws | None:
    """Laws from the chain at `followed`'s rates, stretched to the means at the loop's own.

    Where classes wait for each other in order, the chain knows the mean better than M/G/1 does; at
    other rates than the loop's own it does not know it.
    """
    knows_mean = loop.is_mixed and followed is loop
    room = room_for(followed)
    chain = None if room is None else LoopChain(followed, room)
    if chain is None or not chain.can_be_followed:
        return None
    nowhere = TimeLaw((Piece(0.0, np.ones_like),), 0.0)
    laws = [[nowhere] * ends.shape[1] for _ in loop.stops]
    for entry in np.flatnonzero(loop.entries).tolist():
        steps = chain.leaving(entry) @ ends
        mean = law_of_steps(chain.pace, steps.sum(axis=1)).mean
        pace = chain.pace if knows_mean else chain.pace * mean / float(loop.means[entry])
        for last in np.flatnonzero(steps.any(axis=0)).tolist():
            laws[entry][last] = law_of_steps(pace, steps[:, last])
    return laws
