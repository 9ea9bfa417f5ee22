"""Options that take one value refuse a second, in every command: it would replace the first."""

from collections.abc import Iterator

import click
import pytest

from headway.cli.main import cli
from tests.support.command import headway, refusal


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, those below others too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


def options(path: tuple[str, ...]) -> list[click.Option]:
    command: click.Command | None = cli
    for word in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    return [each for each in command.params if isinstance(each, click.Option)]


COMMANDS = list(commands(cli))
ONE_VALUE = [
    (path, option, spelling)
    for path in COMMANDS
    for option in options(path)
    for spelling in option.opts
    if not (option.multiple or option.count or option.is_flag)
]
MANY = [(path, o.opts[0]) for path in COMMANDS for o in options(path) if o.multiple]
"""These may be repeated, and say so in the reference."""


def test_there_are_such_options() -> None:
    assert ("signature", "sfs") in COMMANDS
    assert len(ONE_VALUE) > 60
    assert {name for _, name in MANY} >= {"--set", "--data", "--target"}


@pytest.mark.parametrize(
    ("path", "option", "spelling"),
    ONE_VALUE,
    ids=[" ".join((*path, spelling)) for path, _, spelling in ONE_VALUE],
)
def test_a_second_value_is_refusal(
    path: tuple[str, ...], option: click.Option, spelling: str
) -> None:
    """Whatever the values are, and before anything is read: one line, exit code 2."""
    for typed in ([spelling, "7", spelling, "8"], [f"{spelling}=7", f"{spelling}=7"]):
        message = refusal(*path, *typed)
        assert message.startswith(f"{max(option.opts, key=len)} is given twice; give it once")
        assert ("give it once, as" in message) == ("," in (option.metavar or ""))


@pytest.mark.parametrize(("path", "name"), MANY, ids=[" ".join((*p, n)) for p, n in MANY])
def test_what_may_be_repeated_is_not_refused_for_it(path: tuple[str, ...], name: str) -> None:
    result = headway(*path, name, "a=1", name, "b=2")
    assert "given twice; give it once" not in result.err
    assert result.code in (0, 2)


def test_two_formats_are_refused_and_a_repeated_flag_is_not() -> None:
    assert refusal("solve", "nfs-server", "--json", "--csv") == ("give --json or --csv, not both")
    plain, again = (headway("kinds", *["--files"] * times) for times in (1, 2))
    assert again.code == 0
    assert again.out == plain.out


def test_help_comes_before_everything_else() -> None:
    assert headway("solve", "--percentile", "95", "--percentile", "99", "--help").code == 0


def test_the_line_says_how_several_values_are_given() -> None:
    assert refusal("solve", "x", "--percentile", "95", "--percentile", "99") == (
        "--percentile is given twice; give it once, as --percentile P,Q"
    )
