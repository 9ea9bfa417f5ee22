"""All outputs of answers: each has a name, a unit, a direction, and a function that computes it.

What can be shown, targeted, swept, fitted and drawn follows from these rows. An output with a
number in its name, such as ``response_time_p99``, is computed on demand; other packages add rows by
entry points of the group ``headway.outputs``.
"""

import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace
from enum import Flag, auto
from functools import cached_property, lru_cache
from math import nan
from typing import TYPE_CHECKING

from headway.errors import HeadwayError, PackageError
from headway.lazy import offered, outside
from headway.models.language.units import ONE, Unit, quantity, unit
from headway.models.structure.meanings import Better, Meaning
from headway.models.structure.parts.keys import of_class
from headway.records import dataclass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "headway.outputs"
"""Entry points by which other packages offer outputs: ``NAME = module:ROW``."""

RATE = "rate"
"""Unit of rates: that of the model's arrival rate."""

_DIGITS = 12
_NUMBER = r"(\d+(?:\.\d+)?)"
_PLACES = {"{percent}": _NUMBER, "{time}": _NUMBER + r"([a-zµμ]+)"}


class Of(Flag):
    """What an output belongs to."""

    NETWORK = auto()
    CLASS = auto()
    STATION = auto()
    REGION = auto()


_ALL = Of.NETWORK | Of.CLASS | Of.STATION | Of.REGION
_JOBS = Of.NETWORK | Of.CLASS
_PLACE = Of.STATION | Of.REGION


@dataclass(frozen=True)
class Output:
    """A result of a network, its classes of jobs, its stations or regions.

    Parameters
    ----------
    pattern
        Its name; ``{percent}`` or ``{time}`` stands for a number: ``response_time_p{percent}``.
    of
        What it can belong to.
    unit
        SI unit, such as ``s^2``; ``rate`` for the unit of the model's arrival rate.
    doc
        What it is, in a line.
    better
        Whether less or more of it is better; None if that is not stated.
    compute
        The function that adds it to a solution: a verb of solutions, or ``module:function`` of
        another package, which takes the solution and a tuple of `Request`. Empty for outputs that
        every solution has.
    search
        A faster function for searches: it takes the solution and the number in a request.
    together
        A verb that says whether a solution's points are computed together; empty if one by one.

    Examples
    --------
    >>> row = Output("response_time_variance", Of.NETWORK, "s^2", "of response times", Better.LESS)
    >>> str(row.meaning(unit("op/s")).unit)
    's^2'
    """

    pattern: str
    of: Of
    unit: str
    doc: str
    better: Better | None = None
    compute: str = ""
    search: str = ""
    together: str = ""

    @property
    def example(self) -> str:
        """An example of its name, for messages and lists.

        Examples
        --------
        >>> read_part("response_time_over_2s", Of.NETWORK).output.example
        'response_time_over_10ms'
        """
        return self.pattern.replace("{percent}", "95").replace("{time}", "10ms")

    def meaning(self, rate: Unit) -> Meaning:
        """Its unit and explanation, for a given unit of rates."""
        return Meaning(rate if self.unit == RATE else unit(self.unit), better=self.better)

    @cached_property
    def _written(self) -> re.Pattern[str]:
        """The pattern that its names match."""
        parts = re.split(r"(\{\w+\})", self.pattern)
        return re.compile("".join(_PLACES.get(part) or re.escape(part) for part in parts), re.ASCII)


PERCENTILE = Output(
    "response_time_p{percent}",
    _JOBS,
    "s",
    "time within which that percentage of jobs completes",
    Better.LESS,
    compute="percentiles",
    search="search_percentile",
    together="all_at_once",
)
"""The time within which a share of the jobs completes."""

_LESS, _MORE = Better.LESS, Better.MORE

OUTPUTS: tuple[Output, ...] = (
    Output("throughput", _ALL, RATE, "jobs completed", _MORE),
    Output("response_time", _ALL, "s", "mean time from a job's arrival until it leaves", _LESS),
    Output("saturation_throughput", ~Of.CLASS, RATE, "throughput that it cannot exceed", _MORE),
    Output("knee_population", Of.NETWORK, "", "population where the asymptotes meet"),
    Output("loss_probability", ~Of.REGION, "", "share of arriving jobs that are lost", _LESS),
    Output("goodput", _JOBS, RATE, "requests answered before their clients gave up", _MORE),
    Output("attempts", _JOBS, "", "mean attempts of a request, retries included", _LESS),
    Output("abandonment", _JOBS, "", "share of requests whose clients give up", _LESS),
    Output("wasted_work", _JOBS, "", "share of the work done for attempts that failed", _LESS),
    Output("breaker_refusals", _JOBS, "", "share of attempts that a breaker refuses", _LESS),
    Output("breaker_open", _JOBS, "", "share of time that the circuit breaker is open", _LESS),
    Output("breaker_openings", _JOBS, "openings/s", "how often the circuit breaker opens", _LESS),
    Output("utilisation", _PLACE, "", "share of the servers, or of the places, in use"),
    Output("queue_length", _PLACE, "", "mean jobs present; of a region, those waiting outside"),
    Output("residence_time", Of.STATION, "s", "mean time of a job there, over all visits", _LESS),
    Output("waiting_time", _PLACE, "s", "mean time before service, or outside a region", _LESS),
    Output("arrival_scv", Of.STATION, "", "squared coefficient of variation of arrivals"),
    Output("departure_scv", Of.STATION, "", "squared coefficient of variation of departures"),
    Output("blocked", Of.STATION, "", "share of time that it cannot pass on a finished job"),
    Output("call_blocking", Of.STATION, "", "share of arrivals that find no place", _LESS),
    Output("full", _PLACE, "", "share of time that every place is taken"),
    Output("limit", _PLACE, "", "number of places"),
    PERCENTILE,
    Output(
        "response_time_over_{time}", _JOBS, "", "chance that a job takes longer", _LESS,
        compute="exceedances",
    ),
    Output(
        "waiting_time_p{percent}", Of.STATION, "s", "wait that this share of visits keeps to",
        _LESS, compute="station_numbers",
    ),
    Output(
        "waiting_time_over_{time}", Of.STATION, "", "chance that a visit waits longer", _LESS,
        compute="station_numbers",
    ),
    Output(
        "response_time_over_{time}", Of.STATION, "", "chance that a visit takes longer", _LESS,
        compute="station_numbers",
    ),
    Output(
        "empty_probability", Of.STATION, "", "chance that no job is there",
        compute="station_numbers",
    ),
    Output(
        "waiting_probability", Of.STATION, "", "chance that an arriving job waits",
        compute="station_numbers",
    ),
    Output(
        "queue_length_variance", Of.STATION, "", "variance of the number of jobs present",
        compute="station_numbers",
    ),
)  # fmt: skip
"""All of headway's own outputs."""


@dataclass(frozen=True)
class Request:
    """An output that is asked for by name.

    Parameters
    ----------
    output
        The output.
    part
        Its name in answers without its owner: ``response_time_p99.9`` also for ``..._p99.90``.
    owner
        Name of a class of jobs, a station or a region; empty for the network.
    of
        What it belongs to.
    number
        The percentage or time [s] in its name; NaN if its name has none.

    Examples
    --------
    >>> read_output("disk.waiting_time_p95.0", stations=["disk"]).name
    'disk.waiting_time_p95'
    """

    output: Output
    part: str
    owner: str = ""
    of: Of = Of.NETWORK
    number: float = nan

    @property
    def name(self) -> str:
        """Its name in answers."""
        if self.of is Of.CLASS:
            return str(of_class(self.owner, self.part))
        return f"{self.owner}.{self.part}" if self.owner else self.part


def percentile_name(percent: float) -> str:
    """The name of a percentile of the response time.

    Examples
    --------
    >>> percentile_name(95.0), percentile_name(99.99999)
    ('response_time_p95', 'response_time_p99.99999')
    """
    return PERCENTILE.pattern.replace("{percent}", f"{percent:.{_DIGITS}g}")


def read_part(part: str, of: Of) -> Request | None:
    """Read the name of an output without its owner; None if there is no such output.

    Parameters
    ----------
    part
        The name, such as ``response_time_p99``.
    of
        What it may belong to.

    Examples
    --------
    >>> read_part("waiting_time_over_2.50ms", Of.STATION).number
    0.0025
    >>> read_part("response_time_past", Of.NETWORK) is None
    True
    """
    own = _read(part, of)
    return own if own is not None else _from_outside(part, of)


@lru_cache(maxsize=4096)
def _read(part: str, of: Of) -> Request | None:
    return _first(OUTPUTS, part, of)


def _first(rows: Iterable[Output], part: str, of: Of) -> Request | None:
    for row in rows:
        match = row._written.fullmatch(part) if row.of & of else None
        request = None if match is None else _with_number(row, match, of)
        if request is not None:
            return request
    return None


def _with_number(row: Output, match: re.Match[str], of: Of) -> Request | None:
    """The request for a name that matches; None if its number is not followed by a unit of time."""
    if not match.groups():
        return Request(row, row.pattern, of=of)
    number, text = float(match[1]), f"{float(match[1]):.{_DIGITS}g}"
    if "{percent}" in row.pattern:
        return Request(row, row.pattern.replace("{percent}", text), of=of, number=number)
    text += match[2]
    try:
        seconds = quantity(text, unit("s"))
    except HeadwayError:
        return None
    return Request(row, row.pattern.replace("{time}", text), of=of, number=seconds)


def _from_outside(part: str, of: Of) -> Request | None:
    return _first(_others(tuple(sys.path)), part, of)


@lru_cache(maxsize=4)
def _others(path: tuple[str, ...]) -> tuple[Output, ...]:  # noqa: ARG001  packages by where they are
    """Rows that other packages offer."""
    rows = (outside(GROUP, name, _row_of) for name in offered(GROUP))
    return tuple(row for row in rows if row is not None)


def _row_of(point: "EntryPoint") -> Output:
    row: object = point.load()
    if isinstance(row, Output):
        return row
    msg = f"{point.value} is not an Output"
    raise PackageError(msg)


def read_output(
    name: str, classes: Collection[str] = (), stations: Collection[str] = ()
) -> Request | None:
    """Read the full name of an output.

    Parameters
    ----------
    name
        The name, such as ``response_time``, ``class web.response_time_p99`` or
        ``disk.waiting_time_p95``.
    classes, stations
        Names of the classes of jobs, and of the stations.

    Returns
    -------
    The request; None for anything else, and for an output of an unknown class or station.

    Examples
    --------
    >>> read_output("class web.response_time_p50", ["web"]).name
    'class web.response_time_p50'
    >>> read_output("disk.response_time_p50", (), ["disk"]) is None
    True
    """
    owner, part = parted(name)
    if not owner:
        return read_part(part, Of.NETWORK)
    whose = owner.removeprefix("class ")
    if owner != whose and whose in classes:
        request = read_part(part, Of.CLASS)
    else:
        request = read_part(part, Of.STATION) if owner in stations else None
        whose = owner
    return None if request is None else replace(request, owner=whose)


def parted(name: str) -> tuple[str, str]:
    """The owner of an output, by its name, and the rest of the name.

    Examples
    --------
    >>> parted("class web.response_time_p99.9"), parted("throughput")
    (('class web', 'response_time_p99.9'), ('', 'throughput'))
    """
    owner, _, part = name.rpartition(".")
    while owner and part[:1].isdigit():  # it is a decimal point
        owner, _, more = owner.rpartition(".")
        part = f"{more}.{part}"
    return owner, part


def on_demand(
    names: Iterable[str], classes: Collection[str] = (), stations: Collection[str] = ()
) -> tuple[Request, ...]:
    """Those of some outputs that are computed on demand.

    Examples
    --------
    >>> [one.name for one in on_demand(["disk.empty_probability", "throughput"], (), ["disk"])]
    ['disk.empty_probability']
    """
    requests = (read_output(name, classes, stations) for name in names)
    return tuple(one for one in requests if one is not None and one.output.compute)


def percent_of(name: str, classes: Collection[str] = ()) -> float | None:
    """The percentage of a percentile's name; None for another output.

    Examples
    --------
    >>> percent_of("response_time_p99.90"), percent_of("response_time")
    (99.9, None)
    """
    request = read_output(name, classes)
    return request.number if request is not None and request.output is PERCENTILE else None


def part_unit(part: str) -> Unit:
    """SI unit of an output without its owner; that of a plain number if no output has this name.

    Examples
    --------
    >>> str(part_unit("residence_time")), str(part_unit("throughput"))
    ('s', '1/s')
    """
    request = read_part(part, _ALL)
    return ONE if request is None else request.output.meaning(unit("1/s")).unit


def usual_meaning(name: str, rate: Unit) -> Meaning:
    """The meaning of a number by its name alone: that of an output, or else by the name's ending.

    Parameters
    ----------
    name
        Name of an output of the network, a class or a station, or of a model's own number.
    rate
        Unit of rates.

    Examples
    --------
    >>> str(usual_meaning("cpu.throughput", unit("op/s")).unit), str(usual_meaning("x", ONE).unit)
    ('op/s', '')
    """
    part = parted(name)[1]
    own = next((each for end, each in _ENDINGS.items() if name.endswith(end)), None)
    request = _read(part, _ALL) or (None if own else _from_outside(part, _ALL))
    return request.output.meaning(rate) if request else own or Meaning()


_ENDINGS = {"_time": Meaning(unit("s"), better=_LESS)}
_ENDINGS |= dict.fromkeys(("_loss", "_losses"), Meaning(better=_LESS))
_ENDINGS |= dict.fromkeys(("bandwidth", "_saturation", "throughput"), Meaning(better=_MORE))

"""Meanings of a model's own numbers that it does not explain, by the endings of their names."""
