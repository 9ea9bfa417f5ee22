"""Texts of a model file that are a quantity with a unit, or a formula."""

import math
import re
from dataclasses import fields
from typing import Any

from headway.errors import FormulaError, UnitError
from headway.models.files.building.schema import Scalar
from headway.models.language.formula import Formula, formula
from headway.models.language.units import LEADING_NUMBER, Unit, quantity, unit
from headway.models.structure.graph import ModelGraph

UNLIMITED = "unlimited"
"""The word for a number of servers, threads or retries without a limit."""

NUMBER_START = re.compile(r"\s*[+-]?\.?[0-9]")
"""How a text begins that is meant to be a number."""

FIELD_UNITS = {
    "service_time": unit("s"),
    "rates": unit("1/s"),
    "arrival_rate": unit("op/s"),
    "think_time": unit("s"),
    "patience": unit("s"),
    "timeout": unit("s"),
    "backoff": unit("s"),
    "circuit_breaker_open_for": unit("s"),
    "drop_older_than": unit("s"),
    "interval": unit("s"),
    "stabilisation": unit("s"),
    "start_delay": unit("s"),
    "warm_up": unit("s"),
    "limit_period": unit("s"),
    "latency": unit("s"),
    "gap_per_byte": unit("s/B"),
    "occupancy": unit("s"),
    "transfer": unit("B"),
    "packet": unit("B"),
    "work": unit("s"),
    "handler_time": unit("s"),
}
"""Units of a component's numbers; others have none."""


def units_of(kind: type) -> dict[str, Unit]:
    """Units of a kind's numbers: shared ones, and those that its fields declare.

    Parameters
    ----------
    kind
        A dataclass; a field with ``metadata={"unit": "1/s"}`` is in that unit.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> units_of(MM1)["service_time"].text
    's'
    """
    own = {f.name: f.metadata["unit"] for f in fields(kind) if "unit" in f.metadata}
    return FIELD_UNITS | {name: unit(text) for name, text in own.items()}


def flat(entry: Any) -> list[Any]:
    """The texts in a number, a list or a table by class."""
    if isinstance(entry, dict):
        return list(entry.values())
    return entry if isinstance(entry, list) else [entry]


def names_in(text: Any) -> frozenset[str]:
    """The names in a text that is a formula; none for anything else."""
    if not isinstance(text, str):
        return frozenset()
    try:
        return formula(text).names
    except FormulaError:
        return frozenset()


def expression(text: Scalar, graph: ModelGraph, wanted: Unit, name: str) -> float | str:
    """A quantity ("650 us") or a formula ("2 * cpu_time"); names of the model take precedence.

    Parameters
    ----------
    text
        A number, a quantity with a unit, or a formula.
    graph
        The graph, whose names formulas may use.
    wanted
        The unit to which a quantity must be convertible.
    name
        What it is, for messages.
    """
    if not isinstance(text, str):
        return _plain(text, name)
    names = names_in(text)
    if NUMBER_START.match(text) and not (names and names <= graph.names):
        try:
            return quantity(text, wanted, name)
        except UnitError:
            if _is_of_numbers(text):
                return text
            if unit_of(text) is not None:
                raise
            if not names and is_arithmetic(text):
                why = (
                    "mixes units and arithmetic; define the quantity in [parameters] and use "
                    "its name"
                )
                msg = f"{name}: {text!r} {why}"
                raise FormulaError(msg) from None
            if not names:
                raise
    graph.check_known(formula(text), name)
    return text


def written(read: Formula) -> str | float:
    """A formula as files write it: its value if it is a plain number, otherwise its text.

    Examples
    --------
    >>> written(formula("2 * users")), written(formula("2"))
    ('2 * users', 2.0)
    """
    if read.constant is None:
        return read.text
    return UNLIMITED if read.constant == math.inf else read.constant


def is_unlimited(text: Scalar) -> bool:
    """Whether a number has no limit: ``unlimited`` or ``inf``, quoted or not.

    Examples
    --------
    >>> is_unlimited("unlimited"), is_unlimited(math.inf), is_unlimited(8)
    (True, True, False)
    """
    return text in (UNLIMITED, "inf", math.inf)


def unit_of(text: Any) -> Unit | None:
    """The unit after the number with which a text begins; None if either is missing.

    Examples
    --------
    >>> str(unit_of("10 min")), unit_of("2 * cpu_time"), unit_of(3)
    ('min', None, None)
    """
    if not isinstance(text, str) or not NUMBER_START.match(text):
        return None
    try:
        return unit(LEADING_NUMBER.sub("", text))
    except UnitError:
        return None


def is_arithmetic(text: Any) -> bool:
    """Whether a text that begins with a number goes on with more than a unit.

    Examples
    --------
    >>> is_arithmetic("2 * (1 + sin(t / 24 h))"), is_arithmetic("2 * load"), is_arithmetic("1/2 h")
    (True, True, False)
    """
    if not isinstance(text, str) or not NUMBER_START.match(text) or unit_of(text) is not None:
        return False
    return bool(names_in(text)) or re.search(r"[+(]|[*/-]\s*[0-9.]", text) is not None


def _is_of_numbers(text: str) -> bool:
    """Whether a text is a formula of numbers only, such as ``1 - 1/3``."""
    try:
        return not formula(text).names
    except FormulaError:
        return False


def _plain(number: float, name: str) -> float:
    """A plain number of a model file; whole numbers may have any length there."""
    return quantity(number, None, name)
