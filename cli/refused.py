"""What is said of a command line that click refuses: what is wrong, and how to mend it."""

from collections.abc import Sequence
from difflib import get_close_matches

import click


def example(context: click.Context, forms: Sequence[str]) -> str:
    """How a command is used: the first form of its help, or where to read it."""
    return f"as in {forms[0]}" if forms else f"see {context.command_path} --help"


def usage(error: click.UsageError, forms: Sequence[str]) -> str:
    """One line about a refused command line.

    Parameters
    ----------
    error
        What click raised.
    forms
        The most used forms of the command.

    Examples
    --------
    >>> command = click.Command("weigh", params=[click.Option(["--plot"], metavar="FILE")])
    >>> for words in (["--plto"], ["--plot"], ["stones"]):
    ...     try:
    ...         command.make_context("weigh", words)
    ...     except click.UsageError as error:
    ...         print(usage(error, ["weigh --plot scale.svg"]))
    there is no option --plto; did you mean --plot?
    --plot needs a value
    weigh does not take 'stones'; as in weigh --plot scale.svg
    """
    text, context = error.format_message(), error.ctx
    shown = f"; {example(context, forms)}" if context else ""
    if isinstance(error, click.NoSuchOption):
        return f"there is no option {error.option_name}{_near(error) or shown}"
    if isinstance(error, click.BadOptionUsage):
        some = "takes no value" if "does not take" in text else "needs a value"
        return f"{error.option_name} {some}{shown}"
    if isinstance(error, click.MissingParameter):
        return f"{_named(error)} is missing{shown}"
    if isinstance(error, click.BadParameter):
        named, said = _named(error), error.message.rstrip(".")
        return f"{named}: {said}" if named else said
    if text.startswith("Got unexpected extra argument") and context is not None:
        extra = text[text.index("(") + 1 : text.rindex(")")]
        return f"{context.command_path} does not take {extra!r}{shown}"
    return text


def _near(error: click.NoSuchOption) -> str:
    """The offered options that are close to a typing error; empty if none is offered."""
    known = error.possibilities or []
    near = get_close_matches(error.option_name, known, cutoff=0.75) or known
    return f"; did you mean {', '.join(near)}?" if near else ""


def _named(error: click.BadParameter) -> str:
    """The option or argument that is wrong, as it is typed."""
    if error.param is None:
        return ""
    return error.param.get_error_hint(error.ctx).replace("'", "")
