"""``headway import``: a model of another tool, as a model file and beside its own values."""

from pathlib import Path

import click

from headway.cli.main import COMMANDS
from headway.cli.options import Format, format_options
from headway.cli.output import present

EXAMPLE = "Example: headway import shop.jsimg --out shop.toml"


@click.command("import", help=COMMANDS["import"], epilog=EXAMPLE)
@click.argument("model", metavar="MODEL.jmva|.jsimg|.jsimgz|.pmif")
@click.option(
    "--out",
    metavar="FILE.toml",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the model to a file.",
)
@format_options
def command(model: str, out: Path | None, output_format: Format | None) -> None:
    """Take over a model, solve it, and set the answers beside those in its file."""
    from headway.models.analysis.imported import import_model
    from headway.models.files.writing import to_toml

    found = import_model(model)
    files = [] if out is None else [(out, to_toml(found.model).encode())]
    present(found, output_format, files=files)
