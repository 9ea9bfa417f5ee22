"""A step of the forward equations, for several starts and with moments of sums over time.

The generator A of a birth-death process has birth and death rates beside its diagonal. By the
approximants of `headway.queueing.transient.pade` a step of length h solves one system for each
pole,

    exp(h A) p = sum over the poles of w x,   (h A - theta) x = p,

each tridiagonal, so that elimination without pivoting is stable: the real parts of the poles are
above 0, which makes the columns of theta - h A diagonally dominant.

Sums over time are followed with the state. Let a sum y gain f per second in each state and g at
each arrival. Its moments in state n,

    u_n = E[y; N = n],   w_n = E[y^2; N = n],
    u' = A u + F p,   w' = A w + 2 F u + G_2 p,   F = diag(f) + G_1,

with G_k having lambda g^k below its diagonal. All three form one linear system, whose blocks have
the same diagonal, so one elimination solves each in turn: (h A - theta) x_u = u - h F x_p, and so
on.
"""

from functools import cache

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.transient.pade import pade

DEGREES = (5, 4)
"""Degrees of the approximant that is used, and of the one that it is compared with."""


@cache
def poles_of_orders() -> tuple[FloatArray, int]:
    """Pole, weight and weight of the integral for both degrees, as real and imaginary parts."""
    rows = []
    for degree in DEGREES:
        by = pade(degree)
        each = np.stack([by.poles, by.weights, by.weights / by.poles], axis=1)
        rows.append(np.ascontiguousarray(each).view(float))
    return np.concatenate(rows), len(rows[0])


def step(
    came: FloatArray,
    served: FloatArray,
    length: float,
    state: FloatArray,
    seen: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Advance states by a step.

    Parameters
    ----------
    came, served
        Birth and death rates in each state [1/s], shape (states,); 0 at the ends if nothing leaves.
    length
        Length of the step [s].
    state
        Probabilities, then u and w of each sum, shape (states, 1 + 2 sums, columns).
    seen
        f, lambda g and lambda g^2 of each sum in each state [1/s], shape (sums, 3, states).

    Returns
    -------
    The state at the end by each order, and the integral of the probabilities, (states, columns)
    [s].

    Examples
    --------
    >>> start = np.array([0.0, 1.0]).reshape(2, 1, 1)
    >>> end, _, spent = step(np.zeros(2), np.array([0.0, 1.0]), 2.0, start)
    >>> bool(abs(end[1, 0, 0] - np.exp(-2.0)) < 1e-6)
    True
    """
    moments, (poles, first) = state.shape[1], poles_of_orders()
    by = poles.reshape(-1, 6).T[:, :, None]
    inverse, factor = _eliminated(came, served, length, by)
    back = length * np.append(served[1:], 0.0)
    found: list[tuple[FloatArray, FloatArray]] = []
    gains = np.empty((0, 3, len(came))) if seen is None else seen
    for moment in range(moments):
        real, turned = _sides(state[:, moment], length, gains, found, by.shape[1])
        found.append(_solved(real, turned, inverse, factor, back))
    end, other = (
        np.stack([_summed(x, by[2:4, each], each.start) for x in found], axis=1)
        for each in (slice(0, first), slice(first, by.shape[1]))
    )
    return end, other, length * _summed(found[0], by[4:, :first], 0)


def _eliminated(
    came: FloatArray, served: FloatArray, length: float, by: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Inverse pivots, and factors of the row before: (states, real or imaginary, poles, 1)."""
    inverse, factor = (np.zeros((len(came), 2, by.shape[1], 1)) for _ in range(2))
    for n in range(len(came)):
        out, back = length * (came[n] + served[n]), length * served[n]
        if n:
            factor[n] = length * came[n - 1] * inverse[n - 1]
        real, turned = -out - by[0] - factor[n, 0] * back, -by[1] - factor[n, 1] * back
        norm = real * real + turned * turned
        inverse[n] = real / norm, -turned / norm
    return inverse, factor


def _sides(
    now: FloatArray,
    length: float,
    gains: FloatArray,
    found: list[tuple[FloatArray, FloatArray]],
    poles: int,
) -> list[FloatArray]:
    """Real and imaginary right-hand sides of a moment, shape (states, poles, columns)."""
    sides = [np.repeat(now[:, None], poles, axis=1), np.zeros((len(now), poles, now.shape[1]))]
    if not found:
        return sides
    number, is_square = divmod(len(found) - 1, 2)
    seen, jumps, squares = gains[number, :, :, None, None]
    for part, first in enumerate(found[0]):
        below = found[-1][part] if is_square else first
        gain = seen * below
        gain[1:] += jumps[:-1] * below[:-1]
        if is_square:
            gain = 2 * gain
            gain[1:] += squares[:-1] * first[:-1]
        sides[part] -= length * gain
    return sides


def _solved(
    real: FloatArray, turned: FloatArray, inverse: FloatArray, factor: FloatArray, back: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve by elimination, in place."""
    for n in range(1, len(real)):
        by, across = factor[n]
        one, other = real[n - 1], turned[n - 1]
        real[n] -= by * one - across * other
        turned[n] -= by * other + across * one
    for n in range(len(real) - 1, -1, -1):
        by, across = inverse[n]
        one, other = real[n], turned[n]
        if n + 1 < len(real):
            one, other = one - back[n] * real[n + 1], other - back[n] * turned[n + 1]
        real[n], turned[n] = by * one - across * other, by * other + across * one
    return real, turned


def _summed(x: tuple[FloatArray, FloatArray], weights: FloatArray, first: int) -> FloatArray:
    """The real part of the weighted sum over poles from ``first`` on."""
    total = np.zeros((x[0].shape[0], x[0].shape[2]))
    for place in range(weights.shape[1]):
        real, turned = (part[:, first + place] for part in x)
        total += weights[0, place] * real - weights[1, place] * turned
    return total
