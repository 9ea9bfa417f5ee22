"""``headway export``: predictions beside measurements, for Prometheus and Grafana."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.curves import measured_at
from headway.cli.main import used
from headway.cli.options import (
    check_place,
    chosen_model,
    closed_options,
    closed_settings,
    complete_model,
    hint_options,
    load_limits,
    preset_option,
    range_options,
    set_option,
)
from headway.cli.output import write_and_say
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

FORMS = (
    "headway export --dashboard",
    "headway export nfs-server --preset raid --data curve.csv --openmetrics",
)


@used("export", *FORMS)
@click.argument("model", required=False, shell_complete=complete_model)
@click.option("--data", multiple=True, metavar="FILE", help="Measurements; slow.csv@delay=+1ms.")
@click.option("--openmetrics", is_flag=True, help="Write metrics that Prometheus can scrape.")
@click.option("--dashboard", is_flag=True, help="Write a Grafana dashboard of these metrics.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write a file."
)
@preset_option
@set_option
@closed_options
@range_options
@hint_options
def command(
    model: str | None,
    data: tuple[str, ...],
    openmetrics: bool,  # noqa: FBT001 - a flag
    dashboard: bool,  # noqa: FBT001 - a flag
    out: Path | None,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
) -> None:
    """Write predictions beside measurements."""
    if openmetrics == dashboard:
        raise InvalidParameter("give --openmetrics or --dashboard: what is to be written")
    if out is not None:
        check_place(out)
    if dashboard:
        if model is not None or data:
            raise InvalidParameter("one dashboard serves every model; leave out MODEL and --data")
        from headway.models.reports.templates import shipped

        text = shipped("grafana.json")
    else:
        if model is None or not data:
            raise InvalidParameter("--openmetrics needs a model and --data FILE")
        from headway.models.showing.solved.openmetrics import openmetrics as written

        chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
        limits = load_limits(low, high, chosen)
        text = written(chosen.compare(measured_at(data, hints), x, y, *limits))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_and_say(out, text.encode())
