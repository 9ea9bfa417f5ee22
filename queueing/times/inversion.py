"""Chances back from Laplace transforms, to some 1e-11.

The Fourier series of Abate and Whitt's algorithm Euler, twice as fine as theirs so that rounding
is damped, of as many terms as it takes: the number is doubled until two results agree.

Source: Abate and Whitt, "Numerical inversion of Laplace transforms of probability distributions",
ORSA J. Computing 7(1), 1995; Choudhury, Lucantoni and Whitt, "Multidimensional transform
inversion with applications to the transient M/G/1 queue", Ann. Appl. Prob. 4(3), 1994 (rounding).
"""

from math import comb, exp, pi

import numpy as np

from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, Transform

_DAMPING = 30.0  # discretisation error exp(-30) = 1e-13
_FINENESS = 2  # terms that make a half turn; rounding grows by exp(_DAMPING / 2 / _FINENESS)
_AVERAGED = 12  # of Euler's averaging
_WEIGHTS = np.array([comb(_AVERAGED, k) for k in range(_AVERAGED + 1)]) / 2**_AVERAGED
_TURN = np.exp(1j * pi * np.arange(_FINENESS) / _FINENESS)
_FEWEST, _MOST = 40, 2560  # half turns
_AGREED = 1e-12
_ROUNDING = 4e-16
_SAME = 1e-13  # relative: times that count as one
_INSTANT = 1e-9  # of the mean: a time that counts as none


def exceedance(law: TimeLaw, time: float) -> float:
    """Chance of more than a time [s].

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> round(exceedance(exponential(1.0), 1.0), 9)
    0.367879441
    """
    within = 0.0
    for piece in law.pieces:
        if piece.shift <= time * (1 + _SAME):
            within += _within(piece, time, law.mean)
    return min(max(1 - within, 0.0), 1.0)


def _within(piece: Piece, time: float, mean: float) -> float:
    rest = max(time - piece.shift, _INSTANT * mean)
    return invert(lambda s: piece.transform(s) / s, rest) if rest > 0 else 1.0


def invert(transform: Transform, time: float) -> float:
    """Value at a time of the function that has this transform.

    Parameters
    ----------
    transform
        Of complex numbers with a positive real part.
    time
        t [s], above 0.

    Examples
    --------
    >>> round(invert(lambda s: 1 / (s + 1), 2.0), 11) == round(exp(-2.0), 11)
    True
    """
    start = _DAMPING / (2 * _FINENESS * time)
    step = pi / (_FINENESS * time)
    factor = step * exp(start * time) / pi
    values, value, turns = transform(_nodes(start, step, 0, _FEWEST)), 0.0, _FEWEST
    while True:
        before, value = value, factor * _euler(values)
        rounding = factor * _ROUNDING * float(np.abs(values).sum())
        agreed = turns > _FEWEST and abs(value - before) <= max(_AGREED, rounding)
        if agreed or turns >= _MOST:
            return value
        values = np.append(values, transform(_nodes(start, step, turns, 2 * turns)))
        turns *= 2


def _nodes(start: float, step: float, since: int, until: int) -> ComplexArray:
    return np.asarray(start + 1j * step * np.arange(_FINENESS * since, _FINENESS * until))


def _euler(values: ComplexArray) -> float:
    """Sum a series whose signs alternate, by averaging its last partial sums."""
    terms = (values * np.tile(_TURN, len(values) // _FINENESS)).real
    terms[0] /= 2
    signed = terms.reshape(-1, _FINENESS).sum(axis=1)
    signed[1::2] *= -1
    halves = np.cumsum(signed)[-len(_WEIGHTS) :]
    return float(halves @ _WEIGHTS)
