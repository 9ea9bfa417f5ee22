"""Laws of response times of a visit, as Laplace transforms.

A law is a sum of pieces, each a transform that is smooth beyond the constant time by which it is
shifted: only then can it be inverted to many digits if constants make its distribution jump.

Source: Kleinrock, *Queueing Systems* I, 1975, sections 3.2, 3.5, 3.6 and 5.7.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from math import comb, floor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

ComplexArray: TypeAlias = NDArray[np.complex128]
Transform: TypeAlias = Callable[[ComplexArray], ComplexArray]
Within: TypeAlias = Callable[[Any], tuple[Any, Any]]

GAMMA = "M/G/1 service is assumed gamma-distributed"
MOST_PIECES = 64
"""Most pieces of a law; the lightest of more are joined into one."""

_STEP = 1e-3  # of the inverse mean: rounding errs by 1e-10, terms in w**6 by 1e-12
_SEEN, _LONGEST = 1e-8, 10.0
"""Least (sigma w)**2 of which rounding by 1e-12 leaves four digits, and the longest step tried,
over the inverse mean.
"""
_MULTIPLIED = 4  # powers whose pieces are multiplied out: of higher ones, no kink is visible
_SHARP = 0.9  # utilisation above which the second kink of a constant service is too weak to matter


@dataclass(frozen=True)
class Piece:
    """A part of a law: a transform, shifted by a constant time [s].

    If its distribution is known without the transform, `within` gives P(T - shift <= t) and the
    density at t: of one time, or of one at each point of a law of several points.
    """

    shift: float
    transform: Transform
    within: Within | None = None

    def scaled(self, share: float) -> "Piece":
        """The piece with its probability multiplied by ``share``."""
        within, transform = self.within, self.transform

        def part(time: float) -> tuple[float, float]:
            chance, density = within(time) if within else (0.0, 0.0)
            return share * chance, share * density

        return Piece(self.shift, lambda s: share * transform(s), part if within else None)

    def stretched(self, ratio: float) -> "Piece":
        """The piece with the time beyond the shift multiplied by ``ratio``."""
        within, transform = self.within, self.transform

        def part(time: float) -> tuple[float, float]:
            chance, density = within(time / ratio) if within else (0.0, 0.0)
            return chance, density / ratio

        return Piece(self.shift, lambda s: transform(s * ratio), part if within else None)


@dataclass(frozen=True)
class TimeLaw:
    """The distribution of a time: E[exp(-s T)] is the sum of exp(-s shift) transform(s).

    Parameters
    ----------
    pieces
        Its pieces; usually a single one.
    mean
        E[T] [s].
    notes
        Assumptions behind it, in words.
    rough
        Error of its probabilities that does not matter beside the notes.

    Examples
    --------
    >>> law = in_series(constant(2.0), exponential(0.5))
    >>> law.mean, law.pieces[0].shift
    (2.5, 2.0)
    """

    pieces: tuple[Piece, ...]
    mean: float
    notes: tuple[str, ...] = ()
    rough: float = 0.0

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)]."""
        return np.asarray(sum(np.exp(-s * p.shift) * p.transform(s) for p in self.pieces))

    @cached_property
    def variance(self) -> float:
        """Variance of T [s^2], to some 1e-8 of the second moment.

        Along the imaginary axis log |E[exp(-i w T)]| is -Var w**2 / 2 + c w**4 - ...; two small
        steps w and 2 w remove the term in w**4. If T varies little the steps are enlarged, so that
        rounding does not hide it.

        Examples
        --------
        >>> round(exponential(3.0).variance, 6), round(constant(3.0).variance, 6)
        (9.0, 0.0)
        """
        if self.mean == 0:
            return 0.0
        step, found = _STEP / self.mean, 0.0
        while step * self.mean <= _LONGEST:
            steps = step * np.array([1.0, 2.0])
            near = -2 * np.log(np.abs(self.transform(np.array(1j * steps, complex)))) / steps**2
            found = float(max((4 * near[0] - near[1]) / 3, 0.0))
            if found * step**2 >= _SEEN:
                break
            step *= 10
        return found


def constant(time: float) -> TimeLaw:
    """A constant time [s].

    Examples
    --------
    >>> constant(3.0).pieces[0].shift
    3.0
    """
    return TimeLaw((Piece(time, np.ones_like),), time)


def exponential(mean: float) -> TimeLaw:
    """An exponential time with this mean [s].

    Examples
    --------
    >>> exponential(0.5).transform(np.array([2.0 + 0j])).real.tolist()
    [0.5]
    """

    def within(time: Any) -> tuple[Any, Any]:
        return -np.expm1(-time / mean), np.exp(-time / mean) / mean

    law = Piece(0.0, lambda s: 1 / (1 + s * mean), within if np.all(mean > 0) else None)
    return TimeLaw((law,), mean)


def gamma(mean: float, scv: float) -> Transform:
    """Transform of a gamma-distributed time; a constant for scv = 0."""
    if np.all(scv == 0):
        return lambda s: np.exp(-s * mean)
    return lambda s: np.exp(-np.log1p(s * mean * scv) / scv)


def pooled(service_time: float, waits: float, wait: float) -> TimeLaw:
    """Exponential service, with probability `waits` after an exponential wait of mean `wait`.

    With S the service time, W the wait and L the longer of both, a sum of both times is more than t
    with

        P(T > t) = exp(-t / L) (1 + t / L expm1(x) / x),    x = -t abs(S - W) / (S W),

    which holds for S = W as well, where the last factor is 1.

    Examples
    --------
    >>> law = pooled(1.0, waits=0.25, wait=2.0)
    >>> law.mean, round(float(1 - law.pieces[0].within(3.0)[0]), 6)
    (1.5, 0.136459)
    """

    def law(s: ComplexArray) -> ComplexArray:
        return (1 - waits + waits / (1 + s * wait)) / (1 + s * service_time)

    def within(time: Any) -> tuple[Any, Any]:
        longer = np.maximum(service_time, wait)
        apart = -time * np.abs(service_time - wait) / (service_time * wait)
        factor = np.where(apart < 0, np.expm1(apart) / np.where(apart < 0, apart, 1.0), 1.0)
        alone, slow = np.exp(-time / service_time), np.exp(-time / longer)
        both = slow * (1 + time / longer * factor)
        density = slow * time / (service_time * wait) * factor
        late = (1 - waits) * alone + waits * both
        return 1 - late, (1 - waits) * alone / service_time + waits * density

    known = within if np.all(service_time > 0) and np.all(wait > 0) else None
    return TimeLaw((Piece(0.0, law, known),), service_time + waits * wait)


def limited(service_time: float, servers: float, queue: int, ratio: float, wait: float) -> TimeLaw:
    """Exponential service of admitted jobs, behind a geometric number of them in a finite queue.

    Parameters
    ----------
    service_time, servers
        S [s] and m.
    queue
        Places K - m for waiting jobs, at least 1.
    ratio
        Offered load of each server a/m, above 0.
    wait
        Mean wait of admitted jobs, in service times.

    Examples
    --------
    >>> round(limited(1.0, 1, 1, ratio=1.0, wait=0.5).mean, 12)
    1.5
    """
    steps = np.arange(queue)
    logs = steps * np.log(ratio)
    weights = np.exp(logs - logs.max())
    total = float((weights * (steps + 1)).sum())
    return behind_others(service_time, servers, weights * (wait * servers / total))


def behind_others(service_time: float, servers: float, waiting: FloatArray) -> TimeLaw:
    """Exponential service after those waiting on arrival, first come, first served.

    Parameters
    ----------
    service_time, servers
        S [s] and m.
    waiting
        Probabilities of finding m, m + 1, ... others, and so of waiting for 1, 2, ... departures.

    Examples
    --------
    >>> behind_others(1.0, 2, np.array([0.5, 0.25])).mean
    1.5
    """
    never = 1 - float(waiting.sum())
    wait = float(waiting @ np.arange(1, len(waiting) + 1)) / servers

    def law(s: ComplexArray) -> ComplexArray:
        turn = 1 / (1 + s * service_time / servers)
        behind = np.polyval(np.append(waiting[::-1], 0.0), turn)
        return (never + behind) / (1 + s * service_time)

    return TimeLaw((Piece(0.0, law),), service_time * (1 + wait))


def after_waiting(wait: TimeLaw, service: Transform, mean: float) -> TimeLaw:
    """The time of a wait and of the job's own service after it.

    Parameters
    ----------
    wait
        As from `poisson_wait`.
    service, mean
        Transform and mean of the service time.
    """
    pieces = tuple(Piece(one.shift, _times(one, Piece(0.0, service))) for one in wait.pieces)
    return replace(wait, pieces=pieces, mean=wait.mean + mean)


def poisson_wait(rate: float, service: Transform, mean: float, scv: float) -> TimeLaw:
    """Wait in M/G/1, first come, first served: the Pollaczek-Khinchine transform.

    Parameters
    ----------
    rate
        Arrivals [1/s].
    service, mean, scv
        Smooth transform, mean [s] and squared coefficient of variation of all service times.

    Examples
    --------
    >>> poisson_wait(0.5, gamma(1.0, 1.0), 1.0, 1.0).mean
    1.0
    """
    busy = rate * mean

    def law(s: ComplexArray) -> ComplexArray:
        return (1 - busy) / (1 - busy * (1 - service(s)) / (s * mean))

    return TimeLaw((Piece(0.0, law),), busy * mean * (1 + scv) / (2 * (1 - busy)))


def mixture(laws: Sequence[TimeLaw], weights: Sequence[float]) -> TimeLaw:
    """One of several times, at random.

    Parameters
    ----------
    laws, weights
        As many weights as laws, 0 or more, not all 0.

    Examples
    --------
    >>> mixture([constant(1.0), constant(2.0)], [3.0, 1.0]).mean
    1.25
    """
    total = sum(weights)
    shares = [weight / total for weight in weights]
    mean = sum(share * law.mean for share, law in zip(shares, laws, strict=True))
    pieces = [
        piece.scaled(share) for share, law in zip(shares, laws, strict=True) for piece in law.pieces
    ]
    notes = merged(*(law.notes for law in laws))
    return TimeLaw(_condensed(pieces, mean), mean, notes, max(law.rough for law in laws))


def after_constants(rate: float, time: float) -> TimeLaw:
    """M/D/1, first come first served.

    The waiting time is a geometric sum of uniform times, whose density jumps for a single one and
    has a kink for two; these terms are split off, so that the rest is smooth.

    Examples
    --------
    >>> [piece.shift for piece in after_constants(0.5, 1.0).pieces]
    [1.0, 1.0, 2.0, 3.0]
    """
    busy = rate * time
    order = 2 if busy < _SHARP else 1

    def rest(s: ComplexArray) -> ComplexArray:
        left = busy * -_expm1(-s * time) / (s * time)
        return (1 - busy) * left ** (order + 1) / (1 - left)

    kinks = [Piece((1 + j) * time, _kink(busy, time, order, j)) for j in range(order + 1)]
    mean = time + busy * time / (2 * (1 - busy))
    return TimeLaw((Piece(time, rest), *kinks), mean)


def _kink(busy: float, time: float, order: int, position: int) -> Transform:
    """The part of sums of up to `order` uniform times that is shifted by `position` of them."""
    sign = (1 - busy) * (-1) ** position

    def law(s: ComplexArray) -> ComplexArray:
        terms = range(position, order + 1)
        each = (comb(k, position) * (busy / (s * time)) ** k for k in terms)
        return np.asarray(sign * sum(each, np.zeros_like(s)))

    return law


def _expm1(x: ComplexArray) -> ComplexArray:
    """exp(x) - 1 of complex numbers, accurate near 0."""
    half = np.sin(x.imag / 2)
    real = np.expm1(x.real) * np.cos(x.imag) - 2 * half * half
    return np.asarray(real + 1j * np.exp(x.real) * np.sin(x.imag))


def in_series(*laws: TimeLaw) -> TimeLaw:
    """The sum of independent times.

    Examples
    --------
    >>> in_series(exponential(1.0), exponential(2.0)).mean
    3.0
    """
    return reduce(_sum_of_two, laws, TimeLaw((Piece(0.0, np.ones_like),), 0.0))


def _sum_of_two(first: TimeLaw, second: TimeLaw) -> TimeLaw:
    mean = first.mean + second.mean
    pieces = [_in_turn(p, q) for p in first.pieces for q in second.pieces]
    notes, rough = merged(first.notes, second.notes), max(first.rough, second.rough)
    return TimeLaw(_condensed(pieces, mean), mean, notes, rough)


def _in_turn(p: Piece, q: Piece) -> Piece:
    for one, other in ((p, q), (q, p)):
        if one.transform is np.ones_like:
            return replace(other, shift=p.shift + q.shift)
    return Piece(p.shift + q.shift, _times(p, q))


def _times(p: Piece, q: Piece) -> Transform:
    return lambda s: p.transform(s) * q.transform(s)


def repeated(law: TimeLaw, count: int) -> TimeLaw:
    """The sum of `count` independent times of one law.

    Examples
    --------
    >>> repeated(constant(2.0), 3).pieces[0].shift
    6.0
    """
    if len(law.pieces) > 1 and count <= _MULTIPLIED:
        return in_series(*[law] * count)
    start = min(piece.shift for piece in law.pieces)

    def power(s: ComplexArray) -> ComplexArray:
        each = sum(np.exp(-s * (p.shift - start)) * p.transform(s) for p in law.pieces)
        return np.asarray(np.asarray(each) ** count)

    return TimeLaw((Piece(count * start, power),), count * law.mean, law.notes)


def independent_visits(law: TimeLaw, visits: float) -> TimeLaw:
    """The sum of independent visits: for 2.4, two, and a third with probability 0.4.

    Examples
    --------
    >>> independent_visits(constant(1.0), 2.4).mean
    2.4
    """
    whole = floor(visits)
    perhaps = [by_chance(law, visits - whole)] if visits > whole else []
    return in_series(*([repeated(law, whole)] if whole else []), *perhaps)


def by_points(laws: Sequence[TimeLaw], parts: Sequence[NDArray[np.intp]]) -> TimeLaw:
    """The law over points, from laws over some of them.

    Parameters
    ----------
    laws
        Laws of one piece each.
    parts
        Indices of the points of each law; together they are all points.

    Examples
    --------
    >>> laws = exponential(np.array([0.5])), exponential(np.array([1.0, 2.0]))
    >>> by_points(laws, (np.array([1]), np.array([0, 2]))).mean.tolist()
    [1.0, 0.5, 2.0]
    """
    size = sum(part.size for part in parts)
    means: Any = np.empty(size)
    shifts: Any = np.empty(size)
    for law, part in zip(laws, parts, strict=True):
        means[part], shifts[part] = law.mean, law.pieces[0].shift

    def transform(s: ComplexArray) -> ComplexArray:
        values, wide = np.empty((len(s), size), complex), np.broadcast_to(s, (len(s), size))
        for law, part in zip(laws, parts, strict=True):
            values[:, part] = law.pieces[0].transform(wide[:, part])
        return values

    return TimeLaw((Piece(shifts, transform),), means)


def by_chance(law: TimeLaw, share: float) -> TimeLaw:
    """The time with probability `share`, otherwise 0.

    Examples
    --------
    >>> by_chance(constant(2.0), 0.25).mean
    0.5
    """
    never = Piece(0.0, lambda s: np.full_like(s, 1 - share))
    sometimes = [piece.scaled(share) for piece in law.pieces]
    mean = share * law.mean
    return TimeLaw(_condensed([never, *sometimes], mean), mean, law.notes)


def _condensed(pieces: list[Piece], scale: float) -> tuple[Piece, ...]:
    """Join pieces with the same shift, and the lightest of too many."""
    groups: dict[float, list[Piece]] = {}
    for piece in pieces:
        groups.setdefault(_rounded(piece.shift, scale), []).append(piece)
    joined = [group[0] if len(group) == 1 else _joined_piece(group) for group in groups.values()]
    if len(joined) <= MOST_PIECES:
        return tuple(joined)
    s = np.array([1 / scale + 0j])
    joined.sort(key=lambda piece: -abs(complex(piece.transform(s)[0])))
    return (*joined[: MOST_PIECES - 1], _joined_piece(joined[MOST_PIECES - 1 :]))


def _rounded(shift: float, scale: float) -> float:
    return round(shift / scale, 11) if scale > 0 else 0.0


def _joined_piece(pieces: list[Piece]) -> Piece:
    start = min(piece.shift for piece in pieces)

    def total(s: ComplexArray) -> ComplexArray:
        return np.asarray(sum(np.exp(-s * (p.shift - start)) * p.transform(s) for p in pieces))

    def within(time: float) -> tuple[float, float]:
        parts = [(p.within, time + start - p.shift) for p in pieces]
        known = [part(rest) for part, rest in parts if part and rest > 0]
        return sum(chance for chance, _ in known), sum(density for _, density in known)

    return Piece(start, total, within if all(p.within for p in pieces) else None)


def merged(*notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes without repetition, in order."""
    return tuple(dict.fromkeys(note for several in notes for note in several))
