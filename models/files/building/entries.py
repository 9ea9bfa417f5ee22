"""Numbers of a file's tables as expressions and parameters, with the place of each."""

from collections.abc import Mapping
from functools import partial
from math import inf
from typing import Any

from headway.errors import FormulaError, UnitError, nearest
from headway.models.files.building import schema
from headway.models.files.building.expressions import (
    FIELD_UNITS,
    NUMBER_START,
    expression,
    flat,
    is_arithmetic,
    unit_of,
)
from headway.models.files.building.keys import FILE_KEYS
from headway.models.files.building.places import KeyLines
from headway.models.files.building.shapes import KeyTable
from headway.models.language.parameters import Parameter
from headway.models.language.units import (
    LEADING_NUMBER,
    ONE,
    Unit,
    done_by,
    quantity,
    si_text,
    unit,
)
from headway.models.structure.graph import ModelGraph

ARRIVAL_RATE = "arrival_rate"
"""The parameter that every command sets as the load, so it has no formula."""


class Entries:
    """A file's entries and their places, which all tables use to read them."""

    def __init__(self, entry: schema.ModelEntry, place: KeyLines) -> None:
        self.entry = entry
        self.place = place

    def parameter(self, name: str, entry: schema.ParameterEntry) -> Parameter:
        """A parameter with its bounds, shown in its own unit."""
        with self.place("parameters", name):
            if is_arithmetic(entry.value):
                raise self._in_place_of_a_value(name, entry.value)
            shown = _shown_unit(entry)
            limits = ((entry.min, -inf, "minimum"), (entry.max, inf, "maximum"))
            low, high = (
                none if limit is None else _stated(limit, shown, f"{name}: {side}")
                for limit, none, side in limits
            )
            value = None if entry.value is None else _stated(entry.value, shown, name)
            parameter = Parameter(name, value, shown, low, high, entry.doc, entry.source)
        if entry.ci95 is None:
            return parameter
        with self.place("parameters", name, "ci95"):
            for end in (end for end in entry.ci95 if end):
                _stated(end, shown, f"{name}: ci95")
            return parameter.within(*entry.ci95)

    def _in_place_of_a_value(self, name: str, text: schema.Scalar | None) -> FormulaError:
        """The refusal of a formula in place of a number, with where it may stand."""
        where = f'write {{ formula = "{text}" }}, without units in it'
        if name == ARRIVAL_RATE:
            where = self.rate_as_formula
        return FormulaError(f"{name} is {text!r}, not a number; {where}")

    @property
    def rate_as_formula(self) -> str:
        """Where a formula of the arrival rate may stand."""
        station = next(iter((*self.entry.arrivals, *self.entry.stations)), "STATION")
        return f'give the formula to the station where jobs arrive: [arrivals] {station} = "..."'

    def check_names(self, kind: str, name: str, table: Mapping[str, Any], known: KeyTable) -> None:
        """Refuse keys that an entry cannot have, suggesting the nearest."""
        for key in table:
            if key not in known:
                msg = f"{name} has no {key!r}{nearest(key, known)}"
                raise self.place.error(msg, kind, name, key)

    def check_keys(self, kind: str, name: str, table: Mapping[str, Any], known: KeyTable) -> None:
        """Refuse unknown keys of an entry, and values of the wrong form."""
        self.check_names(kind, name, table, known)
        for key, entry in table.items():
            try:
                known[key].shape(entry, (kind, name, key))
            except schema.Fault as fault:
                raise self.place.error(fault.what, *fault.keys) from None

    def numbers(
        self,
        graph: ModelGraph,
        kind: str,
        name: str,
        table: Mapping[str, Any],
        units: Mapping[str, Unit] = FIELD_UNITS,
    ) -> dict[str, Any]:
        """Read an entry's numbers: each is an expression, a list of them, or a table by class."""
        values: dict[str, Any] = {}
        for key, entry in table.items():
            with self.place(kind, name, FILE_KEYS.get(key, key)):
                read = partial(
                    expression, graph=graph, wanted=units.get(key, ONE), name=f"{name}.{key}"
                )
                if isinstance(entry, dict):
                    values[key] = {c: read(text) for c, text in entry.items()}
                elif isinstance(entry, list):
                    values[key] = [read(text) for text in entry]
                else:
                    values[key] = read(entry)
        return values


def chosen_units(entry: schema.ModelEntry) -> tuple[Unit, ...]:
    """Units of the numbers of stations, classes and arrivals that answers would not use by default.

    Answers are in SI units with prefixes, unless the file uses hours or minutes; they count what
    the file counts, such as requests or jobs.
    """
    arrivals = [[arrival.rate] for arrival in entry.arrivals.values()]
    tables = [table.values() for table in (*entry.stations.values(), *entry.classes.values())]
    texts = [text for values in (*tables, *arrivals) for value in values for text in flat(value)]
    given = dict.fromkeys(filter(None, map(unit_of, texts)))
    return tuple(e for e in given if (e.dimension[0] and not e.is_metric) or done_by(e))


def _stated(given: str | float, shown: Unit, name: str) -> float:
    """The SI value of a number of a parameter.

    Raises
    ------
    UnitError
        For a number without a unit beside one that is not of SI: both could be meant.
    """
    value = quantity(given, shown, name)
    bare = not LEADING_NUMBER.sub("", str(given))
    if value and bare and shown.scale != 1 and any(shown.dimension):
        text = str(given).strip()
        base = f"{text} {si_text(shown.dimension)}"
        msg = (
            f"{name} is {text} without a unit of its own, beside {shown}; write "
            f'"{text} {shown}", or "{base}" if that is meant'
        )
        raise UnitError(msg)
    return value


def _shown_unit(entry: schema.ParameterEntry) -> Unit:
    """The unit in which a parameter is shown: its own, or that of its value or a bound."""
    if entry.unit is not None:
        return unit(entry.unit)
    for text in (entry.value, entry.min, entry.max):
        if isinstance(text, str) and NUMBER_START.match(text):
            unit_text = LEADING_NUMBER.sub("", text)
            if unit_text:
                return unit(unit_text)
    return ONE
