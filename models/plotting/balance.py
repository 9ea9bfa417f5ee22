"""Bars of a balance: one panel per phase, one group per machine, one bar per resource."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.models.analysis.balance import Balance, Bars
from headway.models.analysis.growth import Growth
from headway.models.language.scales import units_of
from headway.models.language.units import Unit
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import HATCHES, light_grid, literal, plain_log_axis, style
from headway.numerals import power_of_ten, significant


def balance_figure(balance: Balance) -> Figure:
    """Draw the load that fills each resource on a logarithmic axis, with the smallest marked."""
    phases = list(dict.fromkeys(phase for bars in balance.machines for phase in bars.phases))
    resources = list(dict.fromkeys(x.resource for bars in balance.machines for x in bars.limits))
    figure = sheet(0.8 + 2.9 * len(phases))
    panels = figure.subplots(len(phases), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    unit = units_of(balance).unit(balance.machines[0].unit)
    for axes, phase in zip(panels, phases, strict=True):
        for index, bars in enumerate(balance.machines):
            _draw_group(axes, index, bars, phase, resources, unit)
        plain_log_axis(axes)
        axes.set_ylim(*_ends(balance, unit))
        axes.set_ylabel(f"{phase} saturation [{unit}]".strip())
        light_grid(axes)
        axes.grid(visible=False, axis="x")
    panels[0].set_title(_name_machines(panels[-1], balance))
    _legend(figure, resources)
    return figure


def growth_figure(growth: Growth) -> Figure:
    """Draw when each resource becomes full, the first one on top, with a bar from now on."""
    fillings = growth.fillings()[::-1]
    several = len({(one.machine, one.phase) for one in fillings}) > 1
    titles, common = _shortened([one.machine for one in fillings])
    names = [
        " ".join(filter(None, (title, literal(one.phase), literal(one.resource))))
        if several
        else literal(one.resource)
        for title, one in zip(titles, fillings, strict=True)
    ]
    figure = sheet(1.2 + 0.3 * len(fillings))
    axes = figure.subplots()
    drawn = axes.barh(range(len(fillings)), [one.years for one in fillings], color=style(0).colour)
    dates = [str(growth.date(one) or significant(one.years, 3)) for one in fillings]
    axes.bar_label(drawn, dates, padding=3)
    axes.set_yticks(range(len(fillings)), names)
    axes.set_xlabel("time until full [years]")
    axes.set_title(common)
    axes.margins(x=0.15)
    light_grid(axes)
    return figure


def _draw_group(
    axes: Axes, place: int, bars: Bars, phase: str, resources: list[str], unit: Unit
) -> None:
    """Draw one machine's bars around its position, without those of unused resources."""
    ranked = bars.order(phase)
    used = [x for x in bars.limits if x.phase == phase and math.isfinite(x.load)]
    step = 0.8 / len(resources)
    for index, limit in enumerate(used):
        first = limit == ranked[0]
        axes.bar(
            place + (index - (len(used) - 1) / 2) * step,
            limit.load / unit.scale,
            0.9 * step,
            color=style(resources.index(limit.resource)).colour,
            hatch=_hatch(resources.index(limit.resource)),
            edgecolor="black" if first else "white",
            linewidth=2 if first else 0,
        )


def _hatch(place: int) -> str:
    """The hatching of a resource, by which it is recognised in grey."""
    return HATCHES[place % len(HATCHES)]


def _ends(balance: Balance, unit: Unit) -> tuple[float, float]:
    """Ends of the axis: above the greatest load, and low enough that the smallest has a bar."""
    loads = [x.load / unit.scale for b in balance.machines for x in b.limits]
    used = [load for load in loads if 0 < load < math.inf]
    return float(10.0 ** power_of_ten(min(used) / 2)), 1.3 * max(used)


def _name_machines(axes: Axes, balance: Balance) -> str:
    """Write the machines below the axis; return the model that they have in common."""
    titles, common = _shortened([bars.title for bars in balance.machines])
    slant = 45 if len(titles) > 3 else 0
    axes.set_xticks(
        np.arange(len(titles)), titles, rotation=slant, ha="right" if slant else "center"
    )
    return common


def _shortened(titles: list[str]) -> tuple[list[str], str]:
    """Titles without the model that they have in common, and that model."""
    common = titles[0].partition(" (")[0]
    if len(set(titles)) > 1 and all(title.startswith(f"{common} (") for title in titles):
        titles = [title.removeprefix(f"{common} (").rstrip(")") for title in titles]
    return [literal(title) for title in titles], literal(common)


def _legend(figure: Figure, resources: list[str]) -> None:
    from matplotlib.patches import Patch

    marks = [
        Patch(
            facecolor=style(index).colour,
            hatch=_hatch(index),
            edgecolor="white",
            linewidth=0,
            label=name,
        )
        for index, name in enumerate(resources)
    ]
    marks.append(Patch(facecolor="white", edgecolor="black", label="full first"))
    figure.legend(handles=marks, loc="outside upper center", ncols=3, frameon=False)
