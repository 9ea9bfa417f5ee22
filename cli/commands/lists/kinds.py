"""``headway kinds``: kinds of station, disciplines, measured files, findings and reductions."""

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options
from headway.cli.output import print_tables

FORMS = (
    "headway kinds",
    "headway kinds --files",
)


@used("kinds", *FORMS)
@click.option("--files", is_flag=True, help="List kinds of measured files only.")
@click.option("--findings", is_flag=True, help="List kinds of audit findings.")
@click.option("--reductions", is_flag=True, help="List kinds of sweep reductions.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of model files, for editors.")
@format_options
def command(
    files: bool,  # noqa: FBT001 - a flag
    findings: bool,  # noqa: FBT001 - a flag
    reductions: bool,  # noqa: FBT001 - a flag
    schema: bool,  # noqa: FBT001 - a flag
    output_format: Format | None,
) -> None:
    """List kinds of station, disciplines, kinds of measured file, audit finding and reduction."""
    from headway.models.showing.kinds import (
        finding_table,
        kinds_csv,
        kinds_document,
        kinds_tables,
        reader_table,
        reduction_table,
    )
    from headway.models.tables.strict import strict_json

    if schema:
        from headway.models.files.editors import json_schema
        from headway.queueing.disciplines.table import usable_disciplines
        from headway.queueing.stations.listed.kinds import usable_kinds

        click.echo(strict_json(json_schema(usable_kinds(), usable_disciplines())))
    elif output_format is Format.JSON:
        click.echo(strict_json(kinds_document()))
    elif output_format is Format.CSV:
        click.echo(kinds_csv(), nl=False)
    else:
        wanted = {reader_table: files, finding_table: findings, reduction_table: reductions}
        print_tables(
            [table() for table, requested in wanted.items() if requested] or kinds_tables()
        )
