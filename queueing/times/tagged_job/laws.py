"""Sojourn time of a tagged job in a loop of stations to which jobs return.

Successive visits of a job are dependent: a job that finds a long queue is likely to find one again.
The time T is that to absorption of a chain (`headway.queueing.times.tagged_job.chain`) of the place
of the tagged job and the number of other jobs in the loop; the positions of uncounted jobs are
averaged in equilibrium, given their number. That is exact for one queue and, by Little's law, for
E[T]. By uniformisation, E[exp(-s T)] = sum over n of a_n (nu / (nu + s))**n, with a_n geometric
beyond the last step.

Source: Gordon and Newell, Operations Research 15(2), 1967, and Jackson, Management Science 10(1),
1963 (the equilibrium). The conditional equilibrium is headway's own approximation:
docs/explanation/tagged-job.md derives it, and docs/accuracy/percentiles.md has its errors.
"""

from functools import lru_cache

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw
from headway.queueing.times.tagged_job.chain import LoopChain, room_for
from headway.queueing.times.tagged_job.station import StationLoop
from headway.queueing.times.uniformisation import law_of_steps

BUSIEST = 0.85
"""Utilisation up to which the chain is built; beyond it laws are extrapolated. A choice, for speed;
errors of both are in docs/accuracy/percentiles.md."""

_LEVELS = (BUSIEST, 0.75, 0.65)  # U_1 from which the law is extrapolated, the first possible one
_CALMER = 0.1  # U_1 - U_0: a choice

Laws = list[list[TimeLaw]]


@lru_cache(maxsize=32)  # percentiles of several classes are asked for
def loop_laws(loop: StationLoop, *, together: bool = False) -> Laws | None:
    """Laws of the time in a loop, by the stations at which a job enters and leaves it.

    Parameters
    ----------
    loop
        A loop without a saturated station.
    together
        Whether to join the laws of all exits.

    Returns
    -------
    A law for each station of entry and each of exit, or for all exits together. None if the chain
    is too large, or if a long delay makes visits nearly independent.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> from headway.queueing.times.tagged_job.kinds import FcfsQueue
    >>> one, service = np.ones(1), in_phases(1.0, 1.0)
    >>> loop = StationLoop((FcfsQueue(0.5, service, service, 2.0),), one, np.array([[0.9]]))
    >>> round(loop_laws(loop)[0][0].mean, 3)
    20.0
    """
    most = loop.busy
    if loop.has_long_delay:
        return None
    ends = np.ones((len(loop.stops), 1)) if together else np.eye(len(loop.stops))
    laws = _laws(loop, loop, ends) if most <= BUSIEST else None
    lower = (level for level in _LEVELS if level < most)
    while laws is None and (level := next(lower, None)):
        laws = _extrapolated_laws(loop, level, ends)
    return laws


def is_exact(loop: StationLoop) -> bool:
    """Whether `loop_laws` is exact: one queue that counts all others, not extrapolated.

    Examples
    --------
    >>> from headway.queueing.times.tagged_job.kinds import MultiServerQueue
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one, service = np.ones(1), in_phases(1.0, 1.0)
    >>> pool = MultiServerQueue(1.0, service, service, 4 / 3, servers=2)
    >>> is_exact(StationLoop((pool,), one, np.array([[0.5]])))
    True
    """
    return loop.is_one_queue and loop.busy <= BUSIEST and not loop.has_unlike_services


def _extrapolated_laws(loop: StationLoop, level: float, ends: FloatArray) -> Laws | None:
    """Extrapolate from the laws at U_1 = `level` and U_0 = U_1 - 0.1 to the loop's U."""
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
    """Return F_1(s) + (U - U_1) / (U_1 - U_0) (F_1(s) - F_0(s)), with F = E[exp(-s T)]."""

    def law(s: ComplexArray) -> ComplexArray:
        return near.transform(s) + further * (near.transform(s) - far.transform(s))

    return TimeLaw((Piece(0.0, law),), near.mean)


def _laws(loop: StationLoop, solved: StationLoop, ends: FloatArray) -> Laws | None:
    """Return laws of the chain at the rates of `solved`, scaled to E[T] at the rates of `loop`.

    If classes of different services wait in order, the mean of the chain is more accurate than that
    of M/G/1, and is kept if `solved` is the loop itself.
    """
    keeps_mean = loop.has_unlike_services and solved is loop
    room = room_for(solved)
    chain = None if room is None else LoopChain(solved, room)
    if chain is None or not chain.is_small_enough:
        return None
    nowhere = TimeLaw((Piece(0.0, np.ones_like),), 0.0)
    laws = [[nowhere] * ends.shape[1] for _ in loop.stops]
    for entry in np.flatnonzero(loop.entries).tolist():
        steps = chain.exits_by_step(entry, ends)
        mean = law_of_steps(chain.step_rate, steps.sum(axis=1)).mean
        scale = 1.0 if keeps_mean else mean / float(loop.means[entry])
        for last in np.flatnonzero(steps.any(axis=0)).tolist():
            laws[entry][last] = law_of_steps(chain.step_rate * scale, steps[:, last])
    return laws
