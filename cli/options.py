"""Arguments and options that commands share, with shell completion."""

import io
import os.path
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from headway.models.measured.measurements import Measurements
    from headway.models.reading.hints import Hints
    from headway.models.structure.model import Model

Function = TypeVar("Function", bound=Callable[..., Any])
Pairs: TypeAlias = tuple[str, ...]
"""Values of a repeatable option."""


class TwinOption(click.Option):
    """An option that shares a line of help with another, as ``--x, --y COLUMN``."""

    twin: tuple[str, str] | None = None

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line for both."""
        del ctx
        return self.twin


def twins(options: str, words: str) -> tuple[type[TwinOption], type[TwinOption]]:
    """Make option classes for two options that share a line of help, the shown one first.

    Parameters
    ----------
    options, words
        The line of help: both names with their arguments, and the text.
    """
    return type("First", (TwinOption,), {"twin": (options, words)}), TwinOption


class Format(StrEnum):
    """Output format of an answer."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def complete_model(_c: click.Context, _p: click.Parameter, text: str) -> "list[CompletionItem]":
    """Catalogue names with this prefix, or files."""
    from click.shell_completion import CompletionItem

    from headway.models.files.shipped import model_names

    names = [CompletionItem(name) for name in model_names() if name.startswith(text)]
    return names or [CompletionItem(text, type="file")]


def _model_so_far(ctx: click.Context) -> "Model | None":
    """The model already given on an unfinished line; click leaves it among the arguments."""
    from headway.errors import HeadwayError
    from headway.models.importing.finding import find_model

    name = ctx.params.get("model") or next(iter(ctx.args), None)
    try:
        return find_model(name) if name else None
    except HeadwayError:
        return None


def complete_preset(ctx: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Offer the presets of the model on the line."""
    model = _model_so_far(ctx)
    presets = model.presets if model else {}
    return [name for name in presets if name.startswith(text)]


def _settable(model: "Model | None") -> list[str]:
    """Names that may be set: parameters, and the overhead of a link for both of its sides."""
    from headway.models.structure.parts.links import settable

    return settable(model.graph.links, model.parameters) if model else []


def complete_setting(ctx: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Offer ``NAME=`` of each parameter."""
    model = _model_so_far(ctx)
    return [f"{name}=" for name in _settable(model) if name.startswith(text)]


def complete_parameters(ctx: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Offer the next parameter of a list with commas."""
    model = _model_so_far(ctx)
    before, comma, begun = text.rpartition(",")
    taken = before.split(",")
    names = [name for name in _settable(model) if name not in taken]
    return [before + comma + name for name in names if name.startswith(begun)]


def complete_output(ctx: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Offer ``NAME=`` of each output."""
    from headway.errors import HeadwayError

    model = _model_so_far(ctx)
    try:
        names = model.solve().outputs if model else ()
    except HeadwayError:  # a model that is not solved without settings
        names = tuple(model.graph.outputs) if model else ()
    return [f"{name}=" for name in names if name.startswith(text)]


def complete_operation(_c: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Complete the name of a collective operation."""
    from headway.loggp.programs.algorithms import Collective

    names = (operation.replace("-", "_") for operation in Collective)
    return [name for name in names if name.startswith(text)]


def complete_limit(_c: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Offer ``NAME<=`` of the response time and of common percentiles of it."""
    names = ("response_time", *(f"response_time_p{percent}" for percent in (50, 90, 95, 99)))
    return [f"{name}<=" for name in names if name.startswith(text)]


def _complete_column(ctx: click.Context, _p: click.Parameter, text: str) -> list[str]:
    """Offer the columns of the file on the line."""
    from headway.errors import HeadwayError

    named = (ctx.params.get(name) for name in ("data", "file", "files"))
    given = next(filter(None, named), None) or next(iter(ctx.args), None)
    path = given[0] if isinstance(given, tuple) else given
    try:
        with redirect_stderr(io.StringIO()):  # what was left out is no part of a completion
            columns = measured(Path(path)).columns if path else {}
    except (HeadwayError, OSError):
        return []
    return [name for name in columns if name.startswith(text)]


def _complete_unit(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    """Offer ``COLUMN=`` of each column, then units."""
    column, equals, begun = text.rpartition("=")
    if not equals:
        return [f"{name}=" for name in _complete_column(ctx, param, text)]
    units = ("s", "ms", "us", "ns", "op/s", "kop/s", "%")
    return [f"{column}={unit}" for unit in units if unit.startswith(begun)]


def _complete_role(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    """Offer ``COLUMN=`` of each column, then roles."""
    from headway.models.measured.roles import role_names

    column, equals, begun = text.rpartition("=")
    if not equals:
        return [f"{name}=" for name in _complete_column(ctx, param, text)]
    return [f"{column}={role}" for role in role_names() if role.startswith(begun)]


model_argument = click.argument("model", shell_complete=complete_model)
preset_option = click.option(
    "--preset", metavar="NAME", help="A published set of values.", shell_complete=complete_preset
)
set_option = click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set a parameter: 650us, 1,2,5 or 200:1400:100.",
    shell_complete=complete_setting,
)


def check_place(path: Path) -> None:
    """Refuse a file that cannot be written.

    Raises
    ------
    OutputError
        If its folder does not exist, or it is a folder itself.
    """
    from headway.errors import OutputError

    if os.path.isdir(path):  # noqa: PTH112 - takes any name at all
        msg = f"{path}: cannot be written (it is a folder)"
        raise OutputError(msg)
    if not os.path.isdir(path.parent):  # noqa: PTH112
        msg = f"{path}: cannot be written (there is no folder {path.parent})"
        raise OutputError(msg)


free_option = click.option(
    "--free",
    metavar="A,B",
    help="Parameters to fit.",
    shell_complete=complete_parameters,
)
_X, _Y = twins("--x, --y COLUMN", "Columns of the load and the measured output.")
_x_option = click.option(
    "--x", cls=_X, metavar="COLUMN", help="Column of the load.", shell_complete=_complete_column
)
_y_option = click.option(
    "--y",
    cls=_Y,
    metavar="COLUMN",
    help="Column of the measured output.",
    shell_complete=_complete_column,
)
_UNIT, _STATED = twins("--unit, --role, --clients", "What files omit; also --where, --rate...")
_unit_option = click.option(
    "--unit",
    cls=_UNIT,
    metavar="COLUMN=UNIT",
    multiple=True,
    help="Unit of a column whose header states none.",
    shell_complete=_complete_unit,
)
_role_option = click.option(
    "--role",
    cls=_STATED,
    metavar="COLUMN=ROLE",
    multiple=True,
    help="Role of a column, such as throughput.",
    shell_complete=_complete_role,
)
_decimal_option = click.option(
    "--decimal",
    cls=_STATED,
    metavar="MARK",
    default="",
    help="Decimal mark in CSV: . or , (default: detected).",
)
_SKIP, _WINDOW = twins("--skip, --window T", "Use part of each run: from 10s on, or 10s:50s.")
_skip_option = click.option(
    "--skip", cls=_SKIP, metavar="TIME", help="Leave out what each log has before this time."
)
_window_option = click.option(
    "--window", cls=_WINDOW, metavar="TIME:TIME", help="Use what each log has between two times."
)
_FROM, _TO = twins("--from, --to LOAD", "Lowest and highest load to include.")
_from_option = click.option(
    "--from", "low", cls=_FROM, metavar="LOAD", help="Lowest load to include."
)
_to_option = click.option("--to", "high", cls=_TO, metavar="LOAD", help="Highest load to include.")


_JSON, _CSV = twins("--json, --csv", "Write strict JSON, or CSV, in SI units.")


def format_options(function: Function) -> Function:
    """Add ``--json`` and ``--csv``; a table is the default."""
    for kind, shown in ((Format.CSV, _CSV), (Format.JSON, _JSON)):
        option = click.option(
            f"--{kind}",
            "output_format",
            cls=shown,
            flag_value=kind.value,
            type=Format,
            help=f"Write {kind.upper()} in SI units.",
        )
        function = option(function)
    return function


def range_options(function: Function) -> Function:
    """Add ``--x``, ``--y``, ``--from`` and ``--to``."""
    for option in (_to_option, _from_option, _y_option, _x_option):
        function = option(function)
    return function


_skip_bad_option = click.option(
    "--skip-bad", cls=_STATED, is_flag=True, help="Go on without files that cannot be read."
)


_clients_option = click.option(
    "--clients",
    cls=_STATED,
    multiple=True,
    metavar="N",
    help="Clients of a closed test: N, FILE=N, or c{}.txt.",
)
_rate_option = click.option(
    "--rate",
    cls=_STATED,
    multiple=True,
    metavar="N",
    help="Rate asked for [1/s]: N, FILE=N, or r{}.txt.",
)
_where_option = click.option(
    "--where",
    cls=_STATED,
    multiple=True,
    metavar="COLUMN=WORD",
    help="Rows to use, in a table of several systems.",
)
_arrivals_option = click.option(
    "--arrivals",
    cls=_STATED,
    metavar="HOW",
    default="",
    help="How requests arrived: constant, poisson, an scv, or trace.",
    shell_complete=lambda *_: ["constant", "poisson", "trace"],
)
_HINT_OPTIONS = (
    _arrivals_option,
    _where_option,
    _rate_option,
    _clients_option,
    _decimal_option,
    _role_option,
    _unit_option,
    _skip_bad_option,
)


def hint_options(function: Function) -> Function:
    """Add what is said of files of measurements, which the command takes as `hints`."""

    @wraps(function)
    def _hinted(
        *given: Any,
        unit: Pairs,
        role: Pairs,
        decimal: str,
        skip_bad: bool,
        clients: Pairs,
        rate: Pairs,
        where: Pairs,
        arrivals: str,
        **others: Any,
    ) -> Any:
        from headway.models.reading.clients import Told
        from headway.models.reading.hints import Hints

        units, roles = _pairs("--unit", unit, "ms"), _pairs("--role", role, "throughput")
        said = Told("--clients", clients), Told("--rate", rate)
        parts = _pairs("--where", where, "a")
        hints = Hints(
            units,
            roles,
            decimal,
            skip_bad=skip_bad,
            clients=said[0],
            rates=said[1],
            where=parts,
            arrivals=arrivals,
        )
        return function(*given, hints=hints, **others)

    for option in _HINT_OPTIONS:
        _hinted = option(_hinted)
    return cast(Function, _hinted)


def window_options(function: Function) -> Function:
    """Add ``--skip`` and ``--window`` to a command that takes `hints`."""

    @wraps(function)
    def _cut(*given: Any, hints: Any, skip: str | None, window: str | None, **others: Any) -> Any:
        from dataclasses import replace

        from headway.models.measured.window import window_of

        return function(*given, hints=replace(hints, window=window_of(skip, window)), **others)

    return cast(Function, _skip_option(_window_option(_cut)))


def _pairs(option: str, given: "Pairs", example: str) -> dict[str, str]:
    """Read COLUMN=VALUE settings of columns."""
    from headway.errors import InvalidParameter

    values: dict[str, str] = {}
    for text in given:
        column, equals, value = (part.strip() for part in text.rpartition("="))
        if not (column and equals and value):
            msg = f"{option} {text}: write COLUMN=VALUE, such as {option} rate={example}"
            raise InvalidParameter(msg)
        if column in values:
            msg = f"{option} is given twice for {column}"
            raise InvalidParameter(msg)
        values[column] = value
    return values


def load_limits(
    low: str | None, high: str | None, model: "Model | None" = None
) -> tuple[float, float]:
    """Read ``--from`` and ``--to``: rates, unless the model has no arrivals."""
    import math

    from headway.models.language.units import quantity, unit

    is_rate = model is None or "arrival_rate" in model.parameters
    wanted = unit("op/s") if is_rate else None
    return (
        -math.inf if low is None else quantity(low, wanted, "--from"),
        math.inf if high is None else quantity(high, wanted, "--to"),
    )


_CLOSED, _THINK = twins("--closed N, --think TIME", "Closed loop: N clients that think in between.")


def closed_options(function: Function) -> Function:
    """Add ``--closed`` and ``--think``."""
    jobs = click.option(
        "--closed", cls=_CLOSED, metavar="N", help="Close the network: N jobs circulate."
    )
    think = click.option(
        "--think", cls=_THINK, metavar="TIME", help="Think time of a closed network."
    )
    return jobs(think(function))


def closed_settings(
    closed: str | None, population: str | None, think: str | None
) -> tuple[str, ...]:
    """Read ``--closed``, ``--population`` and ``--think`` as settings of a closed network."""
    from headway.errors import InvalidParameter

    if closed is not None and population is not None:
        raise InvalidParameter("give --closed or --population, not both")
    jobs = closed if population is None else population
    if jobs is None and think is not None:
        raise InvalidParameter("--think needs --closed or --population")
    if jobs is None:
        return ()
    return (f"population={jobs}", *([] if think is None else [f"think_time={think}"]))


def chosen_model(
    name: str, preset: str | None, settings: tuple[str, ...], closing: tuple[str, ...] = ()
) -> "Model":
    """Find a model and apply its preset and settings."""
    from headway.errors import InvalidParameter
    from headway.models.importing.finding import find_model

    model = find_model(name)
    if preset is not None:
        model = model.with_preset(preset)
    if closing:
        model = model.closed(1)
        given = {text.partition("=")[0].strip() for text in settings}
        if "arrival_rate" in given - model.parameters.keys():
            msg = "a population and arrival_rate are both given; give one of them"
            raise InvalidParameter(msg)
        if twice := sorted({"population", "think_time"} & given):
            msg = f"--set {twice[0]} is what --closed and --think give; leave it out"
            raise InvalidParameter(msg)
    if not settings and not closing:
        return model
    from headway.cli.sweeps import apply_settings

    return apply_settings(model, (*settings, *closing))


def families() -> tuple[str, ...]:
    """Names that stand for all forms of a family, such as server."""
    from headway.models.inference.forms import families

    return families()


def family_of(model: str) -> str:
    """The family that a name stands for, or of which the model of this name is a form."""
    from headway.errors import HeadwayError
    from headway.models.inference.forms import listed_forms

    if model in families():
        return model
    try:
        return listed_forms([model])[0].family
    except HeadwayError:
        return ""


def names_of(text: str | None) -> list[str]:
    """Read A,B as names."""
    from headway.models.language.names import names_in

    return list(names_in(text or ""))


def measured(path: Path, hints: "Hints | None" = None) -> "Measurements":
    """Read a file, a folder, archive or pattern of files, or a published table."""
    from headway.models.files.shipped import shipped_or_own
    from headway.models.reading.hints import NO_HINTS
    from headway.models.reading.recognise import read_measurements

    file, given = shipped_or_own(path), hints or NO_HINTS
    if is_several(file) or given.of_files:
        return runs_measured([str(file)], given)
    return read_measurements(file, given)


def runs_measured(places: Sequence[str], hints: "Hints") -> "Measurements":
    """Read the runs of a load test as one table, and say what was left out."""
    from headway.models.reading.loadtest import read_load_test
    from headway.models.showing.loadtests import left_out

    test = read_load_test(places, hints=hints)
    for line in left_out(test):
        click.echo(line, err=True)
    return test.measurements


def is_several(path: Path) -> bool:
    """Whether a path stands for several files: a folder, an archive, a pattern.

    Examples
    --------
    >>> is_several(Path("runs/*.json")), is_several(Path("runs.zip")), is_several(Path("a.csv"))
    (True, True, False)
    """
    from headway.models.files.intake import ARCHIVES

    pattern = any(mark in path.name for mark in "*?[") and not os.path.exists(path)  # noqa: PTH110
    archive = path.suffix.lower() in ARCHIVES
    return pattern or archive or os.path.isdir(path)  # noqa: PTH112 - takes any name at all
