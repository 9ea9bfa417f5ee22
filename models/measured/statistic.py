"""Which statistic of many requests a column holds, as its title tells: the mean, or another."""

import re
from dataclasses import dataclass
from enum import StrEnum

from headway.errors import MeasurementError
from headway.models.language.titles import split_header
from headway.models.measured.cells import Observed


class Measure(StrEnum):
    """What a column says of many requests, other than their mean."""

    PERCENTILE = "percentile"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    DEVIATION = "deviation"


@dataclass(frozen=True)
class Statistic:
    """A statistic other than the mean; percentiles with their percentage."""

    measure: Measure
    percent: float = 0.0


_EDGE = r"(?:^|(?<=[^a-z0-9.]))"
_END = r"(?![a-z0-9])"
_NUMBER = r"(\d{1,2}(?:[._]\d+)?)"
_PERCENTILES = (
    rf"{_EDGE}p(\d+(?:[._]\d+)?){_END}",
    rf"{_EDGE}{_NUMBER}(?:st|nd|rd|th)(?![a-oq-z])",
    rf"{_EDGE}{_NUMBER}[ _-]*(?:%|percentile|pctile|pctl|pct|centile)",
    rf"(?:percentile|pctile|pctl|pct|centile|quantile)[ _-]*(\d+(?:[._]\d+)?){_END}",
)
_WORDS = (
    (Measure.MAXIMUM, "max|maximum|worst|p100"),
    (Measure.MINIMUM, "min|minimum|p0"),
    (Measure.DEVIATION, "std|stddev|stdev|sd|deviation|variance|var"),
)


def statistic(title: str) -> Statistic | None:
    """The statistic that a column's title names; None for a mean.

    Examples
    --------
    >>> statistic("latency_p99_ms").percent, statistic("p999 (us)").percent
    (99.0, 99.9)
    >>> statistic("95th percentile [ms]").percent, statistic("median_ms").percent
    (95.0, 50.0)
    >>> statistic("response_max_ms").measure.value, statistic("response_ms")
    ('maximum', None)
    """
    text = _words(title)
    for measure, pattern in _WORDS:
        if re.search(rf"{_EDGE}(?:{pattern}){_END}", text):
            return Statistic(measure)
    if re.search(rf"{_EDGE}(?:med|median){_END}", text):
        return Statistic(Measure.PERCENTILE, 50.0)
    for pattern in _PERCENTILES:
        found = re.search(pattern, text)
        if found:
            return Statistic(Measure.PERCENTILE, _percent(found[1]))
    return None


def _words(title: str) -> str:
    """A title without its unit, in small letters, the words of MaxLatency apart."""
    name, found = split_header(title)
    brackets = re.search(r"[\[(]", title)
    bare = title[: brackets.start()] if found is not None and brackets else name
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare.strip()).lower()


def _percent(digits: str) -> float:
    """Read 99, 99.9, 99_9, 999 and 0.999 as percentages: a half of the jobs or more is meant."""
    text = digits.replace("_", ".")
    if text.startswith("0."):
        return round(100 * float(text), 9)
    return float(text if "." in text or len(text) < 3 else f"{text[:2]}.{text[2:]}")


_REASONS = {
    Measure.MAXIMUM: "a maximum, which grows with how long one measures",
    Measure.MINIMUM: "a minimum, which falls with how long one measures",
    Measure.DEVIATION: "a deviation, which no model here predicts",
}


def percentile_of(source: str, column: Observed) -> float | None:
    """The percentage of a column of percentiles; None for a column of means.

    Raises
    ------
    MeasurementError
        For a maximum, a minimum or a deviation, which no prediction can be held against.
    """
    found = statistic(column.role or column.header)
    if found is None:
        return None
    if found.measure in _REASONS:
        msg = (
            f"{source}: column {column.header} is {_REASONS[found.measure]}; "
            "name a column of means or percentiles with --y"
        )
        raise MeasurementError(msg)
    return found.percent
