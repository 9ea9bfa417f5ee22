"""The shape of ``[arrivals]``: how many jobs come from outside, and how."""

from collections.abc import Mapping
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
from headway.records import dataclass

_TEXT, _PLAIN = TextSchema(), Plain()


class ArrivalEntry(NamedTuple):
    """``[arrivals] STATION``: a rate, how the times between arrivals vary, and how many come.

    A trace is a table with a column of those times, or a list of them; rates that follow time are a
    table of them, in a file or by time.
    """

    rate: Scalar | None = None
    scv: Scalar | None = None
    batch: Scalar | Mapping[str, Scalar] | None = None
    trace: Scalar | list[Scalar] | None = None
    column: str | None = None
    rates: Scalar | Mapping[str, Scalar] | None = None
    period: Scalar | None = None


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
        "trace": TableKey(
            Several(by_class=False),
            "A CSV file in the same folder with measured interarrival times, or points in time; or "
            "a list of interarrival times. Simulations repeat them in this order.",
        ),
        "column": TableKey(_TEXT, "The column of the trace with these times."),
        "rates": TableKey(
            Several(listed=False),
            "Arrival rates that follow time: a CSV file in the same folder with columns of times "
            'and rates (or counts), or a table such as { "0 s" = 5, "1 min" = 9 }. Each rate holds '
            "until the next.",
        ),
        "period": TableKey(
            _PLAIN, "After which rates begin anew; the last one lasts as long as the one before."
        ),
    },
    short="rate",
)
ARRIVAL = _Arrival(_FIELDS)
"""A station's arrivals from outside."""
