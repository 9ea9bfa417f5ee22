"""Streams of random numbers, and samples of laws: the twin of ``chance.h``, in its order.

The k-th number of a stream is mix(key + k odd), by the finaliser of splitmix64. Laws whose samples
need several numbers have a stream for each sample, so the k-th sample does not depend on earlier
ones.

Sources: Steele, Lea and Flood, OOPSLA 2014 (splitmix64); Marsaglia and Bray, SIAM Review 6(3), 1964
(normal); Marsaglia and Tsang, ACM TOMS 26(3), 2000 (gamma).
"""

from bisect import bisect_right
from collections.abc import Sequence
from math import floor, fmod, log, sqrt
from typing import Protocol

from headway.queueing.playing.rows import Family, Law, Stream

_WORD = 2**64 - 1
_ODD = 0x9E3779B97F4A7C15


class Chance(Protocol):
    """What random numbers need of a simulation: the time, and laws with a stream for each."""

    now: float

    @property
    def law(self) -> Sequence[Law]:
        """The laws."""

    @property
    def stream(self) -> Sequence[Stream]:
        """The streams, those of laws first."""

    @property
    def table(self) -> Sequence[float]:
        """The tables of laws with many parameters."""


# Streams


def _mixed(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _WORD
    return z ^ z >> 31


def _bits(key: int, k: int) -> int:
    return _mixed((key + k * _ODD) & _WORD)


def unit(key: int, k: int) -> float:
    """The k-th number of a stream, in (0, 1): an odd multiple of 2**-53."""
    return float(_bits(key, k) >> 11 | 1) * 2.0**-53


def _next_key(p: Chance, stream: int) -> int:
    s = p.stream[stream]
    s.next += 1
    return _bits(s.key, s.next - 1)


def drawn(p: Chance, stream: int) -> float:
    """The next number of a stream, in (0, 1)."""
    s = p.stream[stream]
    s.next += 1
    return unit(s.key, s.next - 1)


# Samples


def _normal(key: int, k: int) -> tuple[float, int]:
    while True:
        u, v = 2 * unit(key, k) - 1, 2 * unit(key, k + 1) - 1
        k += 2
        s = u * u + v * v
        if 0 < s < 1:
            return u * sqrt(-2 * log(s) / s), k


def _gamma_sample(shape: float, key: int) -> float:
    k, boost = 0, 1.0
    if shape < 1:
        boost = unit(key, k) ** (1 / shape)
        k, shape = 1, shape + 1
    d = shape - 1.0 / 3
    c = 1 / sqrt(9 * d)
    while True:
        x, k = _normal(key, k)
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        k += 1
        if log(unit(key, k - 1)) < 0.5 * x * x + d - d * v + d * log(v):
            return d * v * boost


def _by_rates(p: Chance, law: Law, left: float) -> float:
    """Time to the next arrival of a Poisson process whose rate changes [s].

    Each rate of a table holds from its start on, and the table repeats with a period. The integral
    of the rate from now to the arrival is exponential with mean 1: it is used up by whole periods
    first, then piece by piece.
    """
    count, start = int(law.second), int(law.first)
    rate = start + count  # where the rates begin, and the starts end
    period, total, phase = law.third, p.table[rate + count], fmod(p.now, law.third)
    whole = float(floor(left / total))
    gap, k = whole * period, max(bisect_right(p.table, phase, start, rate) - 1 - start, 0)
    left -= whole * total
    while True:
        passes = (p.table[start + k + 1] if k + 1 < count else period) - phase
        if left < p.table[rate + k] * passes:
            return gap + left / p.table[rate + k]
        left -= p.table[rate + k] * passes
        gap += passes
        k = k + 1 if k + 1 < count else 0
        phase = p.table[start + k]


def sample(p: Chance, number: int) -> float:
    """The next sample of a law [s]."""
    law = p.law[number]
    if law.kind == Family.CONSTANT:
        return law.first + law.shift
    if law.kind == Family.EXPONENTIAL:
        return law.shift - law.first * log(drawn(p, number))
    if law.kind == Family.GAMMA:
        return law.shift + law.second * _gamma_sample(law.first, _next_key(p, number))
    if law.kind == Family.TRACE:
        s = p.stream[number]
        s.next += 1
        return p.table[int(law.first) + (s.next - 1) % int(law.second)]
    if law.kind == Family.RATES:
        return _by_rates(p, law, -log(drawn(p, number)))
    u = drawn(p, number)
    if u < law.first:
        return law.shift - law.second * log(u / law.first)
    return law.shift - law.third * log((1 - u) / (1 - law.first))
