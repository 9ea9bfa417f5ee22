"""``headway models``: the catalogue."""

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options
from headway.cli.output import print_tables

FORMS = (
    "headway models",
    "headway models --json",
)


@used("models", *FORMS)
@format_options
def command(output_format: Format | None) -> None:
    """List the models of the catalogue with their presets."""
    from headway.models.files.shipped import catalogue_model, model_names
    from headway.models.tables.strict import strict_json
    from headway.models.tables.table import Column, Table

    models = [catalogue_model(name) for name in model_names()]
    names = Column("model", tuple(model.name for model in models))
    docs = Column("description", tuple(model.doc for model in models))
    if output_format is Format.JSON:
        entries = [{"model": m.name, "presets": list(m.presets), "doc": m.doc} for m in models]
        click.echo(strict_json({"models": entries}))
    elif output_format is Format.CSV:
        presets = Column("presets", tuple(", ".join(model.presets) for model in models))
        click.echo(Table("catalogue", (names, presets, docs)).to_csv(), nl=False)
    else:
        counts = Column("presets", tuple(float(len(model.presets)) for model in models))
        notes = ("headway show MODEL lists the presets of a model",)
        print_tables([Table("catalogue", (names, counts, docs), notes)])
