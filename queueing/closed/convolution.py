"""Buzen's convolution for one class, with every factor scaled to a probability.

Jobs at a station of an *open* network with throughput c are distributed by f(n) ~ the station's
product form; the closed network with N jobs is that open one, given that it holds N. So G(n), the
convolution of all f, is the probability of n jobs in the open network: never above 1, and largest
near N if c is chosen to hold N on average. Nothing can overflow, every sum is of positive terms,
and X(N) = c G(N-1) / G(N) for any c.

Source: Buzen, "Computational algorithms for closed queueing networks with exponential
servers", CACM 16(9), 1973; Bruell and Balbo, *Computational Algorithms for Closed Queueing
Networks*, 1980, for load-dependent stations.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.closed.demands import ClosedStation
from headway.queueing.closed.series import FEW_POINTS, Factor, at_jobs, geometric, meet, thinking
from headway.queueing.compiled.library import LIBRARY, compiled
from headway.queueing.erlang.birth_death import weights
from headway.queueing.methods.memory import check_memory
from headway.queueing.network.arrays import spread
from headway.queueing.network.points import by_network
from headway.queueing.stations.abilities import ServiceKind

_FILTER_WORTH = 2_000_000  # steps of recurrences above which SciPy's filter is worth its import
BLOCK = 1 << 15  # numbers of a series, over all points of a block, that fit into the cache
_POINTS = 1 << 14  # points whose numbers fit into the second-level cache
_AT_ONCE = 2e8  # operations without checking for Ctrl-C, some 0.1 s
# above this, products of so many ratios lose digits, and sums of logarithms are used
_MANY_JOBS = 10_000
_FEW_STATES = 6000  # states of one station up to which arrays are faster than the kernel: measured
_CHAIN = 1 << 18  # states of networks of one station that are solved side by side
_CERTAIN = 1e150  # ratio of probabilities that counts as certainty
LEAST = 1e-280  # probabilities below this may have lost digits
_SERIES_END = 45.0  # exp(-45) is far below a rounding error


class Convolved(NamedTuple):
    """Results of a convolution.

    Parameters
    ----------
    rate
        Throughput, shape (points,) [1/s].
    single, several
        Queue lengths of single-server stations, and of those of varying speed, shape (stations,
        points).
    working
        Mean share of servers working, at stations of varying speed.
    """

    rate: FloatArray
    single: FloatArray
    several: FloatArray
    working: FloatArray


def convolution(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    think_time: FloatArray,
    population: FloatArray,
) -> Convolved:
    """Throughput and queue lengths of a network with stations of every kind.

    Parameters
    ----------
    queues, varying
        Single-server stations, and those whose speed varies with the number present.
    think_time
        Time Z without queueing, delays included, shape (points,) [s].
    population
        Jobs N, whole numbers, shape (points,).

    Raises
    ------
    InvalidParameter
        For a population whose series needs too much memory.
    """
    check_memory([int(population.max()) + 1], series_bytes(varying, population))
    numbers = _numbers(queues, varying, think_time)
    lone = len(varying) == 1 and not queues and population.size > 1
    unlike = bool((numbers != numbers[:, :1]).any())
    groups = [] if lone and unlike else by_network(numbers, population)
    states = population.size * (float(population.max()) + 1)
    few = LIBRARY is None or states < _FEW_STATES or population.max() > _MANY_JOBS
    if lone and few and len(groups) != 1:
        return _one_station(varying[0], think_time, population)
    if groups:
        return _by_group(queues, varying, think_time, population, groups)
    many = population.max() > _MANY_JOBS
    size = _block_size(population) if many else _points_at_once(queues, varying, population)
    parts = [slice(start, start + size) for start in range(0, population.size, size)]
    return _joined([_balanced(queues, varying, think_time, population, part) for part in parts])


def _block_size(population: FloatArray) -> int:
    """Number of points whose series fit into the cache."""
    return max(1, BLOCK // (int(population.max()) + 1))


def _points_at_once(
    queues: Sequence[ClosedStation], varying: Sequence[ClosedStation], population: FloatArray
) -> int:
    """Number of points that a kernel solves in one call."""
    rounds = sum(int(station.queues.max()) for station in queues) + len(queues)
    speeds = (len(varying) - 1) * sum(len(station.speeds) for station in varying)
    each = (float(population.max()) + 1) * (rounds + 8 * len(varying) + speeds + 1)
    return max(1, min(_POINTS, int(_AT_ONCE / each)))


def _balanced(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    think_time: FloatArray,
    population: FloatArray,
    part: slice,
) -> Convolved:
    """Solve some points, by open networks that hold about as many jobs."""
    queues, varying = ([points_of(c, part) for c in each] for each in (queues, varying))
    think_time, population = think_time[part], population[part]
    scale = balanced_rate(queues, varying, think_time, population)
    queues, varying = (
        [c._replace(demand=scale * c.demand) for c in each] for each in (queues, varying)
    )
    solve = _block if population.max() > _MANY_JOBS else _compiled
    found = solve(queues, varying, scale * think_time, population)
    return found._replace(rate=scale * found.rate)


def _compiled(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    thinking: FloatArray,
    population: FloatArray,
) -> Convolved:
    """Solve a block by the kernel; points beyond the range of numbers are tried again."""
    answers, least = _by_kernel(queues, varying, thinking, population)
    for point in np.flatnonzero(~((least >= LEAST) & np.isfinite(least))):
        one = slice(point, point + 1)
        single, several = ([points_of(c, one) for c in each] for each in (queues, varying))
        alone = _block(single, several, thinking[one], population[one])
        for whole, own in zip(answers, alone, strict=True):
            whole[..., one] = own
    return answers


def _by_kernel(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    thinking: FloatArray,
    population: FloatArray,
) -> tuple[Convolved, FloatArray]:
    """The kernel's results, and the smaller of G(N - 1) and G(N) by point."""
    points = population.size
    answers = Convolved(
        np.empty(points), *(np.empty((len(k), points)) for k in (queues, varying, varying))
    )
    least = np.empty(points)
    room = 8 * (3 + max(len(varying), 1)) * (int(population.max()) + 1)
    _closed_convolution(
        thinking,
        _table([station.demand / station.queues for station in queues], points),
        _table([station.queues for station in queues], points),
        _table([station.demand for station in varying], points),
        *_speeds_in_a_row(varying),
        _table([np.ones(1) if s.crew is None else s.crew for s in varying], points),
        population.astype(int),
        *answers,
        least,
        np.empty(room),
    )
    return answers, least


def _table(rows: Sequence[FloatArray], points: int) -> FloatArray:
    """The numbers of some stations as an array (stations, points)."""
    return np.array([spread(row, points) for row in rows]).reshape(-1, points)


def _speeds_in_a_row(
    varying: Sequence[ClosedStation],
) -> tuple[FloatArray, NDArray[np.intp], NDArray[np.intp]]:
    """Speeds of all stations in one array; the number of speeds of each, and of its points."""
    speeds = [station.speeds for station in varying]
    row = np.concatenate([np.zeros(0), *(each.ravel() for each in speeds)])
    lengths, widths = np.array([each.shape for each in speeds], int).reshape(-1, 2).T
    return row, np.ascontiguousarray(lengths), np.ascontiguousarray(widths)


@compiled
def _closed_convolution(
    mean: FloatArray,
    ratio: FloatArray,
    count: FloatArray,
    load: FloatArray,
    speeds: FloatArray,
    lengths: NDArray[np.intp],
    widths: NDArray[np.intp],
    crew: FloatArray,
    population: NDArray[np.intp],
    rate: FloatArray,
    single: FloatArray,
    several: FloatArray,
    working: FloatArray,
    least: FloatArray,
    work: FloatArray,  # noqa: ARG001 - in which the kernel calculates
) -> None:
    """Solve networks with the time unit of the open network, so that its throughput is 1.

    Parameters
    ----------
    mean
        Mean number of thinking jobs, shape (points,).
    ratio, count
        Utilisation of each separate queue, and the number of these, shape (stations, points).
    load, speeds, crew
        Offered work at stations of varying speed, shape (stations, points); their speeds in one
        array, and crews.
    lengths, widths
        Number of speeds of each, and of its points: 1 or all.
    population
        N, shape (points,).
    rate, single, several, working
        As in `Convolved`.
    least
        The smaller of G(N - 1) and G(N), which has lost digits if too small; 1 where that was
        checked.
    """
    ends = np.cumsum(lengths * widths)
    tables = [
        speeds[end - length * width : end].reshape(length, width)
        for end, length, width in zip(ends, lengths, widths, strict=True)
    ]
    none = np.ones((1, 1))
    queues = [
        ClosedStation(ServiceKind.QUEUE, r * c, c, none) for r, c in zip(ratio, count, strict=True)
    ]
    varying = [
        ClosedStation(ServiceKind.VARYING, work, none[0], table, crew=own)
        for work, table, own in zip(load, tables, crew, strict=True)
    ]
    jobs, least[:] = population.astype(float), 1.0
    size = _block_size(jobs)
    for start in range(0, jobs.size, size):
        part = slice(start, start + size)
        some, others = ([points_of(c, part) for c in each] for each in (queues, varying))
        found = _block(some, others, mean[part], jobs[part])
        for whole, own in zip((rate, single, several, working), found, strict=True):
            whole[..., part] = own


def _joined(blocks: Sequence[Convolved]) -> Convolved:
    """Blocks of points, joined."""
    return Convolved(*(np.concatenate(each, axis=-1) for each in zip(*blocks, strict=True)))


def _one_station(
    station: ClosedStation, think_time: FloatArray, population: FloatArray
) -> Convolved:
    """Throughput and queue length of many networks of one station, by birth and death.

    Jobs that are not at the station think, so the arrival rate is (N - n) / Z, as in the machine
    repair model. Points of any networks are solved side by side.
    """
    size = max(1, _CHAIN // (int(population.max()) + 1))
    parts = [slice(start, start + size) for start in range(0, population.size, size)]
    each = [_chain(points_of(station, part), think_time[part], population[part]) for part in parts]
    return _joined(each)


def _chain(station: ClosedStation, think_time: FloatArray, population: FloatArray) -> Convolved:
    present = np.arange(1, int(population.max(initial=1)) + 1)
    speeds = station.speeds[np.minimum(present, len(station.speeds)) - 1].T
    away = np.maximum(population[:, None] - present + 1, 0)
    demand = np.broadcast_to(station.demand, population.shape)
    instant = demand / _CERTAIN >= think_time  # thinking jobs return practically at once
    still = np.where(instant, 1.0, think_time)[:, None]
    ratios = away * np.where(instant, _CERTAIN, demand / still[:, 0])[:, None] / speeds
    chances = weights(ratios)
    chances /= chances.sum(axis=1, keepdims=True)
    # Arrivals equal departures: they are counted at the likelier numbers of jobs.
    served = speeds / np.maximum(demand, LEAST)[:, None]
    through = np.where(ratios < 1, chances[:, :-1] * away / still, chances[:, 1:] * served)
    crew = np.ones(1) if station.crew is None else station.crew
    used = (chances[:, 1:] * (np.minimum(present, crew[:, None]) / crew[:, None])).sum(axis=1)
    none = np.empty((0, population.size))
    return Convolved(through.sum(axis=1), none, (chances[:, 1:] @ present)[None], used[None])


def series_bytes(varying: Sequence[ClosedStation], population: FloatArray) -> float:
    """Memory of the series of one operating point: one per varying station, and a few more [B].

    Examples
    --------
    >>> series_bytes([], np.array([999.0]))
    48000.0
    """
    return 8.0 * (float(population.max()) + 1) * (6 + 2 * len(varying))


def _numbers(
    queues: Sequence[ClosedStation], varying: Sequence[ClosedStation], think_time: FloatArray
) -> FloatArray:
    """All numbers that define a network, by operating point."""
    lists = [think_time[None]]
    for station in (*queues, *varying):
        lists += [station.demand[None], station.queues[None]]
        lists += [station.speeds] if station.speeds.shape[1] > 1 else []
    return np.vstack([np.broadcast_to(one, (len(one), think_time.size)) for one in lists])


def _by_group(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    think_time: FloatArray,
    population: FloatArray,
    groups: Sequence[NDArray[np.intp]],
) -> Convolved:
    """Solve network by network, with all populations of each from as few series as possible."""
    rate = np.zeros(population.shape)
    single = np.zeros((len(queues), population.size))
    several, working = (np.zeros((len(varying), population.size)) for _ in range(2))
    for group in groups:
        one = slice(int(group[0]), int(group[0]) + 1)
        network = [points_of(c, one) for c in queues], [points_of(c, one) for c in varying]
        todo = group[np.argsort(population[group], kind="stable")]
        while todo.size:
            jobs = population[todo].astype(int)
            answers = _series(*network, think_time[one], jobs)
            done = todo[-answers.rate.size :]
            rate[done], single[:, done], several[:, done], working[:, done] = answers
            todo = todo[: todo.size - done.size]
    return Convolved(rate, single, several, working)


def _series(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    think_time: FloatArray,
    jobs: NDArray[np.intp],
) -> Convolved:
    """Results for ascending populations from the largest, down to where the series underflows."""
    most = jobs[-1:].astype(float)
    scale = balanced_rate(queues, varying, think_time, most)
    size = int(jobs[-1]) + 1
    base = thinking(size, scale * think_time)
    ratios = [scale * station.demand / station.queues for station in queues]
    base = with_servers(base, ratios, queues)
    factors = [Factor(station, scale, size) for station in varying]
    chances = reduce(lambda series, factor: factor.times(series), factors, base)
    _check_range(np.where(chances[-1] < LEAST, 0.0, chances[-1]))
    sizes = jobs[int(np.searchsorted(jobs, _first_exact(chances[:, 0]))) :]
    top = chances[sizes, 0]
    before = np.where(sizes > 0, chances[np.maximum(sizes - 1, 0), 0], 0.0)
    single = [
        _lengths(chances, ratio)[sizes, 0] * c.queues / top
        for ratio, c in zip(ratios, queues, strict=True)
    ]
    own = [_own_numbers(base, factors, k) for k in range(len(factors))]
    several, working = ([each[k][sizes, 0] / top for each in own] for k in (0, 1))
    answers = _stack(single, top), _stack(several, top), _stack(working, top)
    return Convolved(scale * before / top, *answers)


def _first_exact(chances: FloatArray) -> int:
    """Smallest population from which each probability, and the one before, has all its digits."""
    low = np.flatnonzero(chances < LEAST)
    return int(low[-1]) + 2 if low.size else 0


def _lengths(chances: FloatArray, ratio: FloatArray) -> FloatArray:
    """Sum of ratio**j G(n - j) over j = 1..n, for every n."""
    shifted = np.zeros(chances.shape)
    shifted[1:] = ratio * chances[:-1]
    return geometric(shifted, ratio)


def _own_numbers(
    base: FloatArray, factors: Sequence["Factor"], which: int
) -> tuple[FloatArray, FloatArray]:
    """Mean number at a varying station, and its share working, times G(n), for every n."""
    others = [factor for k, factor in enumerate(factors) if k != which]
    series = reduce(lambda series, factor: factor.times(series), others, base)
    return factors[which].number_times(series), factors[which].working_times(series)


def _check_range(top: FloatArray) -> None:
    if not ((top > 0) & np.isfinite(top)).all():
        msg = "convolution exceeded the range of floating-point numbers; use method schweitzer"
        raise InvalidParameter(msg)


def points_of(whole: ClosedStation, part: slice) -> ClosedStation:
    """A station at some of the operating points."""

    def cut(values: FloatArray) -> FloatArray:
        return values[..., part] if values.shape[-1] > 1 else values

    servers, crew = (None if one is None else cut(one) for one in (whole.servers, whole.crew))
    return ClosedStation(
        whole.kind, cut(whole.demand), cut(whole.queues), cut(whole.speeds), servers, crew
    )


def _block(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    mean: FloatArray,
    population: FloatArray,
) -> Convolved:
    """Solve a block of points in the time unit of the open network, with throughput 1."""
    size, scale = int(population.max()) + 1, np.ones(population.shape)
    series = thinking(size, mean)
    ratios = [station.demand / station.queues for station in queues]
    series = with_servers(series, ratios, queues)
    factors = [Factor(station, scale, size) for station in varying]
    prefixes = list(
        accumulate(factors[:-1], lambda series, each: each.times(series), initial=series)
    )
    chances, last = prefixes[-1], factors[-1].series(size) if factors else None
    top = _at_end(chances, last, population)
    before = _at_end(chances, last, population - 1)
    sound = (np.where(population > 0, np.minimum(top, before), top) >= LEAST) & np.isfinite(top)
    if population.size > 1 and not sound.all():
        return _one_by_one(queues, varying, mean, population)
    _check_range(np.where(sound, top, 0.0))
    if last is None:
        lengths = [_queue_length(chances, ratio, population) for ratio in ratios]
    else:
        lengths = [meet(_lengths(chances, ratio), last, population) for ratio in ratios]
    single = _stack([x * c.queues / top for x, c in zip(lengths, queues, strict=True)], top)
    own = _varying_numbers(prefixes, factors, last, population)
    several, working = (_stack([x / top for x in each], top) for each in own)
    return Convolved(before / top, single, several, working)


def _one_by_one(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    mean: FloatArray,
    population: FloatArray,
) -> Convolved:
    """Solve points one by one, if a series for the largest loses a small one's digits."""
    answers = []
    for point in range(population.size):
        one = slice(point, point + 1)
        network = [points_of(c, one) for c in queues], [points_of(c, one) for c in varying]
        answers.append(_block(*network, mean[one], population[one]))
    return _joined(answers)


def _stack(rows: list[FloatArray], like: FloatArray) -> FloatArray:
    return np.stack(rows) if rows else np.empty((0, *like.shape))


def balanced_rate(
    queues: Sequence[ClosedStation],
    varying: Sequence[ClosedStation],
    think_time: FloatArray,
    population: FloatArray,
) -> FloatArray:
    """Throughput of the open network that holds about N jobs, by Newton's method.

    It need not be exact. m servers count as one that is m times as fast after a delay, and so does
    any station that speeds up; the delay is reduced if further jobs more than make up for the time
    alone.
    """
    fast = [
        at_jobs(
            np.broadcast_to(s.speeds, (len(s.speeds), population.size)),
            np.minimum(len(s.speeds), population) - 1,
        )
        for s in varying
    ]
    times = [s.demand / s.queues for s in queues]
    times += [s.demand / speed for s, speed in zip(varying, fast, strict=True)]
    counts = [s.queues for s in queues] + [np.ones(1)] * len(varying)
    still = think_time + sum(
        np.maximum(s.demand * _least_stay(s, population) - s.demand / speed, 0)
        for s, speed in zip(varying, fast, strict=True)
    )
    jobs = np.maximum(population, 0.5)
    time = np.array([spread(t, jobs.size) for t in times]).reshape(-1, jobs.size)
    count = np.array([spread(n, jobs.size) for n in counts]).reshape(-1, jobs.size)
    slowest = time.max(axis=0, initial=np.finfo(float).tiny)
    scale = np.minimum(jobs / (still + (time * count).sum(0)), jobs / (jobs + 1) / slowest)
    whole = count * time
    for _ in range(4):
        free = 1 - scale * time
        each = whole / free
        excess = scale * (still + each.sum(0)) - jobs
        each /= free
        scale = scale - excess / (still + each.sum(0))
    return np.asarray(scale)


def _least_stay(station: ClosedStation, population: FloatArray) -> FloatArray:
    """Smallest n over the speed with n jobs, for n up to N; 1 for servers."""
    most = len(station.speeds)
    stays = np.minimum.accumulate(np.arange(1.0, most + 1)[:, None] / station.speeds)
    return at_jobs(np.broadcast_to(stays, (most, population.size)), population.clip(1, most) - 1)


def with_servers(
    series: FloatArray, ratios: Sequence[FloatArray], queues: Sequence[ClosedStation]
) -> FloatArray:
    """Convolve with every single server's geometric distribution."""
    rounds = [
        np.where(number < station.queues, ratio, 0.0)
        for ratio, station in zip(ratios, queues, strict=True)
        for number in range(int(station.queues.max()))
    ]
    if len(series) * len(rounds) >= _FILTER_WORTH and series.shape[1] <= FEW_POINTS:
        return _filtered(series, np.array(rounds))
    for ratio in rounds:
        series = geometric((1 - ratio) * series, ratio)
    return series


def _filtered(series: FloatArray, ratios: FloatArray) -> FloatArray:
    """Convolve by SciPy's cascade of filters, in compiled code, point by point."""
    from scipy.signal import sosfilt

    sections = np.zeros((len(ratios), 6))
    sections[:, 3] = 1
    result = np.empty(series.shape)
    for point in range(series.shape[1]):
        sections[:, 0], sections[:, 4] = 1 - ratios[:, point], -ratios[:, point]
        result[:, point] = sosfilt(sections, series[:, point])
    return result


def _queue_length(chances: FloatArray, ratio: FloatArray, population: FloatArray) -> FloatArray:
    """Sum of ratio**j G(N - j) over j = 1..N: the mean number at a single server, times G(N)."""
    if chances.shape[1] <= FEW_POINTS:
        each = zip(chances.T, ratio, population.astype(int).tolist(), strict=True)
        return np.array([_one_queue_length(g[: n + 1], float(r)) for g, r, n in each])
    total, wanted = np.zeros(population.shape), np.zeros(population.shape)
    ends = set(population.astype(int).tolist())
    for n in range(1, len(chances)):
        total = ratio * (chances[n - 1] + total)
        if n in ends:
            wanted = np.where(population == n, total, wanted)
    return wanted


def _one_queue_length(chances: FloatArray, ratio: float) -> float:
    """Sum the series of a single point as far as its terms matter: term j < U**j G(N)."""
    last = len(chances) - 1
    if ratio == 0 or last == 0:
        return 0.0
    utilisation = ratio * chances[-2] / chances[-1]
    count = last
    if utilisation < 1:
        count = min(last, 1 + int(_SERIES_END / -np.log(utilisation)))
    powers = np.exp(np.log(ratio) * np.arange(count, 0, -1))
    return float(powers @ chances[last - count : last])


def _varying_numbers(
    prefixes: Sequence[FloatArray],
    factors: Sequence[Factor],
    last: FloatArray | None,
    population: FloatArray,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Mean numbers at the varying stations, and shares of them that work, times G(N).

    From the stations before each, itself, and the stations after.
    """
    if last is None:
        return [], []
    numbers, crew = np.arange(len(last))[:, None], factors[-1].crew
    lengths = [meet(prefixes[-1], numbers * last, population)]
    working = [meet(prefixes[-1], np.minimum(numbers, crew) / crew * last, population)]
    after = last
    for factor, before in zip(reversed(factors[:-1]), reversed(prefixes[:-1]), strict=True):
        lengths.append(meet(factor.number_times(before), after, population))
        working.append(meet(factor.working_times(before), after, population))
        after = factor.times(after)
    return lengths[::-1], working[::-1]


def _at_end(series: FloatArray, last: FloatArray | None, population: FloatArray) -> FloatArray:
    """The value at N only of a series, convolved with that of the last station if there is one."""
    if last is not None:
        return meet(series, last, population)
    return np.where(population >= 0, at_jobs(series, population), 0.0)
