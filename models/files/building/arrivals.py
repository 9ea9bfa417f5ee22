"""The shape of ``[arrivals]``: how many jobs come from outside, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from headway.models.files.building.shapes import (
    FieldsTable,
    Json,
    Keys,
    Plain,
    Scalar,
    Schema,
    Several,
    TableKey,
    TextSchema,
)

_TEXT, _PLAIN = TextSchema(), Plain()


class ArrivalEntry(NamedTuple):
    """``[arrivals] STATION``: a rate, how the times between arrivals vary, and how many come.

    A trace is a table with a column of those times.
    """

    rate: Scalar | None = None
    scv: Scalar | None = None
    batch: Scalar | Mapping[str, Scalar] | None = None
    trace: str = ""
    column: str = ""


@dataclass(frozen=True)
class _Arrival(Schema):
    """A rate alone, or a table."""

    entry: FieldsTable

    def __call__(self, value: Any, keys: Keys) -> ArrivalEntry:
        """Read an arrival."""
        arrival: ArrivalEntry = (
            self.entry(value, keys)
            if isinstance(value, dict)
            else ArrivalEntry(_PLAIN(value, keys))
        )
        return arrival

    def described(self) -> Json:
        """Describe both."""
        return self.entry.described()


_FIELDS = FieldsTable(
    ArrivalEntry,
    {
        "rate": TableKey(_PLAIN, "The arrival rate [1/s]; the parameter arrival_rate by default."),
        "scv": TableKey(_PLAIN, "Squared coefficient of variation of the interarrival times."),
        "batch": TableKey(
            Several(listed=False),
            "How many jobs arrive together: a whole number; { mean = 4 } for geometric sizes; or "
            "probabilities by size, { 1 = 0.5, 2 = 0.5 }. The rate is that of jobs.",
        ),
        "trace": TableKey(_TEXT, "A CSV file in the same folder with measured interarrival times."),
        "column": TableKey(_TEXT, "The column of the trace with these times."),
    },
    short="rate",
)
ARRIVAL = _Arrival(_FIELDS)
"""A station's arrivals from outside."""
