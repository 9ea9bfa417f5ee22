"""``headway models``: the catalogue."""

import click

from headway.cli.main import COMMANDS
from headway.cli.options import Format, format_options
from headway.cli.output import print_tables

MOST_PRESETS = 2
"""Presets named in the table; `headway show` and ``--json`` name all."""


def _some(presets: list[str]) -> str:
    rest = len(presets) - MOST_PRESETS
    named = ", ".join(presets[:MOST_PRESETS])
    return f"{named} and {rest} more" if rest > 0 else named


@click.command("models", help=COMMANDS["models"], epilog="Example: headway models --json")
@format_options
def command(output_format: Format | None) -> None:
    """List the models of the catalogue with their presets."""
    from headway.models.answers import strict_json
    from headway.models.shipped import catalogue_model, model_names
    from headway.models.tables import Column, Table

    models = [catalogue_model(name) for name in model_names()]
    table = Table(
        "catalogue",
        (
            Column("model", tuple(model.name for model in models)),
            Column("presets", tuple(_some(list(model.presets)) for model in models)),
            Column("what it models", tuple(model.doc for model in models)),
        ),
    )
    if output_format is Format.JSON:
        entries = [{"model": m.name, "presets": list(m.presets), "doc": m.doc} for m in models]
        click.echo(strict_json({"models": entries}))
    elif output_format is Format.CSV:
        click.echo(table.to_csv(), nl=False)
    else:
        print_tables([table])
