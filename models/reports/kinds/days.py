"""A page on a model over a day: when it is worst, and how long a target is missed."""

from dataclasses import replace

import matplotlib
import numpy as np

from headway.errors import GraphError
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import unit
from headway.models.over.timeline import Timeline
from headway.models.plotting.graphs.figure import model_figure
from headway.models.plotting.looks.page import WIDTH
from headway.models.reports.contents import (
    DATA,
    METHOD,
    SYSTEM,
    TRUST,
    Block,
    Contents,
    Drawn,
    Grid,
    Headline,
    Light,
    Sign,
    Warned,
    Words,
    judged,
)
from headway.models.reports.figures import PageFigure, inline_svg
from headway.models.reports.paged import Paged
from headway.models.reports.pointer import readings
from headway.models.reports.units import numbers_of
from headway.models.showing.solved.timelines import SECOND, is_clock, lasting, moment
from headway.models.tables.forms import tables
from headway.numerals import significant
from headway.records import dataclass

_RATE = unit("op/s")
_HEIGHT = 4.4  # inches of both panels
_ROOM, _FULL = 0.7, 0.9  # utilisations from which a queue is long, and very long. Chosen


@dataclass(frozen=True)
class DayReport(Paged):
    """What a page shows of a model over a day.

    Parameters
    ----------
    timeline
        The model solved over its load.
    command
        The command that made the page.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.models.over.days import Day
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("servers").station("cpu", MMm(0.01, "servers"))
    >>> day = pool.at(servers=2).over(Day((0.0, 60.0, 120.0), (50.0, 150.0)), every=60)
    >>> "When is pool slowest?" in DayReport(day).to_html()
    True
    """

    timeline: Timeline
    command: str = ""


def day_units(report: DayReport) -> Scale:
    """The units of the day, and of the parameters shown with it."""
    model = report.timeline.model
    return units_of(report.timeline).completed(numbers_of(model), model.stated)


def day_contents(report: DayReport) -> Contents:
    """The contents of a page on a day."""
    timeline, scale = report.timeline, units_of(report)
    [table] = tables(timeline, scale)
    said = f"approximate: {timeline.approximation}", *timeline.notes
    notes = tuple(note for note in table.notes if note not in said)
    with matplotlib.rc_context({"text.parse_math": False}):
        chart = _chart(timeline)
        system = _system(timeline, scale)
    sections: dict[str, list[Block]] = {
        TRUST.name: _trust(timeline),
        SYSTEM.name: system,
        METHOD.name: [Words(f"The day was followed by the method {timeline.method}.")],
        DATA.name: [Grid(replace(table, title="Period by period", notes=notes))],
    }
    subject, headline = f"{timeline.model.title} over a day", _headline(timeline, scale)
    signs = _signs(timeline)
    return Contents(subject, headline, signs, chart, chart.words, sections, report.command)


def _chart(timeline: Timeline) -> PageFigure:
    """Load and response time over the day."""
    figure = timeline.plot()
    figure.axes[0].set_title("")  # the page itself says what it is
    figure.set_size_inches(WIDTH, _HEIGHT)
    words = "Load and capacity over the day above, and the response time below."
    svg = inline_svg(figure, "day", words)
    first, last = float(timeline.periods.starts[0]), float(timeline.periods.ends[-1])
    told = readings(figure, 1, lambda at: moment(at, last - first))
    return PageFigure(svg, words, told)


def _trust(timeline: Timeline) -> list[Block]:
    """What is approximate, and further notes."""
    said: list[tuple[Light | None, str, str]] = []
    if timeline.approximation:
        said.append((Light.LOOK, "approximate", timeline.approximation))
    said += [(None, "note", note) for note in timeline.notes]
    unmeasured = "Nothing was measured: this page is only as good as the model's values."
    return [Words(unmeasured), *([Warned(said)] if said else [])]


def _system(timeline: Timeline, scale: Scale) -> list[Block]:
    """The model's graph; a sentence if it is too large to draw."""
    try:
        figure = model_figure(timeline.model, scale)
    except GraphError as refusal:
        return [Words(f"{refusal}.")]
    words = f"Stations of {timeline.model.title}: {', '.join(timeline.model.graph.stations)}."
    return [Drawn(PageFigure(inline_svg(figure, "graph", words), words), words)]


def _headline(timeline: Timeline, scale: Scale) -> Headline:
    """Whether the target is kept, and when it is worst."""
    worst, length = timeline.worst, float(timeline.periods.ends[-1] - timeline.periods.starts[0])
    time = scale.text(float(worst.response_time[0]), SECOND)
    rate = scale.text(float(worst.arrival_rate[0]), _RATE)
    at = float(worst.starts[0])
    when = f"at {moment(at, length)}" if is_clock(at, length) else f"after {lasting(at)}"
    said = f"worst {when}, where the mean response time is {time} at {rate}"
    if timeline.target is None or timeline.time_over is None:
        return Headline(f"When is {timeline.model.title} slowest?", f"{said[0].upper()}{said[1:]}.")
    limit = scale.text(timeline.target, SECOND)
    over = timeline.time_over
    kept = f"Yes: the mean stays under {limit}"
    verdict = f"No: the mean is over {limit} for {lasting(over)}" if over > 0 else kept
    return Headline(f"Does {timeline.model.title} hold up all day?", f"{verdict}; {said}.")


def _signs(timeline: Timeline) -> list[Sign]:
    """The utilisation at the worst, and the time and share over the target."""
    worst = timeline.worst
    busy = float(np.nan_to_num(worst.utilisation[0]))
    signs = [
        Sign("busy then", f"{busy:.0%}", judged(busy, _ROOM, _FULL)),
    ]
    if timeline.time_over is not None:
        light = Light.BAD if timeline.time_over > 0 else Light.GOOD
        time = lasting(timeline.time_over) if timeline.time_over else "no time"
        signs.append(Sign("mean over the target for", time, light))
    if timeline.target is not None:
        share = f"{significant(100 * timeline.over_target, 3)}%"
        signs.append(Sign("requests over the target", share))
    return signs
