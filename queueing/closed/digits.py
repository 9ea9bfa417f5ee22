"""Convolution for one population, digit by digit: its work grows with log N.

With chances in the ratio 1 : r : r**2 ... the binary digits of the number at a single server
are independent: the digit worth 2**i is 1 against 0 as r**(2**i) to 1, because
1 / (1 - r z) = (1 + r z) (1 + (r z)**2) (1 + (r z)**4) ... So the numbers at all stations are
added as by hand, digit by digit: what is carried on is distributed over few values, and of
each sum only those that end in the digit of N go on. Every sum is of positive terms.

Source: Bostan and Mori, "A simple and fast algorithm for computing the N-th term of a
linearly recurrent sequence", SOSA 2021, for the halving of the index.
"""

from math import exp

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.closed.saturated import SinglePoint

_THINKING = 64.0  # think time over largest demand up to which carries are short
_DOUBLINGS = 800  # powers of 2 that sums may grow by: with exp(64) below 2**1023
_NEGLIGIBLE = 1e-17  # share of a sum


def has_few_digits(network: SinglePoint) -> bool:
    """Whether `digit_convolution` can solve a network: no overflow, and few thinking jobs.

    Parameters
    ----------
    network
        Single servers at one operating point.

    Examples
    --------
    >>> has_few_digits(SinglePoint(np.ones(1), np.ones(1, int), think_time=1.0, population=2))
    True
    """
    doublings = (network.queues.sum() + 1) * network.population.bit_length()
    few = network.think_time < _THINKING * network.share.max()
    return bool(few and doublings < _DOUBLINGS)


def digit_convolution(network: SinglePoint) -> tuple[FloatArray, FloatArray]:
    """Throughput, shape (1,), and queue lengths, shape (stations, 1).

    R_k = D_k G_k(N - 1) / G(N - 1), X = N / (Z + sum R_k), where G_k is the G of the network with a
    second queue like k: its mean number, plus one, is G_k / G.

    Parameters
    ----------
    network
        Single servers at one operating point.

    Examples
    --------
    >>> network = SinglePoint(np.ones(1), np.ones(1, int), think_time=1.0, population=2)
    >>> [values.round(12).tolist() for values in digit_convolution(network)]
    [[0.8], [[1.2]]]
    """
    slowest = network.share.max()
    ratios = network.share / slowest
    places = np.arange(max(network.population - 1, 1).bit_length())
    powers = ratios[:, None] ** (1 << places)
    digits = (max(network.population - 1, 0) >> places) & 1
    sums = _sums(np.repeat(powers, network.queues, axis=0), digits)
    thinking = _thinking(network.think_time / slowest)
    constants = _added(thinking, _tables(sums, powers, max(thinking.size, len(sums))), len(sums))
    residence = network.demand * constants[1:] / constants[0]
    rate = np.array([network.population / (network.think_time + residence.sum())])
    return rate, rate * residence[:, None]


def _thinking(mean: float) -> FloatArray:
    """Weights a**n / n! of n jobs thinking.

    They are cut off where the rest is a negligible share of their sum, exp(a). It is a smaller
    share still of G(N), as each weight is multiplied there by G of the queues alone with N - n
    jobs, which decreases with n as the slowest queue's ratio is 1.
    """
    weights, enough = [1.0], _NEGLIGIBLE * exp(mean)
    while len(weights) < 2 * mean or weights[-1] > enough:
        weights.append(weights[-1] * mean / len(weights))
    return np.array(weights)


def _sums(powers: FloatArray, digits: NDArray[np.intp]) -> FloatArray:
    """Weights of the sum of all queues' digits at each place, shape (values, places).

    If N - 1 has the digit 0 the sum includes one more: then every carry is odd.
    """
    sums = np.zeros((len(powers) + 3, len(digits)))
    sums[1 - digits, np.arange(len(digits))] = 1.0
    lower, upper = sums[:-1], sums[1:]
    for power in powers:
        upper += power * lower
    return sums


def _tables(sums: FloatArray, powers: FloatArray, width: int) -> FloatArray:
    """Weights from carry to carry, shape (places, 1 + stations, from, to).

    One row is for the network itself, and one for each station, with a second queue like it. From
    carry s to carry t the digits add 2 t + 1 - s.
    """
    values, first = sums.T[:, None], width - 2
    padded = np.zeros((len(values), len(powers) + 1, 2 * width + len(sums)))
    padded[..., first : first + len(sums)] = values
    padded[:, 1:, first + 1 : first + len(sums)] += powers.T[..., None] * values[..., :-1]
    windows = sliding_window_view(padded, width + len(sums), axis=-1)
    return windows[:, :, width - 1 :: -1, ::2]


def _added(row: FloatArray, tables: FloatArray, values: int) -> FloatArray:
    """Weight of no carry past the last place, for each row of the tables."""
    carried = row[None, None]
    for table in tables:
        before = carried.shape[-1]
        carried = carried @ table[:, :before, : (before + values - 1) // 2]
    return carried[:, 0, 0]
