"""Each option that takes one value is given once: a second would silently replace the first."""

from collections.abc import Sequence

import click

from headway.errors import InvalidParameter


def refuse_repeats(
    command: click.Command, name: str | None, arguments: Sequence[str], above: click.Context
) -> None:
    """Refuse options given twice to a command or to its subcommands.

    Repeatable options and flags are not refused: a second flag means the same.

    Parameters
    ----------
    command, name
        The command, and the name that it was called by.
    arguments
        What was typed after it.
    above
        The context of the group that it belongs to.

    Raises
    ------
    InvalidParameter
        With the name of the option.
    """
    context = command.context_class(
        command, parent=above, info_name=name, **command.context_settings
    )
    _, rest, order = command.make_parser(context).parse_args(args=list(arguments))
    if any(each.is_eager for each in order):  # --help comes before everything else
        return
    first: dict[str | None, click.Option] = {}
    for option in order:
        if not isinstance(option, click.Option) or option.multiple or option.count:
            continue
        before = first.setdefault(option.name, option)
        if before is not option:
            msg = f"give {_written(before)} or {_written(option)}, not both"
            raise InvalidParameter(msg)
        if not option.is_flag and order.count(option) > 1:
            raise InvalidParameter(_twice(option))
    if isinstance(command, click.Group) and rest:
        below, inner, others = command.resolve_command(context, rest)
        if inner is not None:
            refuse_repeats(inner, below, others, context)


def _twice(option: click.Option) -> str:
    """Say what to do with several values: many options take them in one list."""
    name, metavar = _written(option), option.metavar or ""
    how = f"give it once, as {name} {metavar}" if "," in metavar else "give it once"
    return f"{name} is given twice; {how}"


def _written(option: click.Option) -> str:
    """The longest spelling of an option."""
    return max(option.opts, key=len)
