"""What may be a name in a model, and how users give one name or several."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from headway.errors import GraphError, is_hidden, quoted

LONGEST_NAME = 200
"""Most characters of a name, which must fit on a line or two."""


def check_shown(name: str, what: str) -> None:
    r"""Refuse a name with control characters, or one that is too long.

    Raises
    ------
    GraphError
        With the name, its control characters written out.

    Examples
    --------
    >>> check_shown("red\x1b[31m", "model")
    Traceback (most recent call last):
        ...
    headway.errors.GraphError: model 'red\x1b[31m' has a control character in its name
    """
    if any(map(is_hidden, name)):
        msg = f"{what} {quoted(name)} has a control character in its name"
        raise GraphError(msg)
    if len(name) > LONGEST_NAME:
        msg = (
            f"{what} {quoted(name)} has {len(name)} characters; at most {LONGEST_NAME} are allowed"
        )
        raise GraphError(msg)


def check_name(name: str, taken: Iterable[str]) -> None:
    """Refuse an invalid name for a number, or one with another meaning.

    Raises
    ------
    GraphError
        With the name.

    Examples
    --------
    >>> check_name("a-b", ())
    Traceback (most recent call last):
        ...
    headway.errors.GraphError: 'a-b' is not a valid name; use letters, digits and _
    """
    if not name.isidentifier() or name.startswith("_"):
        msg = f"{name!r} is not a valid name; use letters, digits and _"
        raise GraphError(msg)
    if name in taken:
        msg = f"{name} is reserved; choose another name"
        raise GraphError(msg)


Names: TypeAlias = str | Sequence[str]
"""One name, several, or a text of several separated by commas, as on the command line."""


def names_in(given: Names) -> tuple[str, ...]:
    """Read names.

    Examples
    --------
    >>> names_in("delay"), names_in("delay, cpu_time"), names_in(["delay"])
    (('delay',), ('delay', 'cpu_time'), ('delay',))
    """
    several = given.split(",") if isinstance(given, str) else given
    return tuple(name for each in several if (name := each.strip()))
