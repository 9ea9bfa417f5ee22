"""Units, where numbers enter and leave: s, B, bit, op, message, job, and their products.

Inside headway numbers are SI (seconds, bytes, and counts of operations, messages, jobs). Prefixes
are SI (k, M, G: powers of 1000) and IEC (Ki, Mi, Gi: powers of 1024); KB is read as kB. Counts may
be left out: a rate "800 /s" is accepted as "800 op/s", but messages are not operations.
"""

import math
import re
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from headway.errors import LONGEST, UnitError, quoted
from headway.numerals import digits, settled
from headway.records import dataclass

Dimension = tuple[int, int, int, int, int]
"""Exponents of second, byte, operation, message and job."""

_BASES = ("s", "B", "op", "message", "job")
_NONE: Dimension = (0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Unit:
    """A unit: its factor to the SI unit of its dimension, and its name.

    Parameters
    ----------
    text
        As written, e.g. "us" or "MB/s".
    scale
        SI value of one such unit, e.g. 1e-6.
    dimension
        Exponents of second, byte, operation, message, job.

    Examples
    --------
    >>> unit("MB/s").scale
    1000000.0
    """

    text: str
    scale: float
    dimension: Dimension

    def __str__(self) -> str:
        return self.text

    @property
    def is_metric(self) -> bool:
        """Whether it is a power of ten of the SI unit, unlike hours and minutes.

        Examples
        --------
        >>> unit("us").is_metric, unit("1/s").is_metric, unit("/min").is_metric
        (True, True, False)
        """
        power = math.log10(self.scale)
        return abs(power - round(power)) < 1e-9

    @property
    def is_count(self) -> bool:
        """Whether it counts jobs, by whatever word: jobs, clients, threads.

        Examples
        --------
        >>> unit("job").is_count, unit("op/s").is_count
        (True, False)
        """
        return self.dimension == _NAMED["job"][1] and self.scale == 1

    def si(self, value: Any) -> Any:
        """SI value of a number of this unit; 100 us are 1e-4 s, not 9.999999999999999e-05.

        Examples
        --------
        >>> unit("us").si(100.0)
        0.0001
        """
        return value / (1 / self.scale) if self.scale < 1 else value * self.scale

    def read(self, above: str, below: str = "1") -> float:
        """SI value of a number, or of a fraction, as written: it is rounded only once.

        Examples
        --------
        >>> unit("us").read("778.8610757163285"), unit("h").read("1", "3")
        (0.0007788610757163285, 1200.0)
        """
        number = _EXACT.divide(Decimal(above), Decimal(below))
        if self.scale < 1:
            return float(_EXACT.divide(number, _whole(1 / self.scale)))
        return float(_EXACT.multiply(number, _whole(self.scale)))

    def written(self, value: float) -> str:
        """An SI value in this unit, in the digits from which `read` gives the same float.

        17 digits are enough, as decimal numbers with 17 digits are denser than floats, whatever the
        unit: 10^16 > 2^53. Only near the ends of the floats' range there may be none.

        Parameters
        ----------
        value
            A finite value.

        Examples
        --------
        >>> unit("us").written(0.00065), unit("us").written(0.0007788610757163285)
        ('650', '778.8610757163286')
        """
        near = value / self.scale
        short = (text for text in (f"{near:.15g}", f"{near:.16g}") if self._gives(text, value))
        return next(short, None) or self._written_out(value)

    def _gives(self, text: str, value: float) -> bool:
        return math.isfinite(float(text)) and self.read(text) == value

    def _written_out(self, value: float) -> str:
        """The exact quotient with 17 digits."""
        if self.scale < 1:
            return f"{_EXACT.multiply(Decimal(value), _whole(1 / self.scale)):.17g}"
        return f"{_EXACT.divide(Decimal(value), _whole(self.scale)):.17g}"


_EXACT = Context(prec=40)
"""More digits than floats have; the caller may have set another decimal context."""


def _whole(scale: float) -> Decimal:
    """A scale without rounding errors of products: 1/ns is 1e9 1/s, not 999999999.9999999."""
    whole = round(scale)
    return Decimal(whole if math.isclose(scale, whole, rel_tol=1e-15) else scale)


ONE = Unit("", 1.0, _NONE)
_SMALLEST = 1e-200
"""A unit's scale whose inverse, and square roots of whose products, are far from the ends of
floats."""


def _base(index: int) -> Dimension:
    return tuple(int(i == index) for i in range(5))  # type: ignore[return-value]


_WORK = "request", "requests", "transaction", "transactions", "query", "queries"
_ASKING = "client", "clients", "user", "users", "thread", "threads"
"""Words that people use for operations, and for the jobs that circulate and request them."""

_EVENTS = "opening", "openings"
"""Words for what happens to something, such as a circuit breaker; a plain number of them."""


def _named() -> dict[str, tuple[float, Dimension]]:
    time, data, operation, message, job = (_base(index) for index in range(5))
    si = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
    iec = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
    small = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12}
    names = {f"{p}s": (scale, time) for p, scale in small.items()}
    names |= {"min": (60.0, time), "h": (3600.0, time), "d": (86400.0, time)}
    for prefix, scale in (si | iec).items():
        names[f"{prefix}B"] = (scale, data)
        names[f"{prefix}bit"] = (scale / 8, data)
    names["KB"] = (1e3, data)
    for prefix, scale in si.items():
        names[f"{prefix}op"] = (scale, operation)
    names |= {f"{p}ops": (si[p], operation) for p in ("", "k", "M")}
    names |= {"message": (1.0, message), "messages": (1.0, message)}
    names |= dict.fromkeys(_WORK, (1.0, operation)) | dict.fromkeys(_ASKING, (1.0, job))
    names |= dict.fromkeys(_EVENTS, (1.0, _NONE))
    names |= {"job": (1.0, job), "jobs": (1.0, job), "%": (0.01, _NONE), "1": (1.0, _NONE)}
    return names


_NAMED = _named()
_SPOKEN = {"rps": "requests/s", "qps": "queries/s", "tps": "transactions/s", "iops": "op/s"}
"""What people write for rates, and how headway reads them."""
_HINTS = {
    "K": "kB or KiB",
    "b": "bit or B",
    "Mb": "Mbit or MB",
    "Gb": "Gbit or GB",
    "kb": "kbit or kB",
}
_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-zµμ%]+|1(?![0-9.]))(?:(?:\^|\*\*)?(?P<power>-?[0-9]))?|(?P<sign>[*/·]))"
)
_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"\s*([+-]?{_DIGITS})(?:\s*/\s*({_DIGITS}))?(?![0-9_])\s*(.*)", re.DOTALL)

LEADING_NUMBER = re.compile(rf"^\s*[+-]?{_DIGITS}(?:\s*/\s*{_DIGITS})?\s*")
"""The number or fraction before a unit."""


@lru_cache(maxsize=512)
def unit(text: str) -> Unit:
    """Read a unit such as "ms", "MB/s", "us/message" or "MB*s/op".

    Parameters
    ----------
    text
        Names joined by ``*``, ``/`` or blanks, read from left to right; empty for a plain number.

    Raises
    ------
    UnitError
        For an unknown name, with a hint if a letter is ambiguous.

    Examples
    --------
    >>> unit("1/s").dimension == unit("/s").dimension
    True
    >>> unit("GiB").scale
    1073741824.0
    """
    scale, dimension, position, direction = 1.0, list(_NONE), 0, 1
    stripped = text.strip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            msg = f"unit {quoted(text)} cannot be read; write for example ms, MB/s or op/s"
            raise UnitError(msg)
        position = match.end()
        if match["sign"]:
            direction = -1 if match["sign"] == "/" else 1
            continue
        factor, exponents = _look_up(match["name"])
        power = direction * int(match["power"] or 1)
        scale *= factor**power
        dimension = [d + power * e for d, e in zip(dimension, exponents, strict=True)]
        direction = 1
    if not _SMALLEST < scale < 1 / _SMALLEST:
        msg = f"unit {quoted(text)} is {digits(scale)} SI units, beyond what can be calculated with"
        raise UnitError(msg)
    return Unit(stripped, scale, tuple(dimension))  # type: ignore[arg-type]


def _look_up(name: str) -> tuple[float, Dimension]:
    if name in _NAMED:
        return _NAMED[name]
    if name in _SPOKEN:
        msg = f"unit {name!r} is not known; write {_SPOKEN[name]}"
        raise UnitError(msg)
    hint = _HINTS.get(name)
    if hint is not None:
        msg = f"unit {name!r} is ambiguous; write {hint}"
        raise UnitError(msg)
    import difflib

    near = difflib.get_close_matches(name[:LONGEST], _NAMED, 3, 0.5)
    msg = f"unit {quoted(name)} is not known" + (
        f"; did you mean {', '.join(near)}?" if near else ""
    )
    raise UnitError(msg)


def is_counted(given: Unit) -> bool:
    """Whether a unit is a word for circulating jobs: jobs, clients, requests.

    Examples
    --------
    >>> is_counted(unit("clients")), is_counted(unit("requests")), is_counted(unit("ms"))
    (True, True, False)
    """
    return given.scale == 1 and given.dimension in (_base(2), _base(4))


def done_by(counted: Unit) -> Unit | None:
    """The throughput of circulating jobs in their own word; None for a unit that counts nothing.

    Examples
    --------
    >>> [str(done_by(unit(word))) for word in ("jobs", "requests", "clients", "", "ms")]
    ['jobs/s', 'requests/s', 'requests/s', 'None', 'None']
    """
    if not is_counted(counted):
        return None
    return unit("requests/s" if counted.text in _ASKING else f"{counted.text}/s")


def is_rate(given: Unit) -> bool:
    """Whether a unit is that of a rate of jobs, operations or messages.

    Examples
    --------
    >>> is_rate(unit("/h")), is_rate(unit("op/s")), is_rate(unit("MB/s"))
    (True, True, False)
    """
    return given.dimension[:2] == (-1, 0)


def is_of_events(given: Unit) -> bool:
    """Whether a unit is how often something happens that is no job, operation or message.

    Examples
    --------
    >>> is_of_events(unit("openings/s")), is_of_events(unit("1/s")), is_of_events(unit("op/s"))
    (True, False, False)
    """
    return is_rate(given) and given.text.partition("/")[0] in _EVENTS


def in_words(given: Unit) -> Unit:
    """A rate that does not say of what, as readers see it: of requests. Its dimension stays.

    Examples
    --------
    >>> [str(in_words(unit(text))) for text in ("1/s", "/h", "op/s", "ms")]
    ['requests/s', 'requests/h', 'op/s', 'ms']
    >>> in_words(unit("1/s")).dimension == unit("1/s").dimension
    True
    """
    counted, slash, time = given.text.partition("/")
    if not is_rate(given) or any(given.dimension[2:]) or not slash or counted not in ("", "1"):
        return given
    return Unit(f"requests/{time}", given.scale, given.dimension)


def compatible(given: Dimension, wanted: Dimension) -> bool:
    """Whether a quantity of one dimension is accepted for another.

    Time and data must agree; counts (op, message, job) must agree unless one side leaves them out.

    Examples
    --------
    >>> compatible(unit("/s").dimension, unit("op/s").dimension)
    True
    >>> compatible(unit("message/s").dimension, unit("op/s").dimension)
    False
    """
    same_measure = given[:2] == wanted[:2]
    return same_measure and (given[2:] == wanted[2:] or not any(given[2:]) or not any(wanted[2:]))


def quantity(text: str | float, wanted: Unit | None = None, name: str = "value") -> float:
    """The SI value of a number with or without a unit.

    Parameters
    ----------
    text
        A number (taken as SI), or text such as "650 us", "12ms", "800", "40%", "1/3".
    wanted
        The unit to which the quantity must be convertible; by default it is not checked.
    name
        Its name, for the message.

    Raises
    ------
    UnitError
        For text that is not a number, is not finite, or has the wrong dimension.

    Examples
    --------
    >>> quantity("650us", unit("s")), quantity("1/4"), quantity("1/2 h")
    (0.00065, 0.25, 1800.0)
    >>> quantity("3 MB", unit("s"), "cpu_time")
    Traceback (most recent call last):
        ...
    headway.errors.UnitError: cpu_time is '3 MB', which is data (B); it needs time, such as s
    """
    match = _NUMBER.fullmatch(str(text))
    value = _number(match[1], match[2] or "1") if match else math.nan
    if match is None or not math.isfinite(value):
        shown = quoted(str(text))
        has_unit = wanted is None or wanted.dimension != _NONE
        such = " with a unit such as '650 us'" if has_unit else ""
        msg = f"{name} is {shown}, not a finite number{such}"
        raise UnitError(msg)
    given = unit(match[3])
    if given.text and wanted is not None and not compatible(given.dimension, wanted.dimension):
        example = wanted.text or "a bare 1.5"
        msg = (
            f"{name} is {quoted(str(text))}, which is {_word(given.dimension)} "
            f"({si_text(given.dimension)}); it needs {_word(wanted.dimension)}, such as {example}"
        )
        raise UnitError(msg)
    number = given.read(match[1], match[2] or "1") if given.text and value else value
    if not math.isfinite(number):
        msg = f"{name} is {quoted(str(text))}, which is too large"
        raise UnitError(msg)
    return number


def _number(above: str, below: str) -> float:
    """A fraction; NaN for division by zero."""
    divisor = float(below)
    return float(above) / divisor + 0.0 if divisor else math.nan


_WORDS = {(1, 0): "time", (0, 1): "data", (-1, 0): "rate", (-1, 1): "bandwidth", (0, 0): "a number"}


def _word(dimension: Dimension) -> str:
    return _WORDS.get(dimension[:2], "a product")


def si_text(dimension: Dimension) -> str:
    """Write the SI unit of a dimension.

    Examples
    --------
    >>> si_text(unit("MB/ms").dimension), si_text(unit("1/ms").dimension)
    ('B/s', '1/s')
    """
    above = [_power(b, e) for b, e in zip(_BASES, dimension, strict=True) if e > 0]
    below = [_power(b, -e) for b, e in zip(_BASES, dimension, strict=True) if e < 0]
    head = "*".join(above) or ("1" if below else "")
    return "/".join([head, *below])


def _power(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


_LADDERS: dict[tuple[int, int], tuple[str, ...]] = {
    (1, 0): ("ns", "us", "ms", "s"),
    (0, 1): ("B", "kB", "MB", "GB", "TB"),
    (-1, 1): ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"),
}


def readable(dimension: Dimension, size: float) -> Unit:
    """Choose the unit that shows a quantity of that size (in SI) with few digits.

    Examples
    --------
    >>> str(readable(unit("s").dimension, 0.0123))
    'ms'
    """
    ladder = _LADDERS.get(dimension[:2])
    if ladder is None or not 0 < abs(size) < math.inf:
        return unit(si_text(dimension))
    fitting = [each for each in map(unit, ladder) if settled(abs(size) / each.scale) >= 1]
    return fitting[-1] if fitting else unit(ladder[0])
