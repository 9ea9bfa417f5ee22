"""``headway size``: the cheapest configuration that meets targets."""

import math
from typing import TYPE_CHECKING

import click

from headway.cli.main import used
from headway.cli.numbers import Real
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    complete_setting,
    format_options,
    model_argument,
    preset_option,
    set_option,
)
from headway.cli.output import present, working
from headway.cli.pictures import Drawing, plot_option
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.kinds import FloatArray
    from headway.models.structure.model import Model

FORMS = (
    "headway size nfs-server --preset raid --target 'response_time<=15ms' \\\n"
    "  --choose disks=4:32 --cost '200*disks'",
    "headway size nfs-server --preset raid --set arrival_rate=1200 \\\n"
    "  --target 'response_time<=15ms' --choose disks=4:32 --cost '200*disks'",
)


@used("size", *FORMS)
@model_argument
@preset_option
@set_option
@closed_options
@click.option(
    "--target",
    "targets",
    metavar="LIMIT",
    multiple=True,
    required=True,
    help="OUTPUT<=VALUE or OUTPUT>=VALUE; repeatable.",
)
@click.option(
    "--choose",
    "choices",
    metavar="NAME=VALUES",
    multiple=True,
    required=True,
    help="Values to try: 1:32 or 2,4,8; repeatable.",
    shell_complete=complete_setting,
)
@click.option(
    "--cost", required=True, metavar="FORMULA", help="Cost of a configuration, such as 200*disks."
)
@click.option(
    "--confidence",
    type=Real(),
    metavar="P",
    help="Probability (%) of meeting all targets, from ci95.",
)
@click.option("--over", metavar="DAY", help="Over a day: a CSV of times and rates, or 24h.")
@click.option("--every", metavar="TIME", help="Length of its periods, for worst.OUTPUT targets.")
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    targets: tuple[str, ...],
    choices: tuple[str, ...],
    cost: str,
    confidence: float | None,
    over: str | None,
    every: str | None,
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Find the cheapest configuration."""
    chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
    offered = _choices(chosen, choices)
    if every and not over:
        raise InvalidParameter("--every needs --over")
    if over and confidence is not None:
        raise InvalidParameter("--confidence needs one point in time; leave out --over")
    with working("sizing") as tell:
        tell(f"{math.prod(len(values) for values in offered.values()):,} configurations", 0.0)
        if over:
            from headway.models.over.sizing import size_over

            answer = size_over(chosen, over, targets, offered, cost, every, tell)
        else:
            from headway.models.sizing.sizing import size_model

            answer = size_model(chosen, targets, offered, cost, confidence, progress=tell)
    present(answer, output_format, plot)


def _choices(model: "Model", texts: tuple[str, ...]) -> "dict[str, FloatArray]":
    """Read NAME=VALUES, with a list or a range of values."""
    from headway.cli.sweeps import named_parameter, sweep

    by_name: dict[str, FloatArray] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not (equals and values):
            msg = f"--choose {text}: write NAME=VALUES, such as cores=1:32 or disks=2,4,8"
            raise InvalidParameter(msg)
        if name in by_name:
            msg = f"--choose is given twice for {name}; give all its values together"
            raise InvalidParameter(msg)
        by_name[name] = sweep(values, named_parameter(model, name).unit, name)
    return by_name
