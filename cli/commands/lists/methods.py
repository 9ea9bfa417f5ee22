"""``headway methods``: methods of solution, and which of them apply to a model."""

import click

from headway.cli.main import used
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    complete_model,
    format_options,
    preset_option,
    set_option,
)
from headway.cli.output import print_tables
from headway.errors import InvalidParameter

FORMS = (
    "headway methods",
    "headway methods nfs-server --preset raid --closed 45",
)


@used("methods", *FORMS)
@click.argument("model", required=False, shell_complete=complete_model)
@preset_option
@set_option
@closed_options
@format_options
def command(
    model: str | None,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    output_format: Format | None,
) -> None:
    """List methods, or those for a model."""
    from headway.models.showing.methods import (
        methods_csv,
        methods_document,
        methods_tables,
        model_methods_document,
        model_methods_table,
    )
    from headway.models.tables.strict import strict_json

    if model is None:
        if preset or settings or closed or think:
            raise InvalidParameter("--preset, --set, --closed and --think need a model; name one")
        tables, document, csv = methods_tables(), methods_document(), methods_csv()
    else:
        from headway.models.solving.applicable import methods_of

        chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
        found = methods_of(chosen)
        table, document = model_methods_table(found), model_methods_document(found)
        tables, csv = [table], table.to_csv()
    if output_format is Format.JSON:
        click.echo(strict_json(document))
    elif output_format is Format.CSV:
        click.echo(csv, nl=False)
    else:
        print_tables(tables)
