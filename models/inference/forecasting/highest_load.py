"""The highest load at which a response time keeps a limit, from all plausible curves.

Each plausible curve R(x) has one: the first load at which R = limit. The quantiles of these loads
at 2.5%, 50% and 97.5% are the interval and its middle.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.errors import InvalidParameter, UnknownParameter
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, Sense, read_goals
from headway.models.inference.certainty.draws import WORTH, Draws
from headway.models.inference.forecasting.elsewhere import RESPONSE_TIME, Elsewhere
from headway.models.inference.forecasting.next_load import PAYS, NextLoads, loads_about
from headway.models.inference.forecasting.predictions import ENDS
from headway.models.inference.searching.loss import loss_cost
from headway.models.language.units import Unit
from headway.models.measured.cells import Observed
from headway.models.measured.measurements import Measurements
from headway.models.measured.statistic import statistic
from headway.models.structure.graph import ModelGraph
from headway.models.structure.outputs import percent_of
from headway.models.tables.shown import Answer
from headway.numerals import digits, four_digits, significant
from headway.queueing.stations.base import MM1
from headway.records import dataclass

PRECISION = 0.05
"""Width that an interval may have, as a share of its lower end, if no other is asked for."""

_LIMIT = "response_time_p99<=300ms"  # an example of a limit
# logarithm of a likelihood ratio: the 99.95% quantile of chi-square with 4 degrees, halved
_UNLIKELY = 10.0
_FINE = 96  # loads between which crossings are interpolated; more would only cost time


@dataclass(frozen=True)
class HighestLoad(Answer):
    """The highest load under a limit, and the runs that would determine it better.

    Parameters
    ----------
    goal
        The limit.
    load, unit
        Name of the load, and its unit in tables.
    highest
        Lower end of the 95% interval, median, and upper end [SI]; the upper end is infinite if the
        data do not bound it.
    ahead
        Where to measure next.
    precision
        Width that the interval may have, as a share of its lower end, for no further run to be
        needed.
    budget
        Most further runs; None for any number.
    """

    goal: Goal
    load: str
    unit: Unit
    highest: FloatArray
    ahead: NextLoads
    precision: float = PRECISION
    budget: int | None = None

    def __repr__(self) -> str:
        low, middle, high = self.highest
        ends = f"{four_digits(low)} to {four_digits(high)}"
        return f"HighestLoad({self.goal.output}: {four_digits(middle)}, {ends})"

    @property
    def is_known(self) -> bool:
        """Whether the interval is as narrow as asked for; see `is_narrow`."""
        return is_narrow(self.highest[0], self.highest[2], self.precision, self.load)

    @property
    def reason(self) -> str:
        """Why there is no further run, or none after those listed."""
        if not self.highest[2] > 0:
            return "all plausible curves are above the limit at any load"
        if self.is_known:
            return f"the interval is at most {significant(100 * self.precision, 3)}% wide"
        if self.budget is not None and self.ahead.loads.size >= self.budget:
            return "the budget is spent"
        if self.ahead.loads.size and self.ahead.factors[-1] ** 2 <= 1 + self.precision:
            wide = significant(100 * self.precision, 3)
            return f"the interval is expected to be at most {wide}% wide"
        return f"a further run narrows the interval by less than {PAYS:.0%}"


def is_narrow(low: float, high: float, precision: float, load: str) -> bool:
    """Whether an interval is narrow enough: at most a share of its lower end, or one client.

    Parameters
    ----------
    low, high
        Ends of the interval [SI].
    precision
        The share.
    load
        Name of the load; a ``population`` is a whole number.

    Examples
    --------
    >>> is_narrow(100.0, 104.0, 0.05, "arrival_rate"), is_narrow(7.0, 8.0, 0.05, "population")
    (True, True)
    """
    return high <= low * (1 + precision) or (load == "population" and high - low <= 1)


def read_limit(target: str | Goal) -> Goal:
    """Read a limit such as ``response_time_p99<=300ms`` under which a load is sought.

    Parameters
    ----------
    target
        Text, or a goal.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For malformed text, anything but a response time or its percentile, and an impossible limit.

    Examples
    --------
    >>> read_limit("response_time_p99<=300ms").limit
    0.3
    >>> read_limit("throughput>=500")
    Traceback (most recent call last):
    ...
    headway.errors.InvalidParameter: target throughput: a load is sought under a limit of \
response_time or one of its percentiles; write response_time_p99<=300ms
    """
    known = ModelGraph("server").station("server", MM1(1e-3)).at().solve(1.0)
    try:
        goal = read_goals(known, [target])[0]
    except UnknownParameter:
        msg = f"target {target}: limit response_time or a percentile, as in {_LIMIT}"
        raise InvalidParameter(msg) from None
    if goal.output != RESPONSE_TIME and percent_of(goal.output) is None:
        msg = (
            f"target {goal.output}: a load is sought under a limit of response_time or one of its "
            f"percentiles; write {_LIMIT}"
        )
        raise InvalidParameter(msg)
    if goal.sense is not Sense.AT_MOST or goal.limit <= 0:
        msg = f"target {goal.output}: the limit must be above 0 and an upper one, as in <=300ms"
        raise InvalidParameter(msg)
    return goal


def check_search(budget: int | None, precision: float) -> None:
    """Refuse an impossible budget or precision.

    Parameters
    ----------
    budget
        Most runs; None for any number.
    precision
        Width that an interval may have, as a share of its lower end.

    Raises
    ------
    InvalidParameter
        For a negative number of runs, and a share that is not between 0 and 1.
    """
    if budget is not None and budget < 0:
        msg = f"the budget is {budget}; it must be 0 or more runs"
        raise InvalidParameter(msg)
    if not 0 < precision < 1:
        msg = f"the precision is {digits(precision)}; it must be between 0 and 1, such as 0.05"
        raise InvalidParameter(msg)


def percentile_column(measurements: Measurements, target: str | Goal) -> str | None:
    r"""The column that holds a limited percentile; None if there is none.

    Parameters
    ----------
    measurements
        A table.
    target
        The limit.

    Examples
    --------
    >>> table = Measurements.parse("rate_op_s,mean_ms,p99_ms\n1,2,3\n", "own.csv")
    >>> percentile_column(table, "response_time_p99<=5ms")
    'p99_ms'
    """
    percent = percent_of(read_limit(target).output)
    column = None if percent is None else column_of_percent(measurements, percent)
    return None if column is None else column.header


def column_of_percent(measurements: Measurements, percent: float) -> Observed | None:
    """The column that holds a percentile; None if there is none.

    Parameters
    ----------
    measurements
        A table.
    percent
        The percentage.
    """
    stated = ((statistic(c.role or c.header), c) for c in measurements.columns.values())
    return next((c for s, c in stated if s is not None and s.percent == percent), None)


def lawful(goal: Goal, draws: Sequence[Draws], top: float) -> list[Draws]:
    """Those of several models that have a law of the limited output.

    Parameters
    ----------
    goal
        The limit.
    draws
        Plausible values of the models.
    top
        A load [SI].

    Raises
    ------
    GraphError
        If no model has one, with the reason of the first.
    """
    percent = percent_of(goal.output)
    if percent is None:
        return list(draws)
    refused = [Elsewhere(each.problem, np.array([top])).refusal(percent) for each in draws]
    if refused and all(refused):
        raise next(filter(None, refused))
    return [each for each, why in zip(draws, refused, strict=True) if why is None]


def likely(draws: Sequence[Draws]) -> list[Draws]:
    """The draws that the data do not contradict; draws where the sampler got stuck are left out.

    With prior weight W and n points of squared residuals S, the likelihood is (W + S)^(-(n + W) /
    2), Student's, whatever the scatter. A draw whose likelihood is below exp(-10) of the best,
    farther than one in 2,000 lies with four parameters, is one where the sampler got stuck.

    Parameters
    ----------
    draws
        Plausible values of the models.
    """
    logs = [_log_likelihood(each) for each in draws]
    best = max((float(each.max()) for each in logs if each.size), default=0.0)
    kept = [log >= best - _UNLIKELY for log in logs]
    return [
        replace(each, free=each.free[keep], scatter=each.scatter[keep])
        for each, keep in zip(draws, kept, strict=True)
        if keep.any()
    ]


def _log_likelihood(draws: Draws) -> FloatArray:
    problem = draws.problem
    squares = np.asarray(2 * loss_cost(problem.residuals(draws.free), problem.loss))
    return np.asarray(-0.5 * (problem.counted + WORTH) * np.log(WORTH + squares))


def highest_loads(
    goal: Goal,
    draws: Sequence[Draws],
    load: str,
    top: float,
    within: tuple[float, float] = (0.0, math.inf),
) -> FloatArray:
    """The highest load under a limit for each plausible curve [SI].

    1/R falls almost linearly towards saturation (exactly so in M/M/1), so it is interpolated
    between loads: first over all loads, then within the intervals where curves cross the limit.

    Parameters
    ----------
    goal
        The limit.
    draws
        Plausible values of models that have a law of the limited output.
    load, top
        Name of the load, and the highest measured one [SI].
    within
        Lowest and highest load that counts [SI].

    Returns
    -------
    One load for each draw of each model, in order: 0 if even the lowest load is too high, and
    infinite if four times the highest measured load is not.
    """
    coarse = loads_about(load, top, within)
    rough = np.concatenate([_crossings(goal, each, coarse) for each in draws])
    gaps = np.unique(np.searchsorted(coarse, rough[np.isfinite(rough) & (rough > 0)]))
    gaps = gaps[(gaps > 0) & (gaps < coarse.size)]
    steps = max(_FINE // max(gaps.size, 1), 2)
    inside = [np.linspace(coarse[gap - 1], coarse[gap], steps + 1) for gap in gaps]
    fine = np.unique(np.concatenate([coarse, *inside]))
    if load == "population":
        fine = np.unique(np.round(fine))
    exact = np.concatenate([_crossings(goal, each, fine) for each in draws])
    return np.floor(exact) if load == "population" else exact


def _crossings(goal: Goal, draws: Draws, loads: FloatArray) -> FloatArray:
    times = Elsewhere(draws.problem, loads).times(draws.free, goal.output)
    met = goal.met(times)
    place = np.argmin(np.column_stack([met, np.zeros(len(met), bool)]), axis=1)
    after = np.clip(place, 1, max(loads.size - 1, 1))
    row = np.arange(len(met))
    pace = np.divide(1.0, times, out=np.zeros(times.shape), where=np.isfinite(times))
    low, high = pace[row, after - 1], pace[row, np.minimum(after, loads.size - 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip((low - 1 / goal.limit) / (low - high), 0.0, 1.0)
    gap = loads[np.minimum(after, loads.size - 1)] - loads[after - 1]
    between = loads[after - 1] + gap * np.nan_to_num(share)
    return np.where(place == 0, 0.0, np.where(place == loads.size, np.inf, between))


def interval(values: FloatArray) -> FloatArray:
    """Lower end, median and upper end of plausible values.

    Parameters
    ----------
    values
        Highest loads by draw [SI].
    """
    return np.asarray(np.quantile(values, ENDS, method="closest_observation"))


def enough(ahead: NextLoads, precision: float, budget: int | None) -> NextLoads:
    """As many runs as the budget allows, and as are needed to know a load precisely.

    Parameters
    ----------
    ahead
        Runs, the most useful first.
    precision
        Width that the interval may have, as a share of its lower end.
    budget
        Most further runs; None for any number.
    """
    narrow = ahead.factors[1:] ** 2 <= 1 + precision
    needed = int(np.argmax(narrow)) + 1 if narrow.any() else ahead.loads.size
    count = min(needed, ahead.loads.size if budget is None else budget)
    loads, factors = ahead.loads[:count], ahead.factors[: count + 1]
    return NextLoads(ahead.quantity, ahead.load, ahead.unit, loads, factors)
