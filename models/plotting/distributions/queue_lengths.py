"""Figures of the number of jobs at stations: probabilities at one point, quantiles over many."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headway.kinds import FloatArray
from headway.models.plotting.figures import title_of, unit_of_input
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import LETTER, sheet
from headway.models.plotting.pieces import axis_label, light_grid, literal, style, visible
from headway.models.showing.solutions import swept
from headway.models.solving.solutions.queue_lengths import QueueLengths, covered
from headway.models.solving.solutions.solution import Solution
from headway.numerals import four_digits
from headway.queueing.numbers.laws import NumberLaw

_SHOWN = 0.999  # share of the time that a panel covers
# quantiles at both ends of a band, and its opacity
_BANDS = ((0.05, 0.95, 0.2), (0.25, 0.75, 0.35))


def queue_lengths_figure(lengths: QueueLengths[Solution]) -> Figure:
    """Draw a panel per station: probabilities of 0, 1, 2... jobs, or their quantiles."""
    across = len(swept(lengths.solution)) == 1 and np.prod(lengths.solution.shape) > 1
    count = len(lengths.stations)
    figure = sheet(1.2 + 2.4 * count)
    panels = figure.subplots(count, squeeze=False)[:, 0]
    for place, (axes, name) in enumerate(zip(panels, lengths.stations, strict=True)):
        if across:
            _draw_across(axes, lengths, name, place)
        else:
            _draw_chances(axes, lengths.laws[name][0], place)
        axes.set_title(literal(name), loc="left", fontsize=LETTER)
        light_grid(axes)
    figure.suptitle(f"{title_of(lengths.solution.model)}: jobs at stations", fontsize="large")
    return figure


def _draw_chances(axes: Axes, law: NumberLaw | None, place: int) -> None:
    """Bars of the probabilities, and a line at the mean."""
    axes.set_xlabel("jobs there")
    axes.set_ylabel("chance [%]")
    if law is None:
        axes.text(0.5, 0.5, "saturated", transform=axes.transAxes, ha="center")
        return
    chances = 100 * law.chances(max(covered(law, _SHOWN), 1))
    axes.bar(np.arange(len(chances)), chances, width=0.85, color=style(place).colour)
    axes.axvline(law.mean, color="black", linestyle="--", label=f"mean {four_digits(law.mean)}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(left=-0.6)
    legend(axes)


def _draw_across(axes: Axes, lengths: QueueLengths[Solution], name: str, place: int) -> None:
    """The mean over what was swept, within bands between quantiles."""
    solution = lengths.solution
    key = swept(solution)[0]
    values = np.broadcast_to(np.asarray(solution.model.inputs[key], float), solution.shape).ravel()
    shown = unit_of_input(solution, key)
    x, colour = values / shown.scale, style(place).colour
    for low, high, alpha in _BANDS:
        least, most = (_flat(lengths, name, share) for share in (low, high))
        label = f"{100 * (high - low):.0f}% of the time"
        axes.fill_between(
            x, least, most, color=colour, alpha=alpha, linewidth=0, step="mid", label=label
        )
    means = [np.nan if law is None else law.mean for law in lengths.laws[name]]
    axes.plot(x, visible(means), color=colour, label="mean")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("jobs there")
    axes.set_xlabel(axis_label(key, shown))
    legend(axes)


def _flat(lengths: QueueLengths[Solution], name: str, share: float) -> FloatArray:
    return np.ravel(np.asarray(lengths.covering(name, share), float))
