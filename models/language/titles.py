"""Titles of columns: the quantity of the column, and its unit.

People write ``response_ms``, ``Response Time [ms]``, ``latency (us)``, ``p99Ms``, ``Requests/sec``
and ``IOPS``. One grammar reads them all: words, of which the last may be a unit, or a unit in
brackets.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from headway.errors import UnitError
from headway.models.language.units import Dimension, Unit, unit

RATE = "rps"
"""The quantity of a title that is only a rate of operations: ``req/s``, ``IOPS``."""

FILLING = frozenset((
    "mean", "avg", "average", "number", "num", "no", "of", "count", "concurrent", "active",
    "total", "in", "the",
))  # fmt: skip
"""Words that do not change the quantity of a title."""

_TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "µs", "μs", "usec", "usecs", "micros"), "us"),
    **dict.fromkeys(("microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
}
_DATA = {
    "kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB",
}  # fmt: skip
_COUNTS = {
    "bytes": "B", "byte": "B", "bits": "bit", "kbit": "kbit", "mbit": "Mbit", "gbit": "Gbit",
    "ops": "op", "op": "op", "kops": "kop", "mops": "Mop",
    "messages": "message", "message": "message", "jobs": "job", "job": "job",
}  # fmt: skip
_WORK = frozenset((
    "request", "requests", "req", "reqs", "operation", "operations", "transaction",
    "transactions", "txn", "txns", "query", "queries", "io", "ios", "iteration", "iterations",
    "call", "calls", "hit", "hits", "page", "pages", "command", "commands",
))  # fmt: skip
"""Words for operations; they are a unit only if a time divides them."""

_RATES = {
    f"{prefix}{name}": f"{scale}op/s"
    for prefix, scale in (("", ""), ("k", "k"), ("m", "M"))
    for name in ("rps", "tps", "qps", "iops")
}
_SHARES = {"percent": "%", "pct": "%", "%": "%"}
_SQUARES = {"s2": "s^2"}  # the only square that answers have: a variance of times
_KNOWN = {**_TIMES, **_SQUARES, **_DATA, **_COUNTS, **dict.fromkeys(_WORK, "op"), **_RATES}
_OPERATIONS = re.compile(r"ops\b")  # which answers abbreviate to op
_PARTS = r"[\s_,;:#/-]+"
_STATISTIC = (
    r"p\d+(?:\.\d+)?|\d+(?:\.\d+)?(?:th|st|nd|rd|%)|max|maximum|med|median|std|stddev|sd|percentile"
)
_BRACKETS = r"[\[(]([^][()]*)[\])]"


@lru_cache(maxsize=4096)
def split_header(column: str) -> tuple[str, Unit | None]:
    """Split a column's title into the quantity's name and its unit.

    Parameters
    ----------
    column
        For example ``response_ms``, ``throughput_ops_s``, ``gap_us_per_kb``, ``system``; with the
        unit in brackets, ``Response time [ms]``; or in plain words, ``Requests per second``.

    Returns
    -------
    Name and unit; no unit if the title has none.

    Examples
    --------
    >>> def split(title):
    ...     name, unit = split_header(title)
    ...     return name, str(unit)
    >>> split("throughput_ops_s"), split("gap_us_per_kb")
    (('throughput', 'op/s'), ('gap', 'us/kB'))
    >>> split("Response time [ms]"), split("p99Ms"), split("IOPS")
    (('response_time', 'ms'), ('p99', 'ms'), ('rps', 'op/s'))
    """
    title = column.strip()
    bracketed = _from_brackets(title)
    if bracketed is not None:
        return bracketed
    words = _words(title)
    name, in_unit = _from_words(words, _doubtful(title))
    if in_unit is None:
        return title, None
    kept = re.split("_", title)
    as_written = len(kept) == len(words) and title.replace("_", "").isalnum()
    if name and as_written and name == tuple(word.lower() for word in kept[: len(name)]):
        return "_".join(kept[: len(name)]), in_unit
    return "_".join(name) or _nameless(title, in_unit), in_unit


def unit_in_words(text: str) -> Unit:
    """Read a unit as people write it: ``ms``, ``milliseconds``, ``req/s``, ``requests per second``.

    Raises
    ------
    UnitError
        For any other text, as `headway.models.language.units.unit`.

    Examples
    --------
    >>> [str(unit_in_words(text)) for text in ("Requests/sec", "kops/s", "MiB/s")]
    ['op/s', 'kop/s', 'MiB/s']
    """
    try:
        return unit(_OPERATIONS.sub("op", text))
    except UnitError:
        words = tuple(word.lower() for word in _split(text))
        known = None if any(word in _DATA for word in words) else _unit_of(words)
        if known is None:
            raise
        return known


def plain_title(title: str) -> str:
    """A title in the form that roles use: lower case, without unit and filler words.

    Examples
    --------
    >>> plain_title("Mean response time [ms]"), plain_title("num_clients"), plain_title("VUs")
    ('response_time', 'clients', 'vus')
    >>> plain_title("Average Request Latency (ms)"), plain_title("Requests/sec")
    ('latency', 'rps')
    """
    words = [word for word in _words(split_header(title)[0]) if word not in FILLING]
    telling = [word for word in words if word not in _WORK or word == "io"]
    return "_".join(telling or words)


def _from_brackets(title: str) -> tuple[str, Unit | None] | None:
    """Name and unit of a title with brackets; None if no bracket contains a unit."""
    for match in reversed(list(re.finditer(_BRACKETS, title))):
        pieces = [piece.strip() for piece in re.split("[,;]", match[1])]
        for piece in pieces:
            in_unit = _unit_or_none(piece)
            if in_unit is not None:
                others = " ".join(other for other in pieces if other != piece)
                rest = f"{title[: match.start()]} {others} {title[match.end() :]}"
                return "_".join(_words(rest)) or _nameless(title, in_unit), in_unit
    return None


def _unit_or_none(text: str, read: Callable[[str], Unit] = unit_in_words) -> Unit | None:
    try:
        return read(text) if text else None
    except UnitError:
        return None


def _nameless(title: str, unit_given: Unit) -> str:
    """The name for a title that is only a unit."""
    is_rate = unit_given.dimension == unit("op/s").dimension
    return RATE if is_rate else "_".join(_words(title))


def _words(title: str) -> tuple[str, ...]:
    """Words of a title in lower case; ``responseTime`` is two words, and a slash is ``per``."""
    return tuple(word.lower() for word in _split(title))


def _split(title: str) -> list[str]:
    bare = re.sub(r"[\[\]()]", " ", title).replace("/", " per ")
    words = []
    for word in re.split(_PARTS, bare):
        whole = word.lower() in _KNOWN
        parts = [word] if whole else re.split(r"(?<=[a-z0-9])(?=[A-Z])", word)
        words += [part.rstrip(".") for part in parts]
    return [word for word in words if word]


def _doubtful(title: str) -> frozenset[str]:
    """Words such as ``kb``, where a title in mixed letters may mean kilobytes or kilobits."""
    if title.islower() or title.isupper():
        return frozenset()
    data = [word for word in _split(title) if word.lower() in _DATA]
    return frozenset(word.lower() for word in data if _unit_or_none(word, unit) is None)


def _from_words(
    words: tuple[str, ...], doubtful: frozenset[str]
) -> tuple[tuple[str, ...], Unit | None]:
    """Divide words into a name and the unit at their end; the name of a statistic may follow."""
    end = len(words)
    while end > 1 and _is_statistic(words, end - 1):
        end -= 1
    if end > 1 and words[end - 1] == "min" and _TIMES.get(words[end - 2], "min") != "min":
        end -= 1
    first = _first_of_unit(words[:end])
    if doubtful & set(words[first:end]):
        return words, None
    in_unit = _unit_of(words[first:end])
    if in_unit is None:
        return words, None
    name = words[:first] if set(words[:first]) - FILLING else ()
    return (*name, *(words[end:] if name else ())), in_unit


def _is_statistic(words: Sequence[str], index: int) -> bool:
    """Whether a word only says which statistic of the quantity it is."""
    word = words[index]
    follows = word.isdigit() and re.fullmatch(r"p\d\d", words[index - 1]) is not None
    return follows or word in FILLING or re.fullmatch(_STATISTIC, word) is not None


def _first_of_unit(words: tuple[str, ...]) -> int:
    """Where the unit at the end of these words begins; except in rates, a name is before it."""
    if _is_rate([word for word in words if word not in FILLING]):
        return next(i for i, word in enumerate(words) if word not in FILLING)
    if words and words[-1] in (*_SHARES, *_RATES):
        return max(len(words) - 1, 1)
    first = len(words)
    while first > 1 and (words[first - 1] in _KNOWN or words[first - 1] == "per"):
        first -= 1
    if words[first : first + 1] == ("per",) and len(words) - first > 2:
        first += 2  # skips the time of ``time per request [ms]``
    while first < len(words) and words[first] in _WORK and not _is_rate(words[first:]):
        first += 1
    if words[first : first + 1] == ("min",) and {*words[first + 1 :]} & _TIMES.keys():
        first += 1  # skips the smallest time: no time divides another
    return first


def _is_rate(words: Sequence[str]) -> bool:
    """Whether words are a rate of operations and nothing else."""
    count, *rest = words or [""]
    if not rest:
        return count in _RATES
    over = rest[1:] if rest[0] == "per" else rest
    return (count in _WORK or _COUNTS.get(count, "")[-2:] == "op") and (
        len(over) == 1 and _TIMES.get(over[0]) in ("s", "min", "h")
    )


def _unit_of(words: tuple[str, ...]) -> Unit | None:
    """The unit that words stand for; words after the first divide if they are a time."""
    if len(words) == 1 and words[0] in _SHARES:
        return unit("%")
    parts = [_KNOWN.get(word, "") for word in words if word != "per"]
    if not parts or not all(parts) or (words[0] == "per" and words[1] in _WORK):
        return None
    divides = "per" in words or any(part in _TIMES.values() for part in parts[1:])
    lead = "1/" if words[0] == "per" else ""
    return unit(lead + ("/" if divides else "*").join(parts))


_HEADER_BASES = ("s", "bytes", "ops", "messages", "jobs")


def header(name: str, dimension: Dimension) -> str:
    """Name a CSV column of SI values so that `split_header` finds its unit.

    Examples
    --------
    >>> header("throughput", unit("op/s").dimension), header("variance", unit("s^2").dimension)
    ('throughput_ops_per_s', 'variance_s2')
    """
    powers = list(zip(_HEADER_BASES, dimension, strict=True))
    above = [w if e == 1 else f"{w}{e}" for w, e in powers if e > 0]
    below = [w if e == -1 else f"{w}{-e}" for w, e in powers if e < 0]
    return "_".join([name, *above, *(word for w in below for word in ("per", w))])


def spoken(name: str) -> str:
    """A name in words; for a population, the word for what it counts.

    Examples
    --------
    >>> spoken("response_time"), spoken("population"), spoken("web_population")
    ('response time', 'clients', 'web clients')
    """
    words = name.replace("_", " ")
    return f"{words.removesuffix('population')}clients" if words.endswith("population") else words


def axis_title(name: str, shown: Unit) -> str:
    """Words and unit of an axis, without repetition; numbers of clients are named by the clients.

    Parameters
    ----------
    name
        Name of a parameter or an output.
    shown
        The unit.

    Examples
    --------
    >>> axis_title("response_time", unit("ms")), axis_title("population", unit("job"))
    ('response time [ms]', 'clients')
    """
    if shown.is_count and shown.text != "job":
        return shown.text
    words = spoken(name)
    is_said = not shown.text or (shown.is_count and words.endswith("clients"))
    return words if is_said else f"{words} [{shown.text}]"
