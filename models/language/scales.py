"""One unit per dimension in one answer, chosen once from all values that it shows."""

import math
from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np

from headway.models.language.digits import (
    ends,
    in_unit,
    shown_unit,
    slope_unit,
    to_error,
    with_error,
    with_unit,
)
from headway.models.language.units import (
    Dimension,
    Unit,
    compatible,
    in_words,
    is_of_events,
    is_rate,
    readable,
    si_text,
    unit,
)
from headway.models.language.verbs import perform
from headway.numerals import digits, is_whole, settled
from headway.records import dataclass

_SUITS = 0.1, 1e4
"""A value within this range reads well in a unit that the model states."""

_READS = 0.01, 1e4
"""A value within this range still reads well among others, in a unit that suits them."""

_LEAST = 1e-4
"""Below this a value needs a power of ten, and a unit of its own is clearer: 50 us beside 530 s."""

_DEVIATIONS = 1.96
"""Standard errors in half of a 95% interval."""

_SUITS_BEST = 1.0, 1e3
"""A value within this range reads well in any unit."""


@dataclass(frozen=True)
class Scale:
    """The units of one answer: one for all times, one for all rates.

    Parameters
    ----------
    units
        The unit of each dimension that has one; for other dimensions each value has the unit that
        suits its size.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> scale = Scale.of([([0.0034, 0.012], unit("s")), (0.00006, unit("us"))])
    >>> scale.text(0.012, unit("s")), scale.text(0.00006, unit("us"))
    ('12 ms', '0.06 ms')
    """

    units: dict[Dimension, Unit] = field(default_factory=dict)

    @classmethod
    def of(cls, shown: Iterable[tuple[Any, Unit]], stated: Iterable[Unit] = ()) -> "Scale":
        """Choose units for the values that an answer shows.

        Parameters
        ----------
        shown
            SI values, of any shape, and the unit in which each is stated.
        stated
            Units of the model's parameters, one of which is kept if it suits.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> second, times = unit("s"), [([0.4, 0.9], unit("s"))]
        >>> str(Scale.of(times).unit(second)), str(Scale.of(times, [second]).unit(second))
        ('ms', 's')
        """
        sizes: dict[Dimension, list[float]] = {}
        first: dict[Dimension, Unit] = {}
        for values, each in shown:
            key = _kind(each)
            if key is None:
                continue
            first.setdefault(key, each)
            numbers = np.abs(np.ravel(np.asarray(values, float)))
            sizes.setdefault(key, []).extend(numbers[np.isfinite(numbers) & (numbers > 0)].tolist())
        own = list(stated)
        return cls({key: _chosen(own, first[key], key, values) for key, values in sizes.items()})

    def completed(self, shown: Iterable[tuple[Any, Unit]], stated: Iterable[Unit] = ()) -> "Scale":
        """The same units, and units for the dimensions that have none yet.

        Parameters
        ----------
        shown, stated
            As for `of`: further values that are shown.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> times = Scale.of([(0.0034, unit("s"))])
        >>> page = times.completed([(7e-6, unit("us")), (4e8, unit("B/s"))])
        >>> page.text(7e-6, unit("us")), page.text(4e8, unit("B/s"))
        ('0.007 ms', '400 MB/s')
        """
        return Scale(Scale.of(shown, stated).units | self.units)

    def unit(self, own_unit: Unit) -> Unit:
        """The answer's unit for values with a unit of their own.

        A rate that does not say of what takes the word of the answer's other rates, if they have
        one word: what a station does is told as what the network does.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> str(Scale.of([(3.0, unit("op/s"))]).unit(unit("1/s"))), str(Scale().unit(unit("1/s")))
        ('op/s', 'requests/s')
        """
        key = _kind(own_unit)
        shown = own_unit if key is None else self.units.get(key, own_unit)
        worded = in_words(shown)
        counted = [
            each for each in self.units.values() if is_rate(each) and any(each.dimension[2:])
        ]
        return counted[0] if worded is not shown and len(counted) == 1 else worded

    def covers(self, own_unit: Unit) -> bool:
        """Whether the answer has one unit for values with a unit of their own."""
        return _kind(own_unit) in self.units

    def suited(self, own_unit: Unit, size: float, least: float = _LEAST) -> Unit:
        """The answer's unit; for slopes, sizes, and very small values, one that suits.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> scale = Scale.of([(0.0034, unit("s"))])
        >>> str(scale.suited(unit("us*s/op"), 3e-8)), str(scale.suited(unit("B"), 4096))
        ('ms per 1,000,000 op/s', 'KiB')
        >>> Scale.of([(529.8, unit("s"))]).text(5e-5, unit("us"))
        '50 us'
        """
        seconds, data, *counts = own_unit.dimension
        if (seconds, data) == (2, 0) and min(counts) < 0:
            rate = unit(si_text((-1, 0, *(-each for each in counts))))  # type: ignore[arg-type]
            return slope_unit(self.unit(unit("ms")), rate, size)
        shown = self.unit(own_unit)
        is_tiny = 0 < settled(size / shown.scale) < least
        suits = is_tiny or not self.covers(own_unit)
        return in_words(shown_unit(own_unit, size)) if suits else shown

    def bare(self, value: float, own_unit: Unit) -> str:
        """A value with four digits, without its unit."""
        return in_unit(value, self.suited(own_unit, abs(value)))

    def text(self, value: float, own_unit: Unit) -> str:
        """A value with four digits, and its unit."""
        if math.isinf(value):
            return in_unit(value, own_unit)
        shown = self.suited(own_unit, abs(value))
        return with_unit(in_unit(value, shown), shown)

    def stated(self, value: float, own_unit: Unit) -> str:
        """A stated value with up to six digits."""
        shown = self.suited(own_unit, abs(value))
        return with_unit(digits(value / shown.scale), shown)

    def ends(self, low: float, high: float, own_unit: Unit) -> str:
        """An interval, and its unit.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> Scale.of([(0.0034, unit("s"))]).ends(0.00005, 0.012, unit("us"))
        '0.05 to 12 ms'
        """
        shown = self.suited(own_unit, abs(high) if math.isfinite(high) else abs(low))
        return with_unit(ends(low, high, shown), shown)

    def with_error(self, value: float, error: float, own_unit: Unit) -> str:
        """A value and its error, with two digits of the latter."""
        return with_error(value, error, self.suited(own_unit, abs(value)))

    def known(self, value: float, interval: tuple[float, float] | None, own_unit: Unit) -> str:
        """A value as it was stated; with a 95% interval, to the digits that are known.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> scale = Scale.of([(0.0034, unit("ms"))])
        >>> scale.known(0.000219542, (0.00020, 0.00024), unit("ms"))
        '0.220 ms'
        """
        half = math.inf if interval is None else (interval[1] - interval[0]) / 2
        if not math.isfinite(half) or is_whole(value / own_unit.scale):
            return self.stated(value, own_unit)
        return self.to_error(value, half / _DEVIATIONS, own_unit)

    def to_error(self, value: float, error: float, own_unit: Unit) -> str:
        """A value to the digits that its error allows, with its unit."""
        return to_error(value, error, self.suited(own_unit, abs(value)))


def units_of(answer: object) -> Scale:
    """The units of an answer, for its tables, notes and figures.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.language.units import unit
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
    >>> str(units_of(model.solve(1000.0)).unit(unit("s")))
    'ms'
    """
    scale: Scale = perform(answer, "scale")
    return scale


def _kind(own_unit: Unit) -> Dimension | None:
    """The kind of values that share a unit, such as all times; None for others."""
    seconds, data = own_unit.dimension[:2]
    if seconds == 0 or is_of_events(own_unit):
        return None  # counts, shares, and sizes of data: people write 4 KiB next to 16 GiB
    return (seconds, data, 0, 0, 0) if (seconds, data) in ((1, 0), (-1, 1)) else own_unit.dimension


def _chosen(stated: list[Unit], own_unit: Unit, key: Dimension, sizes: list[float]) -> Unit:
    """A stated unit that suits the middle value, or else one that shows it with few digits.

    Of several stated units, the one that suits most values, and then the middle value best: for
    0.65 ms and 5 s it is ms rather than s, for 40 us and 3 ms it is ms rather than us.
    """
    if not sizes:
        return own_unit
    middle = sorted(sizes)[len(sizes) // 2]
    own = [each for each in stated if each.dimension == key and each.text]
    own = own or [each for each in stated if _counts_too(each, own_unit)]
    fitting = [each for each in own if _suits(middle, each, _SUITS)]
    if fitting:
        return max(fitting, key=lambda each: _merit(each, middle, sizes))
    slow = [each for each in own if is_rate(each) and not each.is_metric]
    if slow:  # rates have no prefixes
        return min([*slow, own_unit], key=lambda each: abs(math.log10(middle / each.scale) - 1))
    if own_unit.dimension == key and own_unit.text and _suits(middle, own_unit, _SUITS_BEST):
        return own_unit
    best = readable(key, middle)
    return best if best.scale != 1 or _is_time(key) else own_unit


def _counts_too(each: Unit, own_unit: Unit) -> bool:
    """Whether a stated unit is a rate per hour or minute that says what it counts, unlike 1/s."""
    both = is_rate(each) and is_rate(own_unit) and not each.is_metric
    return both and compatible(each.dimension, own_unit.dimension)


def _merit(shown: Unit, middle: float, sizes: list[float]) -> tuple[int, bool]:
    """How many values a unit suits, and whether it suits the middle one best."""
    suited = sum(_suits(size, shown, _READS) for size in sizes)
    return suited, _suits(middle, shown, _SUITS_BEST)


def _suits(size: float, shown: Unit, ends: tuple[float, float]) -> bool:
    return ends[0] <= settled(size / shown.scale) < ends[1]


def _is_time(key: Dimension) -> bool:
    return key[:2] == (1, 0)
