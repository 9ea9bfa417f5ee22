"""Roles of columns, such as the offered rate, the throughput or the population, in one table.

`ROLES` are roles of a single column of a table, `MANY` roles of several columns, each with
its own percentage or resource. Readers, titles, options and written tables all use them.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from headway.errors import MeasurementError, nearest, quoted
from headway.models.language.titles import RATE, plain_title, split_header
from headway.models.language.units import ONE, Unit, unit
from headway.models.measured.cells import Observed
from headway.models.measured.statistic import Measure, statistic
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True)
class Role:
    """What a column can be.

    Parameters
    ----------
    name
        Its name in documents.
    titles
        Titles recognised, without unit, the preferred one first; see `plain_title`.
    unit
        A unit of the dimension that it must have.
    load
        Whether it can be the load.
    closed
        Whether such a load is a population, which closes the model.
    output
        The output of a model that it measures; empty if it measures none.
    part
        Its field in a `Point`; empty if it has none of its own.
    written
        The title of the column that headway writes, in SI.
    """

    name: str
    titles: tuple[str, ...]
    unit: Unit
    load: bool = False
    closed: bool = False
    output: str = ""
    part: str = ""
    written: str = ""

    @property
    def word(self) -> str:
        """Its name in an option."""
        return self.name.replace(" ", "_")


DELIVERED = Role(
    "throughput",
    (
        "throughput", "achieved", RATE, "delivered", "achieved_rate", "delivered_rate",
        "achieved_throughput", "throughput_rate",
    ),
    unit("op/s"),
    load=True,
    output="throughput",
    part="throughput",
    written="throughput_ops_s",
)  # fmt: skip
OFFERED = Role(
    "offered rate",
    (
        "arrival_rate", "load", "requested", "offered", "offered_rate", "offered_load",
        "requested_rate", "target", "target_rate",
    ),
    unit("op/s"),
    load=True,
    part="offered_rate",
    written="offered_rate_ops_s",
)  # fmt: skip
POPULATION = Role(
    "population",
    (
        "population", "clients", "threads", "connections", "vus", "virtual_users", "users",
        "concurrency", "concurrency_level", "queue_depth", "iodepth", "io_depth",
    ),
    unit("job"),
    load=True,
    closed=True,
    part="population",
    written="population",
)  # fmt: skip
INSIDE = Role(
    "requests inside",
    ("outstanding", "outstanding_requests", "in_flight", "inflight"),
    unit("job"),
    load=True,
    closed=True,
    written="outstanding",
)
RESPONSE = Role(
    "response time",
    (
        "response_time", "response", "latency", "time_per_request", "sojourn_time",
        "resp_time", "resp", "lat",
    ),
    unit("s"),
    output="response_time",
    part="response_time",
    written="response_s",
)  # fmt: skip
THINK = Role(
    "think time", ("think_time", "think"), unit("s"), part="think_time", written="think_time_s"
)
ERRORS = Role(
    "errors",
    ("errors", "failures", "failed", "failed_requests"),
    unit("job"),
    part="errors",
    written="errors",
)
SAMPLES = Role(
    "samples",
    ("samples", "requests", "completed", "completed_requests"),
    unit("job"),
    part="samples",
    written="samples",
)
DURATION = Role(
    "duration",
    ("duration", "test_duration", "run_time", "runtime"),
    unit("s"),
    part="duration",
    written="duration_s",
)
CORES = Role("cores", ("cores",), unit("job"), written="cores")

ROLES = (
    OFFERED, POPULATION, INSIDE, THINK, DELIVERED, RESPONSE, ERRORS, SAMPLES, DURATION, CORES,
)  # fmt: skip
"""Every role of a single column; a title belongs to one role."""

_DRIVERS = ("clients", "threads", "connections", "users", "virtual users")
_WAITING = ("queue_depth", "iodepth", "io_depth", *INSIDE.titles)


def counted_in(population: Observed) -> Unit:
    r"""What a population counts, in the word of its column.

    Examples
    --------
    >>> from headway.models import Measurements
    >>> table = Measurements.parse("threads,VUs,iodepth,concurrency\n1,2,3,4\n", "own.csv")
    >>> [str(counted_in(column)) for column in table.columns.values()]
    ['threads', 'virtual users', 'requests', 'clients']
    """
    title = population.header
    word = next((each for each in _DRIVERS if same_title(title, each)), "clients")
    word = "virtual users" if same_title(title, "vus") else word
    word = "requests" if any(same_title(title, each) for each in _WAITING) else word
    return replace(unit("job"), text=word)


PERCENTILE = Role(
    "percentile", ("p50", "median", "p99"), unit("s"), part="percentiles", written="p{}_s"
)
UTILISATION = Role(
    "utilisation",
    ("util", "utilisation", "utilization", "busy"),
    ONE,
    part="utilisation",
    written="{}_util",
)

EXTREME = Role("extreme", ("min", "max"), unit("s"), part="more", written="response_time_{}_s")

MANY = (PERCENTILE, UTILISATION, EXTREME)
"""Roles of several columns, one for each percentage, end or resource."""

NO_ROLE = "none"
"""The role that the user gives to a column without one."""

_UNSURE = {
    "rate": (DELIVERED, OFFERED),
    "request_rate": (DELIVERED, OFFERED),
    "time": (RESPONSE, DURATION),
    "elapsed": (RESPONSE, DURATION),
    "elapsed_time": (RESPONSE, DURATION),
    "mean": (RESPONSE,),
    "average": (RESPONSE,),
    "avg": (RESPONSE,),
}
"""Titles that may have several roles; headway assumes none until the user gives one."""


class ColumnRole(NamedTuple):
    """A column's role, with its percentage or resource; empty for a role of a single column.

    Examples
    --------
    >>> roles = (ColumnRole(PERCENTILE, "99"), ColumnRole(UTILISATION, "cpu"), ColumnRole(RESPONSE))
    >>> tuple(map(str, roles))
    ('p99', 'cpu_util', 'response_time')
    """

    role: Role
    key: str = ""

    def __str__(self) -> str:
        if self.role is PERCENTILE:
            return f"p{self.key}"
        if self.role is EXTREME:
            return f"response_time_{self.key}"
        return f"{self.key}_util" if self.role is UTILISATION else self.role.word

    @property
    def written(self) -> str:
        """The title of its column as headway writes it, in SI.

        Examples
        --------
        >>> ColumnRole(PERCENTILE, "99.9").written, ColumnRole(DELIVERED).written
        ('p99_9_s', 'throughput_ops_s')
        """
        key = self.key.replace(".", "_") if self.role is PERCENTILE else self.key
        return self.role.written.format(key)

    @property
    def shown(self) -> str:
        """The name for people."""
        if self.role is PERCENTILE:
            return f"response time p{self.key}"
        if self.role is EXTREME:
            return f"{_ENDS[self.key]} response time"
        return f"{self.role.name} {self.key}".strip()


def role_names() -> list[str]:
    """Names of roles for options: those of `ROLES`, examples of `MANY`, and the one for no role.

    Examples
    --------
    >>> role_names()[:3]
    ['offered_rate', 'population', 'requests_inside']
    """
    return [
        *(role.word for role in ROLES),
        "median",
        "p90",
        "p95",
        "p99",
        "cpu_util",
        "disk_util",
        NO_ROLE,
    ]


def role_of(column: Observed) -> Role | None:
    r"""The role of a column, by its title and dimension; None if it has none.

    Examples
    --------
    >>> from headway.models import Measurements
    >>> table = Measurements.parse("users,users_per_s,p99_ms\n1,2,3\n", "own.csv")
    >>> role_of(table.column("users")).name, role_of(table.column("users_per_s"))
    ('population', None)
    """
    part = part_of(column)
    return part.role if part is not None and part.role in ROLES else None


def part_of(column: Observed) -> ColumnRole | None:
    r"""The role of a column, with its percentage or resource: the user's choice, or by its title.

    Examples
    --------
    >>> from headway.models import Measurements
    >>> table = Measurements.parse("clients,p99 (ms),CPU [%]\n1,2,3\n", "own.csv")
    >>> [str(part_of(column)) for column in table.columns.values()]
    ['population', 'p99', 'cpu_util']
    """
    if column.role == NO_ROLE:
        return None
    if column.role:
        return part_named(column.role)
    some = (titled(column.header), _resource(column.header, column.unit))
    return next((part for part in some if part and fits(column.unit, part.role)), None)


def fits(given: Unit, role: Role) -> bool:
    """Whether the unit suits the role: the dimension matches, and a count is not in per cent.

    Examples
    --------
    >>> fits(unit("ms"), RESPONSE), fits(unit("%"), ERRORS), fits(unit("%"), UTILISATION)
    (True, False, True)
    """
    is_count = role.unit.dimension == unit("job").dimension
    return given.dimension[:2] == role.unit.dimension[:2] and not (is_count and given.text == "%")


@lru_cache(maxsize=4096)
def titled(title: str) -> ColumnRole | None:
    """The role that matches a title, whatever its unit; None if none does.

    Examples
    --------
    >>> str(titled("95th percentile (ms)")), str(titled("disk busy %")), titled("business_metric")
    ('p95', 'disk_util', None)
    """
    measure = statistic(title)
    for role in ROLES if measure is None else ():
        if any(same_title(title, each) for each in role.titles):
            return ColumnRole(role)
    if measure is None:
        return _resource(title, split_header(title)[1])
    kind, key, words = _STATISTICS.get(measure.measure, (None, "", _PERCENT_WORD))
    rest = _without(title, words)
    if kind is None or (rest and not any(same_title(rest, each) for each in RESPONSE.titles)):
        return None
    return ColumnRole(kind, key or f"{digits(measure.percent)}")


def same_title(title: str, other: str) -> bool:
    """Whether two titles name the same quantity, whatever their style and units.

    Examples
    --------
    >>> same_title("Mean Response Times [ms]", "response_time"), same_title("req/s", "rps")
    (True, True)
    """
    return _singular(title) == _singular(other)


@lru_cache(maxsize=4096)
def _singular(title: str) -> str:
    return plain_title(title).removesuffix("s")


_PERCENT_WORD = re.compile(
    r"p?\d+(?:[._]\d+)?(?:st|nd|rd|th|%)?|p|percentiles?|pctl|pctile|pct|centile|quantile|median|"
    r"med|line|%|(?:percentile|pctl|pct)\d+"
)


_STATISTICS = {
    Measure.PERCENTILE: (PERCENTILE, "", _PERCENT_WORD),
    Measure.MINIMUM: (EXTREME, "min", re.compile("min|minimum|p0")),
    Measure.MAXIMUM: (EXTREME, "max", re.compile("max|maximum|worst|p100")),
}
_ENDS = {"min": "shortest", "max": "longest"}


def _without(title: str, statistic_words: re.Pattern[str]) -> str:
    """The quantity in a statistic's title; empty if it is the response time."""
    words = plain_title(title).replace("th_percentile", "_percentile").split("_")
    return "_".join(word for word in words if word and not statistic_words.fullmatch(word))


_RESOURCES = frozenset(("cpu", "disk", "memory", "network", "nic", "gpu"))


def _resource(title: str, measured_unit: Unit | None) -> ColumnRole | None:
    """The resource whose utilisation a title names: ``cpu_util``, ``Disk busy``, ``CPU [%]``."""
    *words, last = plain_title(title).lstrip("%").split("_")
    if last in UTILISATION.titles and words:
        return ColumnRole(UTILISATION, "_".join(words))
    is_share = measured_unit is not None and measured_unit.text == "%"
    return ColumnRole(UTILISATION, last) if is_share and not words and last in _RESOURCES else None


def part_named(name: str) -> ColumnRole:
    """Read a role as the user gives it.

    Parameters
    ----------
    name
        One of `role_names`, or ``p`` with a percentage, or a resource followed by ``_util``; any
        title of a role works too.

    Raises
    ------
    MeasurementError
        For anything else; names the nearest role.

    Examples
    --------
    >>> str(part_named("response time")), str(part_named("p99.9")), str(part_named("nic_util"))
    ('response_time', 'p99.9', 'nic_util')
    """
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    part = next((ColumnRole(role) for role in ROLES if role.word == plain), None) or titled(plain)
    if part is None:
        msg = f"{quoted(name)} is not a column role{nearest(plain, role_names())}"
        raise MeasurementError(msg)
    return part


def unsure(column: Observed) -> tuple[Role, ...]:
    r"""The possible roles of a column with an ambiguous title.

    Examples
    --------
    >>> from headway.models import Measurements
    >>> table = Measurements.parse("Average (ms),rate_ops_s\n1,2\n", "own.csv")
    >>> [[role.name for role in unsure(column)] for column in table.columns.values()]
    [['response time'], ['throughput', 'offered rate']]
    """
    words = split_header(column.header)[0].lower().replace(" ", "_")
    if plain_title(words) == column.unit.text.lower():
        words = words.partition("_")[0]  # ``mean_ms`` has no name, only a filler word
    some = _UNSURE.get(plain_title(column.header)) or _UNSURE.get(words, ())
    return tuple(role for role in some if not column.role and fits(column.unit, role))


def with_mean(columns: Mapping[str, Observed]) -> dict[str, Observed]:
    r"""Take the only column titled mean or average as the response time, if there are percentiles.

    Percentiles without a quantity are those of the response time, so a mean beside them is its
    mean, unless another column is the response time.

    Parameters
    ----------
    columns
        All columns of a table, by title.

    Examples
    --------
    >>> from headway.models import Measurements
    >>> table = Measurements.parse("threads,mean_ms,p99_ms\n8,2,9\n", "own.csv")
    >>> table.column("mean_ms").role
    'response_time'
    """
    roles = [part.role for column in columns.values() if (part := part_of(column)) is not None]
    means = [c for c in columns.values() if not c.role and unsure(c) == (RESPONSE,)]
    if len(means) != 1 or RESPONSE in roles or PERCENTILE not in roles:
        return dict(columns)
    [mean] = means
    return {**columns, mean.header: replace(mean, role=RESPONSE.word)}
