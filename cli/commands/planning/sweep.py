"""``headway sweep``: solve any number of operating points and keep summaries."""

from pathlib import Path

import click

from headway.cli.crews import CrewContext, crew_options
from headway.cli.main import INTERRUPTED, used
from headway.cli.numbers import Whole
from headway.cli.options import (
    Format,
    check_place,
    chosen_model,
    closed_options,
    closed_settings,
    format_options,
    model_argument,
    preset_option,
    set_option,
    twins,
)
from headway.cli.output import points_progress, present
from headway.cli.pictures import Drawing, plot_option
from headway.cli.spaces import SAMPLE_KINDS, SpaceOptions, model_and_space

FORMS = (
    "headway sweep nfs-server --preset raid --set arrival_rate=100:1500:1",
    "headway sweep nfs-server --preset raid --set arrival_rate=100:1500:1 \\\n"
    "  --set disks=8:48 --reduce 'exceeds(response_time, 20ms)'",
)
_SAMPLE, _KIND = twins("--sample N, --kind KIND", "N points: sobol, latin, random or drawn.")
_OUT, _RESUME = twins("--out FILE, --resume", "Save results (.npz, .parquet); continue a sweep.")


@used("sweep", *FORMS)
@model_argument
@preset_option
@set_option
@closed_options
@click.option(
    "--points", metavar="FILE", type=click.Path(path_type=Path), help="CSV file of points."
)
@click.option("--sample", cls=_SAMPLE, type=Whole(), metavar="N", help="Number of points.")
@click.option("--kind", cls=_KIND, type=click.Choice(SAMPLE_KINDS), help="Kind of sample.")
@click.option("--seed", type=Whole(), default=1, metavar="N", help="Random seed of the sample.")
@click.option("--output", "outputs", metavar="A,B", help="Outputs to reduce (response_time).")
@click.option(
    "--reduce",
    "reduce",
    metavar="R",
    multiple=True,
    help="Summary to keep: see headway kinds --reductions.",
)
@crew_options
@click.option(
    "--out",
    cls=_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Save results in a file.",
)
@click.option("--resume", cls=_RESUME, is_flag=True, help="Continue the sweep saved in the file.")
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    points: Path | None,
    sample: int | None,
    kind: str | None,
    seed: int,
    outputs: str | None,
    reduce: tuple[str, ...],
    hands: CrewContext,
    out: Path | None,
    resume: bool,  # noqa: FBT001 - a flag
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Sweep a model."""
    from headway.models.sweeping.sweeping import DEFAULT, sweep_model

    if out is not None:
        check_place(out)
    closing = closed_settings(closed, None, think)
    chosen = chosen_model(model, preset, (), closing and ("population=1",))
    options = SpaceOptions((*settings, *closing), sample, kind or SAMPLE_KINDS[0], seed, points)
    fixed, space = model_and_space(chosen, options)
    names = [name.strip() for name in (outputs or "response_time").split(",")]
    with hands as crew, points_progress("sweeping") as advance:
        swept = sweep_model(
            fixed,
            space,
            names,
            reduce or DEFAULT,
            crew,
            out=out,
            resume=resume,
            progress=advance,
        )
    present(swept, output_format, plot)
    click.echo(str(swept.effort), err=True)
    return INTERRUPTED if swept.effort.interrupted else 0
