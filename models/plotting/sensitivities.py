"""Sensitivities drawn: a tornado of elasticities for each output."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.models.analysis.sensitivity import Effect, Sensitivity
from headway.models.plotting.figures import title_of
from headway.models.plotting.looks.page import LETTER, sheet
from headway.models.plotting.pieces import HATCHES, MODELLED, QUIET, SECOND, light_grid

_LEAST = 1e-3  # least elasticity that has a bar


def sensitivity_figure(sensitivity: Sensitivity) -> Figure:
    """Draw the effect of 1% of each parameter on each output, the largest on top."""
    panels = {
        output: bars for output in sensitivity.effects if (bars := _bars(sensitivity, output))
    }
    if not panels:
        raise InvalidParameter("no parameter has an effect; there is nothing to plot")
    ratios = [1.5 + len(bars) for bars in panels.values()]
    figure = sheet(1.2 + 0.35 * sum(ratios))
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=ratios)[
        :, 0
    ]
    for axes, (output, bars) in zip(all_axes, panels.items(), strict=True):
        _draw_bars(axes, bars)
        axes.set_title(output.replace("_", " "), fontsize=LETTER)
    all_axes[-1].set_xlabel("change [%] per 1% more of a parameter")
    figure.suptitle(title_of(sensitivity.model))
    return figure


def _bars(sensitivity: Sensitivity, output: str) -> list[tuple[str, Effect]]:
    """Parameters and effects that have a bar, the smallest first."""
    worth = ((n, e) for n, e in sensitivity.effects[output].items() if abs(e.elasticity) > _LEAST)
    return sorted(worth, key=lambda bar: round(abs(bar[1].elasticity), 6))


def _draw_bars(axes: Axes, bars: list[tuple[str, Effect]]) -> None:
    """Draw increases and decreases in two colours, distinguished in grey by side and hatching."""
    sizes = [effect.elasticity for _, effect in bars]
    colours = [MODELLED if size > 0 else SECOND for size in sizes]
    half = [effect.half_width or 0.0 for _, effect in bars]
    whiskers = half if any(half) else None
    drawn = axes.barh([name for name, _ in bars], sizes, color=colours, xerr=whiskers, capsize=3)
    for bar, size in zip(drawn, sizes, strict=True):
        bar.set_hatch(HATCHES[0] if size > 0 else HATCHES[1])
        bar.set_edgecolor("white")
    axes.bar_label(drawn, [f"{size:+.2f}" if size > 0 else "" for size in sizes], padding=3)
    for row, size in enumerate(sizes):
        if size <= 0:  # beside the line at zero, where no name of a parameter is
            axes.annotate(f"{size:+.2f}", (0, row), (4, 0), textcoords="offset points", va="center")
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.margins(x=0.15)
    light_grid(axes)
