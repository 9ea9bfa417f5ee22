"""``headway show``: describe a model."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import used
from headway.cli.options import chosen_model, model_argument, preset_option, set_option
from headway.cli.output import print_prose, print_tables, rendered, write_and_say
from headway.cli.pictures import Drawing, plot_option

if TYPE_CHECKING:
    from headway.models.structure.model import Model

FORMS = (
    "headway show nfs-server",
    "headway show nfs-server --formula",
)


@used("show", *FORMS)
@model_argument
@preset_option
@set_option
@click.option("--formula", "what", flag_value="formula", help="Show closed forms of the outputs.")
@click.option("--toml", "what", flag_value="toml", help="Print the model as a model file.")
@click.option(
    "--json", "what", flag_value="json", help="Print the tables of the model file as JSON."
)
@click.option("--jmva", "what", flag_value="jmva", help="Print the model as a JMVA file, for JMT.")
@click.option("--lqnx", "what", flag_value="lqnx", help="Print layered services as LQNX.")
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    what: str | None,
    plot: Drawing | None,
) -> None:
    """Show parameters, stations, routes, presets and assumptions."""
    chosen = chosen_model(model, preset, settings)
    if plot is not None:
        is_formula = what == "formula"
        figure = chosen.plot_formulas(plot.dark) if is_formula else chosen.plot(plot.log, plot.dark)
        write_and_say(*rendered(figure, plot))
    if what in _WRITTEN:
        click.echo(_WRITTEN[what](chosen), nl=False)
    elif what == "formula":
        from headway.models.showing.models import closed_forms, doubts_of

        forms = [f"{name} = {form}" for name, form in closed_forms(chosen).items()]
        click.echo("\n".join([*forms, *doubts_of(chosen)]))
    else:
        print_tables(chosen.tables())
        for title, text in (("assumptions", chosen.assumptions), ("source", chosen.source)):
            if text:
                click.echo()
                print_prose(f"{title}: {' '.join(text.split())}")


def _toml(model: "Model") -> str:
    from headway.models.files.writing import beside, to_toml

    return beside(Path(), to_toml(model))


def _json(model: "Model") -> str:
    from headway.models.files.writing import document
    from headway.models.tables.strict import strict_json

    return f"{strict_json(document(model))}\n"


def _jmva(model: "Model") -> str:
    from headway.models.importing.writing import to_jmva

    return to_jmva(model)


def _lqnx(model: "Model") -> str:
    from headway.models.importing.lqn.writing import to_lqnx

    return to_lqnx(model)


_WRITTEN = {"toml": _toml, "json": _json, "jmva": _jmva, "lqnx": _lqnx}
"""What prints the model as a file, by option."""
