r"""Whether two builds of a system differ, by load tests of both at the same loads.

If y_bk are the logarithms of what was measured in the runs of build b at load k, the difference
there is d_k = mean(y_2k) - mean(y_1k). Runs of one build at one load have the variance s**2, the
same at all loads, so that over K loads

    d = sum(d_k) / K,    var d = s**2 sum(1/n_1k + 1/n_2k) / K**2,                       (1)

with Student's law, whose degrees of freedom are the runs beyond the first of each build and load.
If no load was repeated, the d_k are taken as measurements of one difference: var d = sum((d_k -
d)**2) / (K (K - 1)), with K - 1 degrees.

A difference of delta is detected at the 5% level with 80% power by n runs of each load and build,

    n = 2 ((1.96 + 0.84) s / delta)**2 / K.                                              (2)

Source: Montgomery, *Design and Analysis of Experiments*, 8th ed., 2013, sections 2.4 and 4.1.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, MeasurementError
from headway.kinds import FloatArray
from headway.models.inference.server import ServerFit, choose_form
from headway.models.language.units import ONE, Unit, unit
from headway.models.measured.points import Point
from headway.models.reading.loadtest import LoadTest
from headway.models.tables.shown import Answer
from headway.numerals import digits, some_of
from headway.records import dataclass

SURE = 0.95
"""Confidence of intervals."""

USUAL = 0.05
"""Difference to be detected, if none is named."""

_TOLD = 1.96 + 0.84  # in (2): two-sided 5%, and a power of 80%
_SAME = 0.02  # relative difference of loads that were meant to be equal
_SHOWN = 4  # loads that a refusal names


@dataclass(frozen=True)
class Difference:
    """The difference of one quantity between two builds.

    Parameters
    ----------
    quantity
        Its name, such as ``response_time``, ``response_time_p99`` or ``saturation_throughput``.
    unit
        Its unit.
    load
        The load; None over all loads, and for a quantity of the whole curve.
    first, second
        Geometric means of the measurements of each build [SI].
    ratio, low, high
        The second over the first, and its 95% interval; NaN if its error is not known.
    more_is_better
        Whether a rise is an improvement.
    """

    quantity: str
    unit: Unit
    load: float | None
    first: float
    second: float
    ratio: float
    low: float
    high: float
    more_is_better: bool

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes that there is no difference."""
        return self.high < 1 or self.low > 1

    @property
    def is_worse(self) -> bool:
        """Whether the second build is worse, beyond the scatter of the runs."""
        return self.is_clear and (self.ratio > 1) != self.more_is_better

    def is_worse_by(self, share: float) -> bool:
        """Whether the whole interval is worse than by a share."""
        return self.high < 1 / (1 + share) if self.more_is_better else self.low > 1 + share

    def may_be_worse_by(self, share: float) -> bool:
        """Whether part of the interval is worse than by a share."""
        if math.isnan(self.low):
            return True
        return self.low < 1 / (1 + share) if self.more_is_better else self.high > 1 + share


@dataclass(frozen=True)
class Builds(Answer):
    """How a second build differs from a first.

    Parameters
    ----------
    first, second
        Names of the builds.
    load_unit
        Unit of the loads.
    overall
        The difference of each quantity, over all loads that both builds have.
    by_load
        The difference of each quantity at each load.
    repeated
        Whether runs were repeated, so that intervals come from their scatter.
    at_most
        The largest worsening allowed.
    runs
        Runs of each load and build that would detect such a difference; None if their scatter is
        not known.
    notes
        What could not be compared, and why.
    fewest
        Fewest runs of a load and build.
    """

    first: str
    second: str
    load_unit: Unit
    overall: tuple[Difference, ...]
    by_load: tuple[Difference, ...]
    repeated: bool
    at_most: float = USUAL
    runs: int | None = None
    notes: tuple[str, ...] = ()
    fewest: int = 1

    @property
    def has_enough(self) -> bool:
        """Whether there are enough runs to detect the largest difference allowed.

        Examples
        --------
        >>> Builds("old", "new", ONE, (), (), True, runs=3, fewest=3).has_enough
        True
        """
        return self.runs is not None and self.fewest >= self.runs

    @property
    def worse(self) -> tuple[Difference, ...]:
        """Quantities that are certainly worse by more than is allowed."""
        return tuple(one for one in self.overall if one.is_worse_by(self.at_most))

    @property
    def undecided(self) -> tuple[Difference, ...]:
        """Quantities that may or may not be worse by more than is allowed."""
        may = (one for one in self.overall if one.may_be_worse_by(self.at_most))
        return tuple(one for one in may if one not in self.worse)


def compare_builds(first: LoadTest, second: LoadTest, at_most: float = USUAL) -> Builds:
    r"""Compare load tests of two builds at the loads that both have.

    Parameters
    ----------
    first, second
        What `headway.read` returns, for the build before and the build after. Files of one load are
        repeats.
    at_most
        The largest worsening allowed, as a share above 0.

    Raises
    ------
    MeasurementError
        For tests without a common load, or one open and the other closed.
    InvalidParameter
        For a worsening that is not above 0.

    Examples
    --------
    >>> def runs(slower):
    ...     return LoadTest(tuple(
    ...         Point("wrk", population=n, throughput=n / time, response_time=time, file=f"{n}.txt")
    ...         for n in (1, 2, 4) for time in (0.010 * n * slower, 0.0101 * n * slower)
    ...     ))
    >>> builds = compare_builds(runs(1.0), runs(1.1))
    >>> [one.quantity for one in builds.worse], round(builds.overall[0].ratio, 6)
    (['response_time', 'throughput'], 1.1)

    References
    ----------
    Montgomery, *Design and Analysis of Experiments*, 8th ed., 2013, sections 2.4 and 4.1.
    """
    if not at_most > 0:
        msg = f"--at-most is {digits(at_most)}; give the largest worsening allowed, such as 5%"
        raise InvalidParameter(msg)
    loads, part, load_unit = _common_loads(first, second)
    quantities = _quantities(first.points, second.points, part)
    overall: list[Difference] = []
    by_load: list[Difference] = []
    scatter: list[float] = []
    for name, own_unit, better in quantities:
        one, other = (
            [_logs(test.points, name, part, load) for load in loads] for test in (first, second)
        )
        known = [k for k in range(len(loads)) if one[k].size and other[k].size]
        pairs = [(one[k], other[k]) for k in known]
        if not pairs:
            continue
        kind = name, own_unit, better
        overall.append(_over_all(pairs, kind))
        by_load += _at_each(pairs, [loads[k] for k in known], kind)
        scatter.append(_spread(pairs)[0])
    limits, notes = _saturations(first, second)
    every = _all_logs(first, second, part, loads)
    repeated, fewest = any(map(_repeats, every)), min(one.size for pair in every for one in pair)
    names = _names(first, second)
    found = Builds(*names, load_unit, (*overall, *limits), tuple(by_load), repeated, at_most)
    needed = _runs(scatter, at_most, len(loads)) if repeated else None
    return replace(found, runs=needed, notes=notes, fewest=fewest)


_Kind = tuple[str, Unit, bool]
_Pair = tuple[FloatArray, FloatArray]


def _names(first: LoadTest, second: LoadTest) -> tuple[str, str]:
    return first.source, second.source


def _common_loads(first: LoadTest, second: LoadTest) -> tuple[list[float], str, Unit]:
    """Loads that both builds have, and what they count: clients, or the rate that was asked for."""
    for part, load_unit in (("offered_rate", unit("op/s")), ("population", ONE)):
        each = [[getattr(p, part) for p in test.points] for test in (first, second)]
        if all(value is not None for values in each for value in values):
            others = np.array(each[1])
            near = [v for v in dict.fromkeys(each[0]) if np.any(np.abs(others / v - 1) <= _SAME)]
            if near:
                return sorted(near), part, load_unit
            seen = (some_of([digits(v) for v in dict.fromkeys(e)], _SHOWN) for e in each)
            msg = f"{first.source} and {second.source} have no load in common: {' and '.join(seen)}"
            raise MeasurementError(msg)
    msg = (
        f"{first.source} and {second.source}: the files do not say what the load of each "
        "point was; give clients with --clients, or the rate asked for with --rate"
    )
    raise MeasurementError(msg)


def _quantities(
    first: Sequence[Point], second: Sequence[Point], part: str
) -> list[tuple[str, Unit, bool]]:
    """Quantities that both measured: times, percentiles, and throughput if it was not asked for."""
    percents = [set.intersection(*(set(p.percentiles) for p in each)) for each in (first, second)]
    kept = [q for q in (50.0, 95.0, 99.0) if q in percents[0] & percents[1]]
    names = ["response_time", *(f"response_time_p{digits(q)}" for q in kept)]
    listed = [(name, unit("s"), False) for name in names]
    return [*listed, ("throughput", unit("op/s"), True)] if part == "population" else listed


def _logs(points: Sequence[Point], quantity: str, part: str, load: float) -> FloatArray:
    """Logarithms of a quantity in every run at a load."""
    here = [p for p in points if abs((getattr(p, part) or 0.0) / load - 1) <= _SAME]
    values = [_value(point, quantity) for point in here]
    return np.log([value for value in values if value is not None and value > 0])


def _value(point: Point, quantity: str) -> float | None:
    name, _, percent = quantity.partition("_p")
    value: float | None = point.percentiles.get(float(percent)) if percent else getattr(point, name)
    return value


def _all_logs(first: LoadTest, second: LoadTest, part: str, loads: Sequence[float]) -> list[_Pair]:
    return [
        (
            _logs(first.points, "response_time", part, load),
            _logs(second.points, "response_time", part, load),
        )
        for load in loads
    ]


def _repeats(pair: _Pair) -> bool:
    return max(one.size for one in pair) > 1


def _spread(pairs: Sequence[_Pair]) -> tuple[float, int]:
    """Standard deviation of runs of one build at one load, and its degrees of freedom."""
    each = [one for pair in pairs for one in pair]
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in each)
    freedom = sum(one.size - 1 for one in each)
    return (math.sqrt(squares / freedom) if freedom else math.nan), freedom


def _over_all(pairs: Sequence[_Pair], kind: _Kind) -> Difference:
    """Equation (1) over all loads."""
    each = np.array([two.mean() - one.mean() for one, two in pairs])
    spread, freedom = _spread(pairs)
    error = spread * math.sqrt(sum(1 / one.size + 1 / two.size for one, two in pairs)) / each.size
    if freedom == 0:
        freedom = each.size - 1
        error = float(each.std(ddof=1)) / math.sqrt(each.size) if freedom else math.nan
    means = [float(np.mean([pair[side].mean() for pair in pairs])) for side in (0, 1)]
    return _difference(kind, None, means, error, freedom)


def _at_each(pairs: Sequence[_Pair], loads: Sequence[float], kind: _Kind) -> list[Difference]:
    spread, freedom = _spread(pairs)
    return [
        _difference(
            kind,
            load,
            [float(one.mean()), float(two.mean())],
            spread * math.sqrt(1 / one.size + 1 / two.size),
            freedom,
        )
        for load, (one, two) in zip(loads, pairs, strict=True)
    ]


def _difference(
    kind: _Kind, load: float | None, means: Sequence[float], error: float, freedom: int
) -> Difference:
    from scipy.special import stdtrit

    name, own_unit, better = kind
    reach = float(stdtrit(freedom, (1 + SURE) / 2)) * error if freedom else math.nan
    apart = means[1] - means[0]
    low, high = math.exp(apart - reach), math.exp(apart + reach)
    first, second = math.exp(means[0]), math.exp(means[1])
    return Difference(name, own_unit, load, first, second, math.exp(apart), low, high, better)


def _saturations(
    first: LoadTest, second: LoadTest
) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """The ratio of saturation throughputs from a fit to each build, or why there is none."""
    try:
        fits = [choose_form(test) for test in (first, second)]
    except HeadwayError as error:
        return (), (f"saturation is not compared: {error}",)
    undescribed = [fit for fit in fits if not fit.describes]
    limits = [_limits(fit) for fit in fits]
    if undescribed or not all(one.size for one in limits):
        why = "no form describes both" if undescribed else "the data do not determine it"
        return (), (f"saturation is not compared: {why}",)
    middles = [float(np.median(one)) for one in limits]
    count = min(one.size for one in limits)
    random = np.random.default_rng(1)
    one, two = (random.permutation(each)[:count] for each in limits)
    low, high = np.quantile(two / one, [(1 - SURE) / 2, (1 + SURE) / 2])
    first_limit, second_limit = middles
    limit = Difference(
        "saturation_throughput",
        unit("op/s"),
        None,
        first_limit,
        second_limit,
        second_limit / first_limit,
        float(low),
        float(high),
        more_is_better=True,
    )
    return (limit,), ()


def _limits(fit: ServerFit) -> FloatArray:
    """Plausible saturation throughputs [1/s]."""
    every = [each.limits() for each in fit.draws]
    limits = np.concatenate(every) if every else np.empty(0)
    return limits[np.isfinite(limits) & (limits > 0)]


def _runs(scatter: Sequence[float], at_most: float, loads: int) -> int | None:
    """Equation (2), for the quantity with the largest scatter; at least one run."""
    worst = max((each for each in scatter if math.isfinite(each)), default=math.nan)
    if math.isnan(worst):
        return None
    return max(1, math.ceil(2 * (_TOLD * worst / math.log1p(at_most)) ** 2 / loads))
