"""The shape of ``[arrivals]``: the rate of jobs from outside, their pattern, and their patience."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from headway.models.files.building.shapes import (
    Fault,
    FieldsTable,
    Json,
    Keys,
    KeysTable,
    KeyTable,
    Plain,
    Scalar,
    Schema,
    Several,
    TableKey,
    TextSchema,
    Truth,
)
from headway.records import dataclass

_TEXT, _PLAIN = TextSchema(), Plain()

CLIENT_NUMBERS = {
    "patience": "Mean time after which a job leaves the first line in which it has to wait; "
    "exponential, or { mean, scv }.",
    "timeout": "Time after which a client stops waiting for the answer to an attempt.",
    "retries": "How often a client asks again after a failed attempt, inf for ever; 0 by default.",
    "persistence": "Chance that it asks again each time; 1 by default.",
    "backoff": "Time before the first retry; constant, or { mean, scv }; 0 by default.",
    "backoff_factor": "How many times as long each further backoff is; 1 by default.",
    "jitter": "Share by which a backoff is lengthened or shortened at random; 0 by default.",
    "retry_budget": "Retries for each first attempt in the long run, such as 10%.",
    "retry_tokens": "Most tokens of the retry budget; 100 by default.",
}
"""Numbers of clients, and what they mean."""

NOTICES = "server_notices"
"""Whether servers stop work for clients who have gone; the only key that is not a number."""

ENDLESS = ("retries",)
"""Numbers that may be infinite."""

SPREAD = ("patience", "backoff")
"""Times that may be given as a mean and an scv."""


BREAKER = "circuit_breaker"
"""The key of a table of numbers, those of the clients' breaker."""

BREAKER_NUMBERS: KeyTable = {
    "failures": TableKey(
        _PLAIN, "Share of failures among attempts at which it opens, such as 50%.", needed=True
    ),
    "of": TableKey(_PLAIN, "How many attempts, the last that have ended; 100 by default."),
    "open_for": TableKey(
        _PLAIN, "Time for which it then refuses all attempts, before it is half-open.", needed=True
    ),
    "probes": TableKey(_PLAIN, "Attempts that it lets through to close again; 10 by default."),
}
"""What a circuit breaker may say."""

TABLES: Mapping[str, Iterable[str]] = dict.fromkeys(SPREAD, ("scv",)) | {BREAKER: BREAKER_NUMBERS}
"""Numbers that may be tables, and the parts that have names of their own."""


@dataclass(frozen=True)
class TimeSchema(Schema):
    """A mean time, or a table of the mean and the squared coefficient of variation."""

    def __call__(self, value: Any, keys: Keys) -> Scalar | dict[str, Scalar]:
        """Read either."""
        if not isinstance(value, dict):
            return Plain()(value, keys)
        if sorted(value) not in (["mean"], ["mean", "scv"]):
            raise Fault("must be a time, or { mean = time, scv = number }", keys)
        return {key: Plain()(each, (*keys, key)) for key, each in value.items()}

    def described(self) -> Json:
        """Describe both."""
        plain = Plain().described()
        table = {"properties": {"mean": plain, "scv": plain}, "required": ["mean"]}
        return {"type": ["string", "number", "object"], **table, "additionalProperties": False}


def parts_of(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str, Scalar]]:
    """The key of each number, its name, and its value; those of a table have a name each.

    Examples
    --------
    >>> list(parts_of({"retries": 3, "backoff": {"mean": "50 ms", "scv": 1}}))[1:]
    [('backoff', 'backoff', '50 ms'), ('backoff', 'backoff_scv', 1)]
    """
    for key, value in numbers.items():
        for part, number in (value if isinstance(value, dict) else {"mean": value}).items():
            yield key, key if part == "mean" else f"{key}_{part}", number


def gathered(terms: Iterable[tuple[str, Any]], tables: Mapping[str, Iterable[str]]) -> Json:
    """The reverse: numbers by key, those of each table together if a part of it is given.

    Examples
    --------
    >>> gathered([("backoff", 0.05), ("backoff_scv", 1)], {"backoff": ("scv",)})
    {'backoff': {'mean': 0.05, 'scv': 1}}
    """
    numbers = dict(terms)
    for key, parts in tables.items():
        given = {part: numbers.pop(name) for part in parts if (name := f"{key}_{part}") in numbers}
        if given:
            numbers[key] = ({"mean": numbers[key]} if key in numbers else {}) | given
    return numbers


CLIENT: KeyTable = {
    name: TableKey(TimeSchema() if name in SPREAD else Plain(), doc)
    for name, doc in CLIENT_NUMBERS.items()
} | {
    BREAKER: TableKey(
        KeysTable(BREAKER_NUMBERS),
        "What refuses the attempts of all clients, once many have failed: { failures, open_for }.",
    ),
    NOTICES: TableKey(Truth(), "Whether servers stop to work for a client that has gone."),
}
"""What a class of jobs, or arrivals, may say about clients."""


class ArrivalEntry(NamedTuple):
    """``[arrivals] STATION``: a rate, the variability of interarrival times, and sizes of batches.

    A trace is a table with a column of interarrival times, or a list of them; rates that follow
    time are a table of them, in a file or by time. Clients may give up.
    """

    rate: Scalar | None = None
    scv: Scalar | None = None
    batch: Scalar | Mapping[str, Scalar] | None = None
    trace: Scalar | list[Scalar] | None = None
    column: str | None = None
    rates: Scalar | Mapping[str, Scalar] | None = None
    period: Scalar | None = None
    clients: Mapping[str, Any] = MappingProxyType({})


ARRIVAL = FieldsTable(
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
    gathered=CLIENT,
)
"""A station's arrivals from outside."""
