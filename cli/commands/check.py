"""``headway check``: compare a solution with a simulation."""

from headway.cli.crews import CrewContext, crew_options
from headway.cli.main import INTERRUPTED, used
from headway.cli.numbers import percentile_option
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    format_options,
    model_argument,
    preset_option,
    set_option,
)
from headway.cli.output import present, progress
from headway.cli.pictures import Drawing, plot_option
from headway.cli.simulated import Wish, simulation_options

FORMS = (
    "headway check nfs-server --preset raid --set arrival_rate=500",
    "headway check nfs-server --preset raid --set arrival_rate=800 \\\n  --percentile 95",
)


@used("check", *FORMS)
@model_argument
@preset_option
@set_option
@closed_options
@percentile_option("Also check percentiles of the response time: 95,99.")
@simulation_options
@crew_options
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    percents: tuple[float, ...],
    wish: Wish,
    hands: CrewContext,
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Solve a model, simulate it, and compare the results."""
    from headway.models.simulating.check import check_model

    chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
    wished = percents, wish.half_width, wish.seed, wish.at_most
    with hands as crew, progress("simulating", 1) as advance:
        answer = check_model(chosen, *wished, advance, crew)
    present(answer, output_format, plot)
    return INTERRUPTED if answer.simulation.effort.interrupted else 0
