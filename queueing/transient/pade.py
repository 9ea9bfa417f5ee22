"""The exponential of a matrix by a few linear systems: subdiagonal Padé approximants.

    exp(z) = N(z) / D(z) + O(z^(2q)) = sum over the poles of w / (z - theta),

with degrees q - 1 and q. They are L-stable, so fast modes decay at any step length, and as the sum
is 1 at z = 0, probabilities keep their total. The integral of the solution over a step of length h
follows from the same systems, with weights h w / theta.

Source: Hairer and Wanner, *Solving Ordinary Differential Equations II*, 2nd ed. 1996, sections IV.3
(Padé approximants) and IV.4 (L-stability; theorem 4.12).
"""

from dataclasses import dataclass
from functools import cache
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Pade:
    """Poles in the upper half plane or on the real axis, with their weights.

    Parameters
    ----------
    poles, weights
        The poles, and their weights; that of a complex pole also counts for its conjugate.

    Examples
    --------
    >>> three = pade(3)
    >>> float(abs(sum(three.weights / (-0.5 - three.poles)).real - np.exp(-0.5))) < 1e-5
    True
    """

    poles: NDArray[np.complex128]
    weights: NDArray[np.complex128]


@cache
def pade(degree: int) -> Pade:
    """The approximant of degrees q - 1 and q, which has order 2 q - 1.

    Parameters
    ----------
    degree
        q, 1 or more.
    """
    above, below = _coefficients(degree - 1, degree), _coefficients(degree, degree - 1)
    top = np.polynomial.Polynomial(above)
    bottom = np.polynomial.Polynomial(below * (-1.0) ** np.arange(degree + 1))
    poles = bottom.roots().astype(complex)
    weights = np.asarray(top(poles) / bottom.deriv()(poles), complex)
    real = np.abs(poles.imag) < 1e-8
    weights[~real] *= 2
    poles[real], weights[real] = poles[real].real, weights[real].real
    kept = poles.imag >= 0
    return Pade(poles[kept], weights[kept])


def _coefficients(own: int, other: int) -> NDArray[np.float64]:
    """Coefficients, lowest first, of the polynomial of degree ``own``, beside one of ``other``."""
    total = own + other
    return np.array(
        [comb(own, j) * factorial(total - j) / factorial(total) for j in range(own + 1)]
    )
