"""Sensitivities drawn: a tornado of elasticities for each output."""

from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.models.plots import MODELLED, SECOND
from headway.models.sensitivity import Sensitivity

_LEAST = 1e-3  # elasticity worth a bar


def tornado(found: Sensitivity) -> Figure:
    """Draw what 1 % of each parameter does to each output, the largest on top."""
    outputs = {
        output: sorted(
            ((abs(e.elasticity), e.elasticity, name) for name, e in effects.items()), reverse=True
        )
        for output, effects in found.effects.items()
    }
    panels = {o: [bar for bar in bars if bar[0] > _LEAST] for o, bars in outputs.items()}
    panels = {output: bars for output, bars in panels.items() if bars}
    if not panels:
        raise InvalidParameter("no parameter has an effect; there is nothing to plot")
    height = 1.2 + 0.35 * sum(1.5 + len(bars) for bars in panels.values())
    figure = Figure(figsize=(7, height), layout="constrained")
    ratios = [1.5 + len(bars) for bars in panels.values()]
    all_axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, (output, bars) in zip(all_axes, panels.items(), strict=True):
        names = [name for _, _, name in bars][::-1]
        sizes = [size for _, size, _ in bars][::-1]
        half = [found.effects[output][name].half_width or 0.0 for name in names]
        colours = [MODELLED if size > 0 else SECOND for size in sizes]
        axes.barh(names, sizes, color=colours, xerr=half if any(half) else None, capsize=3)
        axes.axvline(0, color="0.5", linewidth=0.8)
        axes.set_title(f"{output.replace('_', ' ')}: % per 1 % of", fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
    return figure
