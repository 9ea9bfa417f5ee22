"""The table of methods: headway's own, which register here, and those of other packages.

This package is below the solvers and does not import them: `headway.queueing` and `headway.models`
register the places of their rows when they are imported.
"""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from headway.errors import InvalidParameter, PackageError, nearest, quoted
from headway.lazy import loaded, offered, outside, tables

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from headway.queueing.methods.method import MethodRow

GROUP = "headway.methods"
"""Entry-point group by which other packages add methods: ``name = module:ROW``."""

AUTO = "auto"
"""The name that asks for the best method that applies."""


def methods() -> "dict[str, MethodRow]":
    """All methods by name: headway's own in the order of the table, then those of other packages.

    Raises
    ------
    PackageError
        For an entry point that is not a method.

    Examples
    --------
    >>> list(methods())[:3]
    ['open', 'exact', 'convolution']
    """
    return methods_at(tables(GROUP))


@cache
def methods_at(places: tuple[str, ...]) -> "dict[str, MethodRow]":
    """The methods of the tables at these places, and of other packages."""
    rows: Iterable[MethodRow] = (row for place in places for row in loaded(place))
    own = {row.name: row for row in rows}
    more = {name: outside(GROUP, name, _row) for name in offered(GROUP) if name not in own}
    return own | more


def by_least_time() -> "tuple[MethodRow, ...]":
    """Exact methods, in the order of the time from which estimating them is worth it."""
    return _by_least_time(tables(GROUP))


@cache
def _by_least_time(places: tuple[str, ...]) -> "tuple[MethodRow, ...]":
    rows = [row for row in methods_at(places).values() if not row.approximates]
    return tuple(sorted(rows, key=lambda row: row.least))


def method_named(name: str) -> "MethodRow":
    """A method by its name.

    Raises
    ------
    InvalidParameter
        For an unknown name.

    Examples
    --------
    >>> method_named("linearise")
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: there is no method 'linearise'; did you mean linearizer?
    """
    found = methods().get(name)
    if found is None:
        msg = f"there is no method {quoted(name)}"
        raise InvalidParameter(msg + nearest(name, [AUTO, *methods()]))
    return found


def check_method(name: str) -> None:
    """Refuse an unknown method name.

    Raises
    ------
    InvalidParameter
        With the most similar names.
    """
    if name == AUTO:
        return
    from headway.queueing.methods.method import Answers

    answers = method_named(name).answers
    if Answers.MEANS not in answers:
        msg = f"method {name} does not give means: it answers {', '.join(sorted(answers))}"
        raise InvalidParameter(msg)


def approximates(name: str) -> bool:
    """Whether the method of an answer approximates by its nature.

    Examples
    --------
    >>> approximates("linearizer"), approximates("exact"), approximates("throughput-driven")
    (True, False, False)
    """
    row = methods().get(name)
    return row is not None and row.approximates


def _row(point: "EntryPoint") -> "MethodRow":
    from headway.queueing.methods.method import MethodRow

    row = point.load()
    if not isinstance(row, MethodRow) or row.name != point.name:
        msg = f"it must be a MethodRow named {point.name}"
        raise PackageError(msg)
    return row
