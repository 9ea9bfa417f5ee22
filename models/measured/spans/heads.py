"""The share of traces that a head sampler kept, seen in their identifiers.

Identifiers of traces are random. Samplers that decide by them alone keep a trace if a number u that
they make of its identifier, between 0 and 1, is below the share p. So if some u of all n traces in
a file is at most M, which by chance happens with the probability M^n, and is as likely to have any
value below M as any other, the file is a sample, with

    p = M (n + 1) / n.                                                                      (1)

Each sampler has a u of its own: OpenTelemetry's SDKs (TraceIdRatioBased; that of Go, Python, Ruby
and Rust, that of Java, that of JavaScript, that of .NET, and that of C++), its consistent samplers
(OTEP 235), Jaeger's clients, and whoever compares identifiers as text. Where several could have
kept what is there, as those of signed and of unsigned numbers, it is the one with the smallest p.
"""

from collections.abc import Callable, Sequence
from math import log2
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray

_Bits: TypeAlias = NDArray[np.uint64]
_Number: TypeAlias = Callable[[_Bits, _Bits], FloatArray]

_FEWEST = 20  # traces
_CHANCE = 1e-9  # that whole traces look like a sample
_MOST, _LEAST = 0.95, 1e-4  # shares: numbers that count up are tiny in 64 bits
_ALIKE = 1.95  # root n times the largest deviation: 0.1% by Kolmogorov's law
_HALF, _BYTE = np.uint64(32), np.uint64(8)


def share_by_identifiers(identifiers: Sequence[str]) -> float:
    """The share of traces that were kept, by (1); 1 if nothing shows that some were not.

    Parameters
    ----------
    identifiers
        Those of the traces of a load, in hexadecimal digits.

    Examples
    --------
    >>> draws = np.random.default_rng(1).integers(0, 2**63, (4000, 2), np.uint64) * np.uint64(2)
    >>> every = [f"{high:016x}{low:016x}" for high, low in draws.tolist()]
    >>> kept = [each for each in every if int(each[16:], 16) < 0.1 * 2**64]
    >>> share_by_identifiers(every), round(share_by_identifiers(kept), 2)
    (1.0, 0.1)
    """
    if len(identifiers) < _FEWEST:
        return 1.0
    try:
        numbers = [int(each, 16) for each in identifiers]
    except ValueError:
        return 1.0
    low = np.array([each & (2**64 - 1) for each in numbers], np.uint64)
    high = np.array([each >> 64 & (2**64 - 1) for each in numbers], np.uint64)
    whole = max(float(_fraction(bits).max()) for bits in (low, high))
    return min(_share(number(low, high), whole) for number in _NUMBERS)


def _share(u: FloatArray, whole: float) -> float:
    """The share that one sampler kept, if it was this one; else 1.

    Where `whole` is near 1, the identifiers are seen to use all bits of a number.
    """
    most, n = float(u.max()), len(u)
    share = most * (n + 1) / n
    if not _LEAST < share < _MOST or most**n > _CHANCE:
        return 1.0
    places = np.arange(n + 1) / n
    met = np.sort(u) / share
    off = max(float((places[1:] - met).max()), float((met - places[:-1]).max()))
    spare = abs(share / 2.0 ** round(log2(share)) - 1) < 4 / n  # of 64 bits, some use 63 or 53
    return share if off * n**0.5 < _ALIKE and not (spare and whole < _MOST) else 1.0


def _fraction(bits: _Bits) -> FloatArray:
    return np.asarray(bits / 2.0**64, float)


def _absolute(bits: _Bits) -> FloatArray:
    """The absolute value of a signed number, over the largest."""
    return np.asarray(np.abs(bits.view(np.int64).astype(float)) / 2.0**63)


def _folded(low: _Bits, high: _Bits) -> FloatArray:
    """All four words of 32 bits, added without carry."""
    both = low ^ high
    return np.asarray(((both ^ (both >> _HALF)) & np.uint64(2**32 - 1)) / 2.0**32, float)


_NUMBERS: tuple[_Number, ...] = (
    lambda low, _: _fraction(low),  # OpenTelemetry in Go, Python, Ruby, Rust
    lambda low, _: _absolute(low),  # in Java
    lambda _, high: _absolute(high),  # in .NET
    lambda _, high: _fraction(high.byteswap()),  # in C++, on most processors
    lambda _, high: _fraction(high),  # as text
    _folded,  # in JavaScript
    lambda low, _: 1 - ((low << _BYTE) >> _BYTE) / 2.0**56,  # OTEP 235
    lambda low, _: _fraction(low << np.uint64(1)),  # Jaeger's clients
)
"""u of each sampler, from the low and the high 64 bits of an identifier."""
