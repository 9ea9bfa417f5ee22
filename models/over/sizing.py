"""The cheapest configuration that meets its targets over a day, or in its worst period."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import HeadwayError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, Sense, read_goal
from headway.models.over.days import Day
from headway.models.over.over import day_of, over_model
from headway.models.over.timeline import Periods, Timeline
from headway.models.sizing.choices import Columns, grid_of
from headway.models.sizing.cost import cost_of
from headway.models.sizing.judge import Verdict, all_met, all_misses
from headway.models.sizing.size import Size
from headway.models.sizing.sizing import Extent, Question, answered
from headway.models.sizing.watched import Progress, watched
from headway.models.structure.outputs import Of, read_part
from headway.numerals import digits

if TYPE_CHECKING:
    from headway.models.structure.model import Model

MOST = 64
"""Most configurations that are solved over a day; each takes up to some seconds."""

WORST = "worst."
"""Prefix of a name: the target is for the worst period, not for the whole day."""

_KNOWN = ("response_time", "utilisation", "queue_length", "loss_probability")


def size_over(
    model: "Model",
    day: "Day | Path | str | float",
    targets: Sequence[str],
    choose: Mapping[str, Sequence[float] | FloatArray],
    cost: str,
    every: str | float | None = None,
    progress: Progress | None = None,
) -> Size:
    """Find the cheapest configuration that meets all targets over a day.

    Parameters
    ----------
    model, day, every
        As for `over_model`.
    targets
        Targets for the whole day, such as ``response_time_p95<=300ms`` or
        ``response_time_over_1s<=1%``; for its worst period with ``worst.`` before the name.
    choose, cost
        Values to choose from by parameter [SI], at most `MOST` configurations; and their cost.
    progress
        As for `headway.models.sizing.sizing.size_model`.

    Raises
    ------
    InvalidParameter
        For targets that a day does not have or no configuration meets, and too many configurations;
        and as for `over_model`.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers")).at()
    >>> day = Day((0.0, 60.0, 120.0), (50.0, 300.0))
    >>> choose = {"servers": range(1, 9)}
    >>> size_over(pool, day, ["worst.response_time<=16ms"], choose, "servers", every=60).best.values
    {'servers': 4.0}
    """
    grid = grid_of(model, choose)
    if grid.size > MOST:
        msg = f"{grid.size} configurations are too many to follow over a day; offer at most {MOST}"
        raise InvalidParameter(msg)
    goals = tuple(_goal(model, text) for text in targets)
    load = day_of(model, day)
    judge = ByDay(model, goals, load, every)
    peak = model
    if model.graph.needs_arrival_rate and not load.relative:
        peak = model.at(arrival_rate=max(load.rates))
    told = watched(judge, model, progress, grid.size)
    found = answered(Question(peak, goals, grid, cost_of(cost, grid.names), told), Extent())
    best = judge.timeline(found.best.values)
    length = digits(float(best.day.ends[0] - best.day.starts[0]))
    said = (f"followed over {length} s by method {best.method}",)
    about = (f"approximate: {best.approximation}",) if best.approximation else ()
    return found.over_a_day((*said, *about, *best.notes))


def _goal(model: "Model", text: str) -> Goal:
    """Read a target of a day."""
    name = re.split("[<>=]", text)[0].strip()
    part = name.removeprefix(WORST)
    known = part in _KNOWN or re.match("response_time_(p|over_)", part)
    if not known or read_part(part, Of.NETWORK) is None:
        msg = (
            f"target {text!r}: targets of a day are {', '.join(_KNOWN)}, response_time_p95 and "
            "response_time_over_1s, with worst. before them for its worst period"
        )
        raise InvalidParameter(msg)
    return read_goal(model, text)


@dataclass(frozen=True, eq=False)
class ByDay:
    """Judges by solving each configuration over a day.

    Parameters
    ----------
    model, goals
        The model, and the goals that must hold.
    day, every
        As for `over_model`.
    known
        Days that were solved, by the values of the choices; or why they were not.
    """

    model: "Model"
    goals: tuple[Goal, ...]
    day: Day
    every: str | float | None = None
    known: dict[tuple[tuple[str, float], ...], Timeline | HeadwayError] = field(
        default_factory=dict
    )

    def timeline(self, values: Mapping[str, float]) -> Timeline:
        """A configuration solved over the day.

        Raises
        ------
        HeadwayError
            If no method solves it.
        """
        key = tuple(values.items())
        if key not in self.known:
            numbers = [_asked(goal) for goal in self.goals]
            times = sorted({n for part, n in numbers if part.startswith("response_time_over_")})
            percents = sorted({n for part, n in numbers if part.startswith("response_time_p")})
            if len(times) > 1:
                raise InvalidParameter("give one time of response_time_over_TIME for all targets")
            try:
                found = over_model(
                    self.model.at(values), self.day, times[0] if times else None,
                    every=self.every, percentiles=percents,
                )  # fmt: skip
                _check_answered(found, self.goals)
                self.known[key] = found
            except HeadwayError as error:
                self.known[key] = error
        known = self.known[key]
        if isinstance(known, HeadwayError):
            raise known
        return known

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations."""
        names = list(columns)
        rows = np.stack([np.ravel(columns[name]) for name in names], axis=1)
        outputs = np.full((len(rows), len(self.goals) + 1), np.nan)
        for place, row in enumerate(rows.tolist()):
            try:
                found = self.timeline(dict(zip(names, row, strict=True)))
            except HeadwayError:
                continue
            outputs[place] = [*(_value(found, g) for g in self.goals), found.day.response_time[0]]
        if np.isnan(outputs).all():
            self.timeline(dict(zip(names, rows[-1].tolist(), strict=True)))
        goals = outputs[:, :-1]
        measure = np.where(np.isnan(outputs[:, -1]), np.inf, outputs[:, -1])
        missed = all_misses(self.goals, goals).max(axis=1)
        return Verdict(all_met(self.goals, goals), goals, measure, missed)

    def measures(self, columns: Columns) -> FloatArray:
        """Mean response times of the whole day."""
        return self(columns).measure

    def full(self) -> "ByDay":
        """Judge without shortcuts, as always."""
        return self

    @property
    def along_axes(self) -> bool:
        """Never: configurations are solved one by one."""
        return False

    @property
    def at_once(self) -> bool:
        """Never: configurations are solved one by one."""
        return False

    @property
    def is_slow(self) -> bool:
        """Always: configurations are solved one by one."""
        return True

    @property
    def chance(self) -> None:
        """Nothing is uncertain."""
        return


def _check_answered(found: Timeline, goals: Sequence[Goal]) -> None:
    """Refuse targets for the times of answered requests, if other clients give up."""
    for goal in goals if found.periods.clients else ():
        part, _ = _asked(goal)
        if part.startswith("response_time") and not part.startswith("response_time_over_"):
            msg = (
                f"{found.model.name}: its clients give up, and {goal.output} counts only those who "
                "are answered; set a target that counts all: response_time_over_100ms<=1%"
            )
            raise InvalidParameter(msg)


def _asked(goal: Goal) -> tuple[str, float]:
    """The output of a goal, and the number in its name."""
    part = goal.output.removeprefix(WORST)
    request = read_part(part, Of.NETWORK)
    assert request is not None  # noqa: S101 - the goal was read
    return part, float(request.number)


def _value(found: Timeline, goal: Goal) -> float:
    """The value of a goal's output, for the whole day or its worst period."""
    periods = found.periods if goal.output.startswith(WORST) else found.day
    values = _numbers(periods, *_asked(goal))
    worst = np.nanmax if goal.sense is Sense.AT_MOST else np.nanmin
    return float(worst(values)) if np.isfinite(values).any() else float("nan")


def _numbers(periods: Periods, part: str, number: float) -> FloatArray:
    if part.startswith("response_time_over_"):
        return np.asarray(periods.over_target, float)
    if part.startswith("response_time_p"):
        return periods.percentiles[number]
    return np.asarray(getattr(periods, part), float)
