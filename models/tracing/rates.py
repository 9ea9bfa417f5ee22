"""Threads from mean times at several loads, where only a sample of the requests is known.

The first gap of load l, from arrival to the first visible thing, is work w and the waiting for one
of m threads, each of which is held for H = w + r,

    g_l = w + W(m, a_l),   a_l = lambda_l H_l,

with rates and times as measured; `bunches` has W. What it needs to know of the rest r is by how
much it grows from load to load with the number in service: the slope of a straight line, or 0. So
g_l is taken as normal with the variance

    s_l^2 = e_l^2 + ROUGH.apart^2 W_l max(W_l, g_l - w)

made up of the measurement's own error e_l and of the law's error. If the law is off by a factor F,
the true wait F W differs from W by 2 sinh(log F / 2) times the root of their product, nearly log F.
Three further errors are common to all loads: that of the slope, that of the law at any share of
busy threads, and that of the peakedness of arrivals beyond what `bunches` knows. If arrivals have
peakedness z, the number of busy threads has the variance z a, so the chance that all are busy,
which goes as exp(-(m - a)^2 / 2 z a), is off by the relative error of z times

    x = (m - a)^2 / 2 z a  (Hayward's approximation; Fredericks, Bell System Technical Journal 59,
    1980):

which grows as fewer threads are busy. The likeliest m is taken, with its w; the other m give the
doubt of w. With r = 0 and exponential times this is the law of m processors shared by requests,
whose work stretches. docs/explanation/traces-sampled.md derives it.
"""

from collections.abc import Mapping, Sequence
from math import exp, inf, sqrt
from typing import NamedTuple

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.bunches import Met
from headway.models.tracing.pools import Pool
from headway.models.tracing.spread import standard_error


class Rough(NamedTuple):
    """Errors of the law, as logarithms: of a service at all loads, of a load, of the peakedness."""

    common: float
    apart: float
    bunched: float


ROUGH = Rough(0.2, 0.12, 0.1)
"""Measured by ``python -m tests.campaigns.trace_round_trips --law``, chance included; rather wider
than what is seen with 20,000 traces a load, as real services are more various than those played."""
_LIKELY = 9.0  # deviance by which a limit must explain more than no limit: three standard errors
_SURE = 0.95  # probability of the interval of the number of threads
# values of the work tried between two ends, and how often the ends are narrowed
_TRIED, _ZOOMS = 33, 5
_ALIKE = 1e-3  # deviance below which a pool cannot be told from one in which nobody waits
_MORE = 1.01  # factor on a rate, to see how waiting grows with it
# as blocks of columns: as measured, at a higher rate, and where the rest grows by an error more
_RATES, _STEEPER = np.reshape(((1.0, _MORE, 1.0), (0.0, 0.0, 1.0)), (2, 3, 1, 1))
_LEAST = 1e-12  # least standard error [s]
_MOST_THREADS = 100_000  # that are tried; of more, no limit is seen


class Seen(NamedTuple):
    """A service at one load, of whose requests only a sample is known; or columns of loads.

    Parameters
    ----------
    rate, unsure
        Rate of all requests, sampled or not [1/s], and its relative error.
    gap, error
        Mean time until the first visible thing, including waiting, and its standard error [s].
    rest, rest_error
        Mean time from the first visible thing to the answer, and its standard error [s].
    scv
        Squared coefficient of variation of the time in the service.
    met
        What requests find as they come.
    """

    rate: Amount
    unsure: Amount
    gap: Amount
    error: Amount
    rest: Amount
    rest_error: Amount
    scv: Amount
    met: Met

    @classmethod
    def of(
        cls,
        came: FloatArray,
        gap: FloatArray,
        rest: FloatArray,
        trace: IntArray,
        window: float,
        share: float,
        pace: FloatArray,
    ) -> "Seen":
        """Make it from the requests that are known.

        If traces with n_j requests each are kept with probability p, the rate has the relative
        error sqrt((1 - p) sum n_j^2) / sum n_j.

        Parameters
        ----------
        came, gap, rest, trace
            When each request came, its first gap, its rest [s], and the number of its trace.
        window
            Time over which the requests came [s].
        share
            Share of traces kept, p.
        pace
            How often requests come while others are there (`callers`).
        """
        times, n = gap + rest, len(gap)
        mean = float(times.mean())
        _, each = np.unique(trace, return_counts=True)
        return cls(
            max(n - 1, 1) / (window or inf) / share,
            sqrt((1 - share) * float((each**2).sum())) / n,
            float(gap.mean()),
            standard_error(gap, trace),
            float(rest.mean()),
            standard_error(rest, trace),
            float(times.var() / mean**2) if mean > 0 else 1.0,
            Met.of(came, came + times, trace, pace),
        )

    @classmethod
    def columns(cls, loads: Sequence["Seen"]) -> "Seen":
        """Several loads as columns, to be combined with a row of works."""
        *each, met = zip(*loads, strict=True)
        columns = (np.array(one, float)[:, np.newaxis] for one in each)
        return cls._make((*columns, Met.columns(met)))

    def wait(
        self, threads: int, work: FloatArray, more: Amount = 1.0, steeper: Amount = 0.0
    ) -> FloatArray:
        """Mean waiting time.

        Parameters
        ----------
        threads, work
            m, and the first gap less the waiting time [s].
        more
            A factor on the rate.
        steeper
            By how many standard errors the rest grows more with the number in service.
        """
        held = work + self.rest
        offered = more * self.rate * held
        busy = offered < threads
        offered = np.where(busy, offered, 0.0)
        longer = self._growth(self.rate * held, steeper) / np.maximum(held, _LEAST)
        waiting = self.met.waiting(threads, offered, self.scv, longer)
        return np.where(busy, np.maximum(waiting, 0.0) * held, inf)

    def _growth(self, busy: FloatArray, steeper: Amount) -> Amount:
        """By how much the rest grows from load to load with the number in service [s]."""
        if np.ndim(self.rest) == 0:
            return 0.0
        apart = busy - busy.mean(axis=0)
        weight = apart / np.maximum((apart**2).sum(axis=0), _LEAST)
        error = np.sqrt((weight**2 * np.asarray(self.rest_error) ** 2).sum(axis=0))
        return np.maximum((weight * self.rest).sum(axis=0) + steeper * error, 0.0)


class ByRates(NamedTuple):
    """Threads and work as estimated from mean times and rates.

    Parameters
    ----------
    pool
        The likeliest number of threads, with its 95% interval; infinite where no limit is
        significant.
    work
        Mean of the first gap without waiting [s].
    doubt
        Root mean square error of `work` due to the waiting being uncertain [s].
    """

    pool: Pool
    work: float
    doubt: float


class _Peak(NamedTuple):
    """The minimum of the deviance, -2 log likelihood: its value, the work, and its variance."""

    deviance: float
    work: float
    variance: float


def pool_by_rates(loads: Sequence[Seen], low: int) -> ByRates:
    """Estimate threads from mean times and rates.

    A limit is seen if it explains significantly more than none; the work is then that of the
    likeliest number of threads. If not, the model has no limit, and the whole first gap counts as
    work: less would contradict the loads. All numbers of threads together tell how far off that may
    be. The prior takes a pool as equally likely to be busy to any share a / m, where a is the
    offered load: m threads have the probability 1 / m - 1 / (m + 1), and numbers beyond those tried
    count as no limit. The likelihood of each number is integrated over the work by Laplace's
    method.

    Parameters
    ----------
    loads
        The service at one load or more; one load alone shows no threads.
    low
        The fewest threads that the spans allow.
    """
    each = Seen.columns(loads)
    free = _peak(each, None)
    if free.work <= 0:  # the requests take no time at all
        return ByRates(Pool(inf, low, inf), free.work, 0.0)
    peaks = _peaks(each, low, free)
    least = min(peak.deviance for peak in peaks.values())
    chances = _chances(free, peaks)
    weights = list(zip(chances.values(), [*peaks.values(), free], strict=True))
    if least >= free.deviance - _LIKELY:
        return ByRates(Pool(inf, low, inf), free.work, _doubt(free.work, weights, free))
    likely = sorted(peaks, key=lambda m: chances[m], reverse=True)
    reached = np.cumsum([chances[m] for m in likely])
    near = likely[: int(np.searchsorted(reached, _SURE * reached[-1])) + 1]
    work = peaks[likely[0]].work
    pool = Pool(float(likely[0]), min(near), float(max(near)))
    return ByRates(pool, work, _doubt(work, weights, free))


def _peaks(loads: Seen, low: int, free: _Peak) -> dict[int, _Peak]:
    """The peak of the likelihood for each number of threads, from the fewest until nobody waits."""
    offered = float((loads.rate * (loads.gap + loads.rest)).max())
    peaks: dict[int, _Peak] = {}
    m, most = low, max(low, int(min(2 * offered, _MOST_THREADS))) + 10
    while m < most and (m <= offered or not _limit_makes_no_difference(peaks, free)):
        peaks[m] = _peak(loads, m)
        m = _next(m)
    return peaks


def _limit_makes_no_difference(peaks: Mapping[int, _Peak], free: _Peak) -> bool:
    """Whether the last number of threads tried does as well as no limit."""
    return bool(peaks) and abs(peaks[max(peaks)].deviance - free.deviance) < _ALIKE


def _next(threads: int) -> int:
    """The next number of threads to try: one more, and from 64 on 3% more."""
    return threads + max(threads // 32, 1)


def _chances(free: _Peak, peaks: Mapping[int, _Peak]) -> dict[float, float]:
    """Probability of each number of threads; the last stands for all numbers beyond the others."""
    before = {m: 1 / m - 1 / _next(m) for m in peaks} | {inf: 1 / _next(max(peaks))}
    least = min(peak.deviance for peak in (*peaks.values(), free))
    each = {
        m: chance * exp((least - peak.deviance) / 2) * sqrt(peak.variance)
        for (m, chance), peak in zip(before.items(), [*peaks.values(), free], strict=True)
    }
    return {m: chance / sum(each.values()) for m, chance in each.items()}


def _doubt(work: float, weights: Sequence[tuple[float, _Peak]], free: _Peak) -> float:
    """Root mean square error of the work due to the unknown number of threads, beyond its own."""
    mean = sum(weight * ((peak.work - work) ** 2 + peak.variance) for weight, peak in weights)
    return sqrt(max(mean - free.variance, 0.0))


def _peak(loads: Seen, threads: int | None) -> _Peak:
    """The work of the highest likelihood, between 0 and the longest gap, by a grid that narrows."""
    low, high = 0.0, float(loads.gap.max())
    usual = 1 / float((1 / np.maximum(loads.error, _LEAST) ** 2).sum())
    for _ in range(_ZOOMS):
        works = np.linspace(low, high, _TRIED)
        deviances = _deviance(loads, threads, works)
        k = int(deviances.argmin())
        low, high = float(works[max(k - 1, 0)]), float(works[min(k + 1, _TRIED - 1)])
    work, least = float(works[k]), float(deviances[k])
    if least == inf:
        return _Peak(inf, work, usual)
    step = max(sqrt(usual) / 10, (high - low) / 2)
    down, up = _deviance(loads, threads, np.array([max(work - step, 0.0), work + step])).tolist()
    curved = (down + up - 2 * least) / step**2
    return _Peak(least, work, 2 / curved if 0 < curved < inf else usual)


def _deviance(loads: Seen, threads: int | None, works: FloatArray) -> FloatArray:
    """Deviance, -2 log likelihood, of each work, relative to gaps without any error of the law.

    Two errors of the law, u and v, and that of the growth of the rest, t, are common to all loads,
    so the gaps are correlated: their covariance is D + u u' + v v' + t t'. With S = (u, v, t), its
    inverse and determinant follow by Woodbury from

        M = 1 + S' D^-1 S.
    """
    waits, more, steep = np.zeros((3, len(loads.rate), len(works)))
    free = np.zeros_like(waits)
    if threads is not None:
        waits, more, steep = loads.wait(threads, works, _RATES, _STEEPER)
        offered = loads.rate * (works + loads.rest)
        free = np.maximum(threads - offered, 0.0) ** 2
        free /= np.maximum(2 * offered * (1 + loads.met.mean), _LEAST)
    known = (more < inf).all(axis=0)
    waits, more, steep = (np.where(known, each, 0.0) for each in (waits, more, steep))
    error = np.maximum(loads.error, _LEAST) ** 2
    off = loads.gap - waits - works
    scale = np.sqrt(waits * np.maximum(loads.gap - works, waits))
    unsure = loads.unsure * (more - waits) / (_MORE - 1)
    apart = error + unsure**2 + (ROUGH.apart * scale) ** 2
    shared = np.stack([ROUGH.common * scale, ROUGH.bunched * free * scale, steep - waits])
    among = np.eye(len(shared)) + np.einsum("ilw,jlw->wij", shared / apart, shared)
    along = np.einsum("ilw,lw->wi", shared / apart, off)
    told = (off**2 / apart).sum(axis=0)
    told -= np.einsum("wi,wi->w", along, np.linalg.solve(among, along[..., np.newaxis])[..., 0])
    spread = np.linalg.slogdet(among)[1] + np.log(apart / error).sum(axis=0)
    return np.where(known, told + spread, inf)
