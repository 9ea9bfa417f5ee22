"""The highest load under a limit, found run by run: where to measure next, and when to stop.

The law of one queue leads towards the limit with a few runs. Then all forms that fit say where it
is reached: the next run is there, and further ones are where the fit expects to learn most. A form
takes part as soon as there are as many loads as it has parameters: its plausible curves then spread
widely, but are not wrong, while simpler forms alone may agree on a wrong answer.
"""

import math
from collections.abc import Sequence

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, MeasurementError
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal
from headway.models.inference.advice import highest_load
from headway.models.inference.closed_curves import BEHIND
from headway.models.inference.forecasting.first_loads import (
    MOST_STEP,
    by_saturation,
    without_delay,
)
from headway.models.inference.forecasting.highest_load import (
    PRECISION,
    HighestLoad,
    check_search,
    is_narrow,
    read_limit,
)
from headway.models.inference.server import Progress, choose_form, no_progress
from headway.models.language.units import ONE, Unit, unit
from headway.models.measured.columns import load_column
from headway.models.measured.points import Point, measurements_of
from headway.models.measured.roles import PERCENTILE, ColumnRole
from headway.models.reading.loadtest import LoadTest
from headway.models.structure.outputs import percent_of
from headway.models.tables.shown import Answer
from headway.numerals import counted, digits, significant, some_of
from headway.records import dataclass

MOST_RUNS = 30
"""Most runs, if no budget is given."""

STEP = 2.0
"""Largest ratio of the next number of clients to the most so far, as long as nothing bounds it."""

_SHOWN = 3  # columns that a refusal lists
_STEPS = 2  # steps to the highest load that may be measured, if only that is given
# ratio to the limit: a longer time is from a queue that never settled, which no curve describes
_FAR = 10.0
_FITS = 3  # different loads from which forms are fitted: the parameters of one queue and a delay
_SPARE = 0  # further different loads that a form needs: none, as priors count too


@dataclass(frozen=True)
class NextRun(Answer):
    """The next load to measure, or the answer if there is none.

    Parameters
    ----------
    goal
        The limit.
    load, unit
        ``arrival_rate`` or ``population``, and the unit of loads in the measurements.
    at
        The next load [SI]; None if the search has ended.
    highest
        Lower end of the 95% interval of the highest load, its middle and upper end [SI]; 0 and
        infinity if nothing bounds it.
    runs
        Number of runs so far.
    reason
        Why this load is next, or why the search has ended.
    """

    goal: Goal
    load: str
    unit: Unit
    at: float | None
    highest: FloatArray
    runs: int
    reason: str

    def __repr__(self) -> str:
        return f"NextRun({'finished' if self.at is None else self.number}: {self.reason})"

    @property
    def number(self) -> str:
        """The next load in the unit of the tool, without the unit; empty at the end.

        Examples
        --------
        >>> next_run(None, "response_time<=20ms", within=(100, 900)).number
        '100'
        """
        return "" if self.at is None else _plain(self.at / self.unit.scale)


def _plain(number: float) -> str:
    """A number with three digits, written so that any tool reads it."""
    decimals = max(2 - math.floor(math.log10(number)), 0)
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True)
class _Measured:
    """The loads at which a limit was kept, and those at which it was not.

    ``behind`` is the lowest load at which the server fell behind, ``completed`` its throughput
    there. It is a hint where to measure, but no evidence, as a server may complete less in
    overload.
    """

    goal: Goal
    load: str
    unit: Unit
    runs: int
    kept: tuple[Point, ...]
    holds: FloatArray
    fails: FloatArray
    behind: float
    completed: float | None = None

    @property
    def top(self) -> float:
        """The highest load [SI]."""
        return float(np.concatenate([self.holds, self.fails]).max())

    @property
    def bracket(self) -> FloatArray:
        """The gap between loads that keep the limit and that fail: lower end, middle, upper end."""
        high = float(self.fails.min()) if self.fails.size else math.inf
        below = self.holds[self.holds < high]
        low = float(below.max()) if below.size else 0.0
        return np.array([low, math.sqrt(low * high) if low and math.isfinite(high) else low, high])

    def answer(self, at: float | None, highest: FloatArray, reason: str) -> NextRun:
        """The next run, or the end."""
        if at is not None and self.load == "population":
            at = float(max(round(at), 1))
        return NextRun(self.goal, self.load, self.unit, at, highest, self.runs, reason)


def next_run(
    test: LoadTest | None,
    target: str | Goal,
    budget: int = MOST_RUNS,
    within: tuple[float, float] = (0.0, math.inf),
    precision: float = PRECISION,
    progress: Progress = no_progress,
) -> NextRun:
    r"""Where to measure next, given the runs so far, to find the highest load under a limit.

    Parameters
    ----------
    test
        The runs so far; None before the first.
    target
        The limit, such as ``response_time_p99<=300ms``.
    budget
        Most runs in all, including those so far.
    within
        Lowest and highest load that may be measured [SI].
    precision
        Width that the interval may have at the end, as a share of its lower end.
    progress
        Called with the name of each form that is fitted.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For any other target, an impossible budget or precision, and limits out of order.
    MeasurementError
        For runs without a response time, and runs that contradict each other: the limit fails at
        low loads and holds at high ones.
    GraphError
        For a percentile that was not measured and that no plausible form has.

    Examples
    --------
    >>> from headway.models.reading.loadtest import LoadTest
    >>> from headway.models.measured.points import Point
    >>> def run(rate):
    ...     return Point("mine", throughput=rate, response_time=1e-3 / (1 - rate / 1000))
    >>> float(next_run(LoadTest((run(100.0),)), "response_time<=5ms").at)
    400.0
    >>> runs = tuple(map(run, [100.0, 200.0, 400.0, 600.0, 790.0, 805.0, 810.0]))
    >>> found = next_run(LoadTest(runs), "response_time<=5ms")
    >>> found.at, bool(found.highest[0] <= 800 <= found.highest[2])
    (None, True)
    """
    goal = read_limit(target)
    _check(budget, within, precision)
    if test is None:
        start = within[0] or (within[1] / MOST_STEP**_STEPS if math.isfinite(within[1]) else 1.0)
        empty, rate = np.array([]), unit("op/s")
        none = _Measured(goal, "arrival_rate", rate, 0, (), empty, empty, math.inf)
        if budget == 0:
            return none.answer(None, none.bracket, "the budget is spent")
        return none.answer(start, none.bracket, "nothing is measured yet")
    known = _measured(test, goal)
    found, why = _fitted(known, within, precision, progress)
    if found is None:
        return _stepped(known, budget, within, precision, why)
    return _advised(known, found, budget, within)


def _check(budget: int, within: tuple[float, float], precision: float) -> None:
    check_search(budget, precision)
    if not 0 <= within[0] < within[1]:
        msg = (
            f"loads from {digits(within[0])} to {digits(within[1])}: the lowest must be 0 or more, "
            "and below the highest"
        )
        raise InvalidParameter(msg)


def _measured(test: LoadTest, goal: Goal) -> _Measured:
    """Sort the loads of a test by whether they keep a limit."""
    points = _loaded(test)
    closed = points[0].load_unit == "clients"
    late = [point for point in points if _is_overloaded(point, goal)]
    kept = tuple(point for point in points if not _is_overloaded(point, goal))
    times = _times(kept, goal, test.source)
    loads = np.array(sorted(times))
    met = goal.met([float(np.median(times[load])) for load in loads.tolist()])
    fallen = [point.load for point in late]
    holds, fails = loads[met], np.concatenate([loads[~met], fallen])
    _refuse_falling(holds, fails, goal, test.source)
    load = "population" if closed else "arrival_rate"
    shown = ONE if closed else load_column(test.measurements).unit
    bound = min(fallen, default=math.inf)
    done = [point.throughput for point in late if point.load == bound]
    completed = None if closed else min(filter(None, done), default=None)
    return _Measured(goal, load, shown, len(points), kept, holds, fails, bound, completed)


def _loaded(test: LoadTest) -> list[Point]:
    """The runs with a load; refuses to find none."""
    points = [point for point in test.points if math.isfinite(point.load) and point.load > 0]
    if not points:
        unused = some_of([str(each) for each in test.columns if not each.role], _SHOWN)
        told = any(math.isfinite(point.load) for point in test.points) or not unused
        none = "no run has a load above 0"
        msg = f"{test.source}: {none if told else f'no column tells the load; not used: {unused}'}"
        raise MeasurementError(msg)
    return points


def _times(kept: Sequence[Point], goal: Goal, source: str) -> dict[float, list[float]]:
    """The limited quantity in each run, by load."""
    times: dict[float, list[float]] = {}
    for point in kept:
        time = _time(point, goal)
        if time is None:
            is_mean = percent_of(goal.output) is None
            wanted = "response time" if is_mean else f"{goal.output} and no mean"
            msg = f"{point.file or source}: a run has no {wanted}, which the target limits"
            raise MeasurementError(msg)
        times.setdefault(point.load, []).append(time)
    return times


def _refuse_falling(holds: FloatArray, fails: FloatArray, goal: Goal, source: str) -> None:
    """Refuse runs that keep the limit only at loads above those that do not."""
    if holds.size and fails.size and fails.max() < holds.min():
        msg = (
            f"{source}: {goal.output} is over the limit up to {digits(float(fails.max()))} "
            f"and below it from {digits(float(holds.min()))} on; check the runs, as a response "
            "time that falls with the load contradicts every model"
        )
        raise MeasurementError(msg)


def _is_overloaded(point: Point, goal: Goal) -> bool:
    """Whether a run completed less than was asked for, or its queue grew until it ended."""
    asked, done, time = point.offered_rate, point.throughput, _time(point, goal)
    is_behind = asked is not None and done is not None and done < BEHIND * asked
    return is_behind or (time is not None and time > _FAR * goal.limit)


def _time(point: Point, goal: Goal) -> float | None:
    """The limited quantity, or the mean if that was not measured."""
    percent = percent_of(goal.output)
    time = None if percent is None else point.percentiles.get(percent)
    return point.response_time if time is None else time


def _fitted(
    known: _Measured, within: tuple[float, float], precision: float, progress: Progress
) -> tuple[HighestLoad | None, str]:
    """The highest load by all forms that fit, or why there is none."""
    loads = {point.load for point in known.kept}
    if len(loads) < _FITS:
        return None, f"{counted(len(loads), 'load')} sustained; a fit needs {_FITS}"
    source = known.kept[0].file or "runs"
    try:
        table = measurements_of(known.kept, source)
        server = choose_form(table, y=_column(known), spare=_SPARE, progress=progress)
        progress("the highest load", 0.0)
        return (
            highest_load(
                server.best,
                known.goal,
                server.draws,
                precision=precision,
                within=(within[0], min(within[1], known.behind)),
                behind=known.behind,
            ),
            "",
        )
    except HeadwayError as error:
        if _is_unmeasured(known):
            raise
        why = str(error).partition(";")[0].removeprefix(f"{source}: ")
        return None, f"no fit: {why}"


def _is_unmeasured(known: _Measured) -> bool:
    """Whether a limited percentile is missing in some run, so that only a law gives it."""
    percent = percent_of(known.goal.output)
    return percent is not None and any(percent not in point.percentiles for point in known.kept)


def _column(known: _Measured) -> str | None:
    """The column of a percentile that every run measured; None for the default output."""
    percent = percent_of(known.goal.output)
    if known.load == "population" and percent is None:
        return None
    if percent is None or _is_unmeasured(known):
        return "response_s"
    return ColumnRole(PERCENTILE, digits(percent)).written


def _stepped(
    known: _Measured, budget: int, within: tuple[float, float], precision: float, why: str
) -> NextRun:
    """The next run without a fit: by the law of one queue, or by bisection."""
    low, middle, high = bracket = known.bracket
    if is_narrow(low, high, precision, known.load) and low:
        return known.answer(
            None, bracket, f"the runs themselves bound it within {significant(100 * precision, 3)}%"
        )
    if low >= within[1] * (1 - precision):
        return known.answer(None, bracket, "the limit holds at the highest load")
    if not low and high <= within[0] * (1 + precision):
        return known.answer(None, bracket, "the limit does not hold at the lowest load")
    if not low and known.load == "population" and high <= 1:
        return known.answer(None, bracket, "the limit does not hold with one client")
    if known.runs >= budget:
        return known.answer(None, bracket, "the budget is spent")
    if not low:
        return known.answer(max(high / STEP, within[0]), bracket, f"the limit never held; {why}")
    at = min(_by_one_queue(known), within[1])  # NaN would fail every comparison
    if math.isinf(high):
        at = at if at > low * (1 + precision) else min(STEP * low, within[1])
        return known.answer(at, bracket, f"the limit still holds; {why}")
    at = at if low < at < high else float(middle)
    return known.answer(
        at, bracket, f"between a load that holds the limit and one that does not; {why}"
    )


def _by_one_queue(known: _Measured) -> float:
    """The next load by the law of one queue, if there are too few for a fit; otherwise NaN.

    With neither a run that fell behind nor a second load, it is a long step away. Otherwise it is
    where the limit is reached, or between the loads where that may be.
    """
    low, _, high = map(float, known.bracket)
    runs = sorted((point.load, _time(point, known.goal) or 0.0) for point in known.kept)
    loads, times = np.array(runs).T
    if known.load == "population" or np.unique(loads).size >= _FITS or times.min() <= 0:
        return math.nan
    limit, most = known.goal.limit, MOST_STEP * low
    if known.completed is not None:
        return min(by_saturation(loads, times, limit, known.completed), most)
    bound = without_delay(loads, times, limit)
    return min(math.sqrt(bound * (low if times[-1] <= limit else high)), most)


def _advised(
    known: _Measured, found: HighestLoad, budget: int, within: tuple[float, float]
) -> NextRun:
    """The next run by a fit, or the end."""
    low, middle, _ = found.highest
    if middle == 0:
        return _stepped(known, budget, within, found.precision, "the fit's highest load is lower")
    if found.is_known:
        return known.answer(None, found.highest, found.reason)
    if low >= within[1]:
        return known.answer(None, found.highest, "the limit holds at the highest load")
    if known.runs >= budget:
        return known.answer(None, found.highest, "the budget is spent")
    return known.answer(*_wanted(known, found, within))


def _wanted(
    known: _Measured, found: HighestLoad, within: tuple[float, float]
) -> tuple[float | None, FloatArray, str]:
    """Where a fit wants the next run, what it knows so far, and why there."""
    low, middle, high = map(float, found.highest)
    step = STEP if known.load == "population" else MOST_STEP
    up = min(step * known.top, within[1])
    is_open = not known.fails.size and up > known.top
    if is_open and middle >= up:
        return up, found.highest, "the highest load is probably beyond this one"
    near = any(low <= point.load <= high for point in known.kept)
    most = min(known.behind, within[1]) / (1 + found.precision)
    if not near and math.isfinite(middle) and middle <= most:
        return middle, found.highest, "where the limit is probably reached"
    if found.ahead.loads.size:
        return float(found.ahead.loads[0]), found.highest, "a run here narrows the interval most"
    if is_open and math.isinf(high):
        return up, found.highest, "nothing bounds the highest load yet"
    return None, found.highest, found.reason
