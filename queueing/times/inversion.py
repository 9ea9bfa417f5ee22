"""Numerical inversion of Laplace transforms of probability distributions, to about 1e-11.

This is the Fourier-series method of Abate and Whitt (algorithm EULER). Its grid is twice as fine as
theirs, which reduces rounding errors, and the number of terms is doubled until two results agree.

If a transform decays, as for smooth distributions, the series needs no averaging, and its terms for
one time also serve for all earlier times.

Percentiles are found from those of a gamma law by Newton's method: Wilson and Hilferty, "The
distribution of chi-square", PNAS 17(12), 1931.

Source: Abate and Whitt, "Numerical inversion of Laplace transforms of probability distributions",
ORSA J. Computing 7(1), 1995; Choudhury, Lucantoni and Whitt, "Multidimensional transform
inversion with applications to the transient M/G/1 queue", Ann. Appl. Prob. 4(3), 1994 (rounding).
"""

from dataclasses import replace
from functools import lru_cache
from math import comb, exp, inf, log, pi

import numpy as np

from headway.kinds import Amount, plain
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, Transform, Within

_DAMPING = 30.0  # A of Abate and Whitt: the discretisation error is exp(-A) = 1e-13
_FINENESS = 2  # l of Choudhury, Lucantoni and Whitt: rounding grows by exp(A / (2 l))
_AVERAGED = 12  # m of Euler summation; 11 in Abate and Whitt
_WEIGHTS = np.array([comb(_AVERAGED, k) for k in range(_AVERAGED + 1)]) / 2**_AVERAGED
_TURN = np.exp(1j * pi * np.arange(_FINENESS) / _FINENESS)
_FEWEST, _MOST = 40, 2560  # smallest and largest number of terms, divided by l
_FADED = 1e-14  # share of the first term below which the terms of a series have decayed
_LONGEST = 131072  # terms of a series within which it must decay: for speed
_BLOCK = 256  # terms added up at a time, by powers of one exponential: for speed
_WORTH = 12  # sums that a series may cost, for speed: three percentiles take about four each
_AGREED = 1e-12  # difference of two results at which n is large enough
_ROUNDING = 4e-16  # relative rounding error of a term of the sum
# least number of standard deviations above the mean that a table covers: up to p99.7
_SPREADS = 6.0
_SAME = 1e-13  # relative difference up to which times are the same except for rounding
_NEWTON = 12  # steps of Newton's method after which bisection is safer: 4 suffice for smooth laws
_NEAR = 1e-7  # log(P(T > t) / tail) before the last step, which leaves about its square
_FLAT = 1e-3  # relative length of a last step that shows a flat distribution
# relative distance to a constant time within which a percentile is found by bisection
_BESIDE = 1e-6
_AT_A_JUMP = 1e-11  # relative distance within which a percentile is that constant time
_NEVER = 1e-300  # stands for a probability of 0, whose logarithm is not finite
_INSTANT = 1e-9  # share of the mean below which a time counts as 0: below the error of inversion


def exceedance(law: TimeLaw, time: float) -> float:
    """P(T > t) of a time t [s].

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> round(float(exceedance(exponential(1.0), 1.0)), 9)
    0.367879441
    """
    within = 0.0
    for piece in tabulated(law).pieces:
        if piece.shift <= time * (1 + _SAME):
            rest = max(time - piece.shift, _INSTANT * law.mean)
            within += _distribution_and_density(piece, rest, law.rough)[0] if rest > 0 else 1.0
    return min(max(1 - within, 0.0), 1.0)


def percentile_of(law: TimeLaw, share: float) -> float:
    """Smallest time t with P(T <= t) >= share [s]: the root of log(P(T > t) / (1 - share)) in t.

    Parameters
    ----------
    law
        Law of the time.
    share
        Between 0 and 1.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> round(float(percentile_of(exponential(1.0), 0.95)), 9)
    2.995732274
    """
    tail = 1 - share
    law = tabulated(law, max(_SPREADS, -log(tail)))  # those of an exponential law
    root = _smooth_root(law, tail)
    if root is not None:
        return root

    def above(time: float) -> float:
        return log(max(exceedance(law, time), _NEVER) / tail)

    low, high = 0.0, -law.mean * log(tail)
    if above(low) <= 0:
        return 0.0
    while above(high) > 0:
        low, high = high, 2 * high
    from scipy.optimize import brentq

    root = brentq(above, low, high, xtol=_SAME * high, rtol=_SAME)
    jumps = (p.shift for p in law.pieces if abs(p.shift - root) <= _AT_A_JUMP * root)
    return next(jumps, root)


def _smooth_root(law: TimeLaw, tail: float) -> float | None:
    """The root of log(P(T > t) / tail) by Newton's method; None if that fails.

    The slope is the negative hazard rate, -f(t) / P(T > t), from the same terms of the series.
    """
    first = time = _gamma_percentile(law, tail)
    for _ in range(_NEWTON if time > 0 else 0):
        late, density = 1.0, 0.0
        for piece in law.pieces:
            if piece.shift < time:
                share, slope = _distribution_and_density(piece, time - piece.shift, law.rough)
                late, density = late - share, density + slope
        if late <= 0 or density <= 0:
            return None
        off = log(late / tail)
        step = off * late / density
        time += step
        least = law.pieces[0].shift if len(law.pieces) == 1 else 0.0
        if not least + _INSTANT * first < time < inf:
            return None
        if abs(off) <= _NEAR:
            jumps = len(law.pieces) > 1 and any(
                abs(piece.shift - time) <= _BESIDE * time for piece in law.pieces
            )
            return None if jumps or abs(step) > _FLAT * time else time
    return None


def _distribution_and_density(piece: Piece, time: float, rough: float = 0.0) -> tuple[float, float]:
    """P(T <= t) and the density of a piece without its shift, to an error ``rough``."""
    if piece.within is not None:
        return piece.within(time)
    share, slope = invert_with_slope(lambda s: piece.transform(s) / s, time, rough)
    return float(share), float(slope)


@lru_cache(maxsize=64)  # several percentiles are asked for, one after the other
def tabulated(law: TimeLaw, spreads: float = _SPREADS) -> TimeLaw:
    """The law, with a table of each transform that decays, up to some deviations above the mean.

    A mixture of such laws takes its table from theirs.

    Parameters
    ----------
    law
        Law of the time.
    spreads
        Standard deviations.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential, repeated
    >>> all(piece.within for piece in tabulated(repeated(exponential(1.0), 20)).pieces)
    True
    """
    open_ended = [piece for piece in law.pieces if piece.within is None]
    if not open_ended or law.mean == 0:
        return law
    until = law.mean + spreads * law.variance**0.5
    pieces = (
        piece
        if piece.within
        else replace(piece, within=_table(piece, until - piece.shift, law.rough))
        for piece in law.pieces
    )
    return replace(law, pieces=tuple(pieces))


def _table(piece: Piece, until: float, rough: float) -> Within | None:
    """P(T <= t) and the density of a piece as a function of time, from one series.

    None if Euler's sums, which compute their own terms each time, take fewer terms in total.
    """
    if until <= 0:
        return None
    _, summed = _series(lambda s: piece.transform(s) / s, until / 2, rough)
    agreed = len(summed) < _FINENESS * _MOST
    longest = min(_WORTH * len(summed), _LONGEST) if agreed else _LONGEST
    start, step, _ = _grid(until)
    ends = start + 1j * step * np.linspace(longest // 2, longest, 8)
    first = _FADED * abs(complex(piece.transform(np.array([start + 0j]))[0] / start))
    if (np.abs(piece.transform(ends) / ends) > first).any():
        return None
    nodes = _nodes(start, step, 0, _FEWEST)
    values = piece.transform(nodes)
    while (np.abs(values / nodes)[-len(nodes) // 3 :] > first).any():
        turns = len(nodes) // _FINENESS
        more = _nodes(start, step, turns, turns + turns // 2)
        values, nodes = np.append(values, piece.transform(more)), np.append(nodes, more)
    rows = -(-len(nodes) // _BLOCK)
    terms = np.zeros((2, rows * _BLOCK), np.complex128)
    terms[:, : len(nodes)] = values / nodes, values
    terms[:, 0] /= 2
    blocks = terms.reshape(2, rows, _BLOCK)

    def within(time: float) -> tuple[float, float]:
        if time > until:
            return _distribution_and_density(replace(piece, within=None), time)
        turn = 1j * step * time
        near, far = np.exp(turn * np.arange(_BLOCK)), np.exp(turn * _BLOCK * np.arange(rows))
        chance, density = step / pi * exp(start * time) * (blocks @ near @ far).real
        return float(chance), float(density)

    return within


def _gamma_percentile(law: TimeLaw, tail: float) -> float:
    """Approximate root of P(T > t) = `tail`, from a gamma law with its mean and variance.

    By Wilson and Hilferty's cube if the squared coefficient of variation c**2 is below 1, otherwise
    from an exponential law.
    """
    shift = min(piece.shift for piece in law.pieces)
    beyond = law.mean - shift
    if beyond <= 0:
        return 0.0
    from scipy.special import ndtri

    shifted = len(law.pieces) == 1 and shift > 0
    rest = TimeLaw((replace(law.pieces[0], shift=0.0),), beyond) if shifted else law
    ninth = rest.variance / beyond**2 / 9
    cube = 1 - ninth + float(ndtri(1 - tail)) * ninth**0.5
    if 9 * ninth >= 1 or cube <= 0:
        return shift + max(-law.mean * log(tail) - shift, beyond)
    return float(shift + beyond * cube**3)


def invert(transform: Transform, time: Amount) -> Amount:
    """Value at a time of the function with this transform.

    Parameters
    ----------
    transform
        Function of complex numbers with a positive real part, shape (terms,) or (terms, points).
    time
        t [s], above 0; a number or shape (points,).

    Examples
    --------
    >>> round(invert(lambda s: 1 / (s + 1), 2.0), 11) == round(exp(-2.0), 11)
    True
    """
    return plain(_series(transform, time)[0])


def invert_with_slope(
    transform: Transform, time: Amount, rough: float = 0.0
) -> tuple[Amount, Amount]:
    """Value and derivative at a time, to fewer digits.

    Parameters
    ----------
    transform, time
        As for `invert`.
    rough
        Error of the value that does not matter.

    Examples
    --------
    >>> [round(float(x), 6) for x in invert_with_slope(lambda s: 1 / (s + 1), 2.0)]
    [0.135335, -0.135335]
    """
    value, values = _series(transform, time, rough)
    start, step, factor = _grid(time)
    nodes = _nodes(start, step, 0, len(values) // _FINENESS)
    return plain(value), plain(factor * _euler(values * nodes))


def _series(transform: Transform, time: Amount, rough: float = 0.0) -> tuple[Amount, ComplexArray]:
    """The value, and the transform at the nodes of the series."""
    start, step, factor = _grid(time)
    values, value, turns = transform(_nodes(start, step, 0, _FEWEST)), 0.0, _FEWEST
    while True:
        before, value = value, factor * _euler(values)
        rounding = factor * _ROUNDING * np.abs(values).sum(axis=0)
        close = np.abs(value - before) <= np.maximum(max(_AGREED, rough), rounding)
        if (turns > _FEWEST and close.all()) or turns >= _MOST:
            return value, values
        values = np.concatenate([values, transform(_nodes(start, step, turns, 2 * turns))])
        turns *= 2


def _grid(time: Amount) -> tuple[Amount, Amount, Amount]:
    """First node and distance of nodes [1/s], and the factor of the sum."""
    step = pi / (_FINENESS * time)
    return _DAMPING / (2 * _FINENESS * time), step, step * exp(_DAMPING / (2 * _FINENESS)) / pi


def _nodes(start: Amount, step: Amount, since: int, until: int) -> ComplexArray:
    count = np.arange(_FINENESS * since, _FINENESS * until)
    return np.asarray(start + 1j * np.multiply.outer(count, step))


def _euler(values: ComplexArray) -> Amount:
    """Euler summation of an alternating series along the first axis: binomial averages."""
    terms = (values.T * np.tile(_TURN, len(values) // _FINENESS)).T.real
    terms[0] /= 2
    signed = terms.reshape(-1, _FINENESS, *terms.shape[1:]).sum(axis=1)
    signed[1::2] *= -1
    halves = np.cumsum(signed, axis=0)[-len(_WEIGHTS) :]
    return np.tensordot(_WEIGHTS, halves, 1)[()]
