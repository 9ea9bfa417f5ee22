"""The statistic in a column, according to its title: the mean, or another."""

import re
from enum import StrEnum

from headway.errors import MeasurementError
from headway.models.language.titles import split_header
from headway.models.measured.cells import Observed
from headway.records import dataclass


class Measure(StrEnum):
    """Statistics of many requests, other than the mean."""

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
        match = re.search(pattern, text)
        if match:
            return Statistic(Measure.PERCENTILE, _percent(match[1]))
    return None


def _words(title: str) -> str:
    """A title without its unit, in lower case, with the words of MaxLatency separated."""
    name, unit_text = split_header(title)
    brackets = re.search(r"[\[(]", title)
    bare = title[: brackets.start()] if unit_text is not None and brackets else name
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare.strip()).lower()


def _percent(digits: str) -> float:
    """Read 99, 99.9, 99_9, 999 and 0.999 as percentages of at least 50."""
    text = digits.replace("_", ".")
    if text.startswith("0."):
        return round(100 * float(text), 9)
    return float(text if "." in text or len(text) < 3 else f"{text[:2]}.{text[2:]}")


_REASONS = {
    Measure.MAXIMUM: "a maximum, which grows with the duration of the test",
    Measure.MINIMUM: "a minimum, which falls with the duration of the test",
    Measure.DEVIATION: "a standard deviation, which no model here predicts",
}


def percentile_of(source: str, column: Observed) -> float | None:
    """The percentage of a column of percentiles; None for a column of means.

    Raises
    ------
    MeasurementError
        For a maximum, a minimum or a deviation, which cannot be compared with a prediction.
    """
    measure = statistic(column.role or column.header)
    if measure is None:
        return None
    if measure.measure in _REASONS:
        msg = (
            f"{source}: column {column.header} is {_REASONS[measure.measure]}; "
            "use --y to name a column of means or percentiles"
        )
        raise MeasurementError(msg)
    return measure.percent
