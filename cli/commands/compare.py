"""``headway compare``: predictions with measurements, or two builds with each other."""

from typing import TYPE_CHECKING

import click

from headway.cli.curves import measured_at
from headway.cli.main import used
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    complete_model,
    format_options,
    hint_options,
    load_limits,
    preset_option,
    range_options,
    set_option,
    window_options,
)
from headway.cli.output import present, progress
from headway.cli.pictures import Drawing, plot_option
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

FORMS = (
    "headway compare nfs-server --preset raid --data curve.csv",
    "headway compare before.csv after.csv --at-most 10%",
)


@used("compare", *FORMS)
@click.argument(
    "given", nargs=-1, required=True, metavar="MODEL | BEFORE AFTER", shell_complete=complete_model
)
@click.option(
    "--data",
    multiple=True,
    metavar="FILE",
    help="Measurements to compare MODEL with; slow.csv@delay=+1ms.",
)
@click.option(
    "--at-most", metavar="SHARE", help="Largest worsening allowed (5%); beyond it, exit code 1."
)
@preset_option
@set_option
@closed_options
@range_options
@hint_options
@window_options
@format_options
@plot_option
def command(
    given: tuple[str, ...],
    data: tuple[str, ...],
    at_most: str | None,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Compare a model's predictions with measurements, or load tests of two builds.

    Exit code 1 where the second build is worse by more than ``--at-most``.
    """
    if len(given) == 2 and not data:
        return _builds(given, at_most, hints, output_format)
    if len(given) > 1 or not data or at_most is not None:
        msg = "give a model and --data FILE, or two load tests: headway compare before/ after/"
        raise InvalidParameter(msg)
    chosen = chosen_model(given[0], preset, settings, closed_settings(closed, None, think))
    limits = load_limits(low, high, chosen)
    present(chosen.compare(measured_at(data, hints), x, y, *limits), output_format, plot)
    return 0


def _builds(
    places: tuple[str, ...], at_most: str | None, hints: "Hints", output_format: Format | None
) -> int:
    """Compare two load tests; 1 where the second is worse by more than is allowed."""
    from headway.models.inference.builds import USUAL, compare_builds
    from headway.models.language.units import ONE, quantity
    from headway.models.reading.gather import megabytes
    from headway.models.reading.loadtest import read_load_test

    allowed = USUAL if at_most is None else quantity(at_most, ONE, "--at-most")
    with progress("reading", megabytes(places)) as advance:
        tests = [read_load_test([place], advance=advance, hints=hints) for place in places]
    builds = compare_builds(tests[0], tests[1], allowed)
    present(builds, output_format, None)
    return 1 if at_most is not None and builds.worse else 0
