"""Commands as tools of an assistant: the arguments of a tool are the options of its command.

A tool is a command of `headway.cli.main.COMMANDS`; its arguments are the command's, under the names
that are typed, and its answer is what the command writes with ``--json``. Only the commands that
are tools are declared here, and the options that do not concern an assistant.
"""

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import click

from headway.cli.main import COMMANDS, LazyGroup, cli, forms_of, main
from headway.cli.numbers import Real, Whole
from headway.errors import InvalidParameter, nearest, quoted
from headway.models.files.intake import only_within
from headway.models.files.shipped import data_path
from headway.records import dataclass

TOOLS = ("kinds", "read", "audit", "fit", "solve", "size", "methods", "check")
"""Commands that are tools, in the order in which they are listed."""

LEFT_OUT = frozenset(
    {"json", "csv", "wide", "plot", "log", "dark", "schema", "workers", "cluster", "wait"}
)
"""Options for the form of an answer, or for the workers that compute it."""

_KINDS = ((Whole, "integer"), (Real, "number"))
"""Types of options that JSON has words for; all others are strings."""


@dataclass(frozen=True)
class Tool:
    """A command as a tool.

    Parameters
    ----------
    name, doc
        Name and description, with its most used forms.
    schema
        JSON schema of its arguments.
    """

    name: str
    doc: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """The reply of a tool.

    Parameters
    ----------
    text
        JSON as the command writes it, or a line that says what is wrong.
    notes
        What the command says besides its answer, such as which file it wrote.
    is_error
        Whether the arguments were refused.
    """

    text: str
    notes: str = ""
    is_error: bool = False

    @property
    def document(self) -> dict[str, Any] | None:
        """The answer as a JSON object; None for a line of text."""
        return None if self.is_error or not self.text.startswith("{") else json.loads(self.text)


def tools() -> tuple[Tool, ...]:
    """Every tool, from the declarations of the commands.

    Examples
    --------
    >>> solve = next(tool for tool in tools() if tool.name == "solve")
    >>> solve.schema["required"], solve.schema["properties"]["set"]["type"]
    (['model'], 'array')
    """
    return tuple(_tool(name) for name in TOOLS)


def answered(name: str, given: Mapping[str, Any], root: Path) -> Reply:
    """Run a command with the arguments of a tool, on files of one folder only.

    Parameters
    ----------
    name
        A tool.
    given
        Values by the names of its schema; None for arguments that are not given.
    root
        The folder that files must be in; files that ship with headway may be read too.

    Examples
    --------
    >>> reply = answered("solve", {"model": "server-single", "set": ["arrival_rate=200"]}, Path())
    >>> reply.document["points"][0]["inputs"]["arrival_rate"]
    200.0
    >>> answered("solve", {"model": "server-single", "persent": "95"}, Path()).text
    "solve has no argument 'persent'; did you mean preset, percentile, set?"
    """
    out, err = io.StringIO(), io.StringIO()
    try:
        arguments = [name, *typed(name, given)]
    except InvalidParameter as error:
        return Reply(str(error), is_error=True)
    with only_within(root, data_path(".")), redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
    said = err.getvalue().strip()
    if code not in (0, 1):  # 1 is a verdict: the model does not describe the data
        return Reply(said.removeprefix("error: "), is_error=True)
    return Reply(out.getvalue().strip() or said, said if out.getvalue() else "")


def typed(name: str, given: Mapping[str, Any]) -> list[str]:
    """The arguments of a tool as they would be typed.

    Raises
    ------
    InvalidParameter
        For an unknown tool or argument.

    Examples
    --------
    >>> typed("solve", {"model": "--help", "set": ["a=1", "b=2"], "uncertain": True, "draws": 9})
    ['--json', '--set=a=1', '--set=b=2', '--uncertain', '--draws=9', '--', '--help']
    """
    if name not in TOOLS:
        msg = f"there is no tool {quoted(name)}{nearest(name, TOOLS)}"
        raise InvalidParameter(msg)
    offered = _offered(_command(name))
    for word in given:
        if word not in offered:
            msg = f"{name} has no argument {quoted(word)}{nearest(word, offered)}"
            raise InvalidParameter(msg)
    options, places = ["--json"], ["--"]
    for word, parameter in offered.items():
        values = _listed(given.get(word))
        if isinstance(parameter, click.Argument):
            places += map(str, values)
        elif _is_flag(parameter):
            options += [f"--{word}"] * any(values)
        else:
            options += [f"--{word}={value}" for value in values]
    return options + places


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _command(name: str) -> click.Command:
    assert isinstance(cli, LazyGroup)  # noqa: S101 - made by the decorator
    command = cli.get_command(click.Context(cli), name)
    assert command is not None  # noqa: S101 - tools are commands
    return command


def _offered(command: click.Command) -> dict[str, click.Parameter]:
    """Arguments and options by the names that are typed."""
    named = {_spelled(parameter): parameter for parameter in command.params}
    return {name: parameter for name, parameter in named.items() if name not in LEFT_OUT}


def _spelled(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return str(parameter.name)
    return max(parameter.opts, key=len).removeprefix("--")


def _is_flag(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and parameter.is_flag


def _tool(name: str) -> Tool:
    command = _command(name)
    offered = _offered(command)
    return Tool(
        name,
        f"{COMMANDS[name]} As typed: {'; '.join(forms_of(command))}.",
        {
            "type": "object",
            "properties": {word: _schema(parameter) for word, parameter in offered.items()},
            "required": [word for word, parameter in offered.items() if parameter.required],
            "additionalProperties": False,
        },
    )


def _schema(parameter: click.Parameter) -> dict[str, Any]:
    """The JSON schema of an argument."""
    words = getattr(parameter, "help", None) or f"The {parameter.name}."
    form = "" if _is_flag(parameter) else f" ({parameter.make_metavar(_NOWHERE).strip('[]')})"
    described: dict[str, Any] = {"description": words + form}
    if _is_flag(parameter):
        return described | {"type": "boolean"}
    one: dict[str, Any] = {"type": "string"}
    for kind, word in _KINDS:
        if isinstance(parameter.type, kind):
            one = {"type": word}
    if isinstance(parameter.type, click.Choice):
        one["enum"] = list(parameter.type.choices)
    is_list = parameter.nargs == -1 or (isinstance(parameter, click.Option) and parameter.multiple)
    return described | ({"type": "array", "items": one} if is_list else one)


_NOWHERE = click.Context(cli)
