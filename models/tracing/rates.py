"""Threads from mean times at several loads, where only some requests are known.

The first gap of load l, until the first visible thing, is work w and waiting in M/G/m (Allen and
Cunneen's approximation) of holding times H = w + r:

    g_l = w + C(m, a_l) / (m - a_l) (1 + c_l^2) / 2 H_l,   a_l = lambda_l H_l,

with rates, times and their variation as measured. The m and w with the least chi squared count.
With r = 0 and c = 1 it is the law of m processors that requests share, whose work stretches.
"""

from collections.abc import Sequence
from math import exp, inf, sqrt
from typing import NamedTuple

from headway.models.tracing.pools import Arrivals, Pool
from headway.queueing.erlang.formulas import erlang_c
from headway.records import dataclass

ROUGH = 0.3
"""Relative error of waiting: arrivals are not Poisson where one request makes several calls."""
_SETTLED = 1e-6  # relative change of the work
_LIKELY = 9.0  # chi squared by which a pool has to explain more than none: three standard errors
_POSSIBLE = 4.0  # chi squared within which other numbers of threads do as well


@dataclass(frozen=True)
class Seen:
    """A service at one load, where only some requests are known.

    Parameters
    ----------
    rate
        All requests [1/s], also those of which there are no spans.
    gap, error
        Mean time to the first visible thing, waiting included, and its standard error [s].
    rest
        Mean time from there to the answer [s].
    scv
        Squared coefficient of variation of the time in the service.
    """

    rate: float
    gap: float
    error: float
    rest: float
    scv: float

    @classmethod
    def of(cls, arrivals: Arrivals, rate: float) -> "Seen":
        """From the requests that are known, and the rate of all."""
        gaps = arrivals.first - arrivals.came
        rest = arrivals.answered - arrivals.first
        times = arrivals.answered - arrivals.came
        mean, n = float(times.mean()), len(gaps)
        error = float(gaps.std(ddof=1) / sqrt(n)) if n > 1 else float(gaps.mean())
        scv = float(times.var() / mean**2) if mean > 0 else 1.0
        return cls(rate, float(gaps.mean()), error, float(rest.mean()), scv)

    def wait(self, threads: int, work: float) -> float:
        """Mean waiting time in M/G/m, work being the first gap without it (Allen and Cunneen)."""
        held = work + self.rest
        offered = self.rate * held
        if offered >= threads:
            return inf
        scale = float(erlang_c(threads, offered)) * (1 + self.scv) / 2
        return scale * held / (threads - offered)


class ByRates(NamedTuple):
    """What mean times tell.

    Parameters
    ----------
    pool
        Threads; infinite where none explain more than chance.
    work
        Mean of the first gap without waiting [s].
    doubt
        How far it is from the work that other numbers of threads would leave: its root mean square,
        each weighted by exp(-chi squared / 2) [s].
    """

    pool: Pool
    work: float
    doubt: float


def pool_by_rates(loads: Sequence[Seen], low: int) -> ByRates:
    """Find threads from mean times and rates.

    Parameters
    ----------
    loads
        Of one load or more; from one nothing is seen.
    low
        The fewest threads that the spans allow.
    """
    flat, usual = _unexplained(loads, None)
    if len(loads) < 2 or flat == inf:  # or nobody does anything that takes time
        return ByRates(Pool(inf, low, inf), usual, 0.0)
    most = int(2 * max(each.rate * (each.gap + each.rest) for each in loads)) + 10
    tried = {m: _unexplained(loads, m) for m in range(low, max(low + 10, most))}
    best = min(tried, key=lambda m: tried[m][0])
    left, work = tried[best]
    seen = left < flat - _LIKELY
    taken = work if seen else usual
    weights = [(exp((min(left, flat) - c) / 2), w) for c, w in (*tried.values(), (flat, usual))]
    whole = sum(weight for weight, _ in weights)
    doubt = sqrt(sum(weight * (w - taken) ** 2 for weight, w in weights) / whole)
    if not seen:
        return ByRates(Pool(inf, low, inf), usual, doubt)
    near = [m for m, (other, _) in tried.items() if other < left + _POSSIBLE]
    return ByRates(Pool(float(best), min(near), float(max(near))), work, doubt)


def _unexplained(loads: Sequence[Seen], threads: int | None) -> tuple[float, float]:
    """Chi squared of the law at the work that explains most, and that work."""
    work = min(each.gap for each in loads)
    left = inf
    for _ in range(50):
        waits = [0.0 if threads is None else each.wait(threads, work) for each in loads]
        if inf in waits:
            work *= 0.9
            continue
        weights = [
            1 / (max(each.error, 1e-12) ** 2 + (ROUGH * wait) ** 2)
            for each, wait in zip(loads, waits, strict=True)
        ]
        gaps = [each.gap - wait for each, wait in zip(loads, waits, strict=True)]
        further = sum(w * g for w, g in zip(weights, gaps, strict=True)) / sum(weights)
        if further <= 0:
            break
        left = sum(w * (g - further) ** 2 for w, g in zip(weights, gaps, strict=True))
        if abs(further - work) <= _SETTLED * work:
            return left, work
        work = (work + further) / 2
    return (left, work) if threads is None else (inf, work)
