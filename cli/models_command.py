"""``headway models``: the catalogue."""

import click

from headway.cli.main import COMMANDS
from headway.cli.options import Format, format_options
from headway.cli.output import print_tables

MOST_NAMES = 4
"""Presets that are named in the table; JSON has them all."""


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
            Column("presets", tuple(_shortened(list(model.presets)) for model in models)),
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


def _shortened(names: list[str]) -> str:
    """A few names, and how many there are."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: MOST_NAMES - 1])}, ... ({len(names)})"
