"""``headway import``: convert a model of another tool, and compare results with its own."""

from pathlib import Path

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options
from headway.cli.output import present

FORMS = (
    "headway import shop.jsimg",
    "headway import shop.jsimg --out shop.toml",
)


@used("import", *FORMS)
@click.argument("model", metavar="MODEL.jmva|.jsimg|.jsimgz|.pmif|.lqnx")
@click.option(
    "--out",
    metavar="FILE.toml",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the model to a file.",
)
@format_options
def command(model: str, out: Path | None, output_format: Format | None) -> None:
    """Import a model, solve it, and compare the answers with those in its file."""
    from headway.models.analysis.imported import import_model
    from headway.models.files.writing import beside, to_toml

    imported = import_model(model)
    text = "" if out is None else beside(out.parent, to_toml(imported.model))
    files = [] if out is None else [(out, text.encode())]
    present(imported, output_format, files=files)
