"""What a page shows first if clients retry: whether retries bring the server down."""

from math import ceil, isfinite

import matplotlib

from headway.errors import GraphError
from headway.models.analysis.retries import Retries, retries
from headway.models.language.scales import units_of
from headway.models.plotting.looks.page import WIDTH
from headway.models.plotting.retries import retries_figure
from headway.models.reports.alone import ModelReport
from headway.models.reports.contents import Headline, Light, Sign
from headway.models.reports.figures import PageFigure, inline_svg
from headway.models.reports.report import Report
from headway.models.structure.network_kind import NetworkKind

_HEIGHT = 3.9  # inches, of a chart


def tipping_of(report: Report | ModelReport) -> Retries | None:
    """The states of a server whose clients retry; None for any other model."""
    effects = report.sensitivity
    if effects is None or effects.model.network_kind is not NetworkKind.CLIENTS:
        return None
    try:
        return retries(effects.model)
    except GraphError:  # for several queues, or a kind whose states are not known
        return None


def tipping_headline(report: Report | ModelReport, found: Retries, now: str) -> Headline:
    """The loads between which it can tip over, and what would tip it.

    Parameters
    ----------
    report
        What the page is about.
    found
        The states of the server.
    now
        What is said about the operating point.
    """
    scale, folds, tipping = units_of(report), found.tipping.folds, found.tipping
    question = f"Will retries bring {report.title} down?"
    if folds is None:
        return Headline(question, f"No: they cannot tip it over at any load; {now}.")
    low, high = (scale.text(rate, found.unit) for rate in (folds.vanishes, folds.tips))
    if tipping.load >= folds.tips:
        return Headline(question, f"Yes: above {high} there is no good state; {now}.")
    if tipping.load <= folds.vanishes:
        return Headline(question, f"Not below {low}; above that it can stay down; {now}.")
    said = f"They can: between {low} and {high} a burst can tip it over, and it stays down"
    if tipping.stays is not None and tipping.stays > folds.vanishes:
        said += f", though not for long below {scale.text(tipping.stays, found.unit)}"
    if isfinite(tipping.pulse):
        said += f"; here a burst of {ceil(tipping.pulse):,} requests is enough"
    return Headline(question, f"{said}. Until then, {now}.")


def states_drawing(found: Retries) -> PageFigure:
    """The rate of attempts in each state over the load."""
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = retries_figure(found)
        figure.axes[0].set_title("")  # the page itself says what it is
        figure.set_size_inches(WIDTH, _HEIGHT)
    words = (
        "Attempts over the load. In the shaded range, a burst can lift the server to the upper "
        "line, where it stays."
    )
    return PageFigure(inline_svg(figure, "states", words), words)


def tipping_signs(report: Report | ModelReport, found: Retries) -> list[Sign]:
    """The loads at which it can tip over, and at which it must.

    Parameters
    ----------
    report
        What the page is about.
    found
        The states of the server.
    """
    if found.tipping.folds is None:
        return []
    folds, load, scale = found.tipping.folds, found.tipping.load, units_of(report)
    lasts = found.tipping.lasts
    is_over = load >= (folds.tips if lasts is None else max(lasts, folds.vanishes))
    light = Light.BAD if is_over else Light.LOOK if load > folds.vanishes else Light.GOOD
    signs = [
        Sign("can stay down above", scale.text(folds.vanishes, found.unit), light),
        Sign("goes down at", scale.text(folds.tips, found.unit)),
    ]
    if lasts is not None:
        signs.insert(1, Sign("soon goes down by chance above", scale.text(lasts, found.unit)))
    if found.tipping.stays is not None:
        signs.insert(
            1, Sign("stays down for long above", scale.text(found.tipping.stays, found.unit))
        )
    return signs
