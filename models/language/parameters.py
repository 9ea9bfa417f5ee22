"""Parameters: a model's numbers, each with unit, bounds, meaning and source."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, Number
from headway.models.language.frozen import Kept
from headway.models.language.names import check_shown
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, Unit, quantity
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Parameter(Kept):
    """A named number of a model.

    Parameters
    ----------
    name
        As formulas use it.
    value
        SI value or array of operating points; ``None`` if the user has to give it.
    unit
        The unit in which it is shown, and whose dimension its values must have.
    minimum, maximum
        Bounds in SI, both inclusive.
    doc, source
        Its meaning, and where the value comes from.
    own
        The model's own value, if it was given another; not part of equality.
    interval
        95% interval of the value in SI; an unknown end is infinite. None if the value is certain.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> share = Parameter("share", 0.25, minimum=0.0, maximum=1.0, doc="of jobs that miss")
    >>> share.at(1.5)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: share is 1.5; it must be between 0 and 1
    """

    name: str
    value: Number | None = None
    unit: Unit = ONE
    minimum: float = -math.inf
    maximum: float = math.inf
    doc: str = ""
    source: str = ""
    own: float | None = field(default=None, compare=False, repr=False)
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value is not None:
            self._check(_array(self.value, self.name))
        if self.interval is not None:
            self._check_interval(*self.interval)

    def _check_interval(self, low: float, high: float) -> None:
        wrong = self._wrong_interval(low, high)
        if wrong:
            msg = f"{self.name}: its 95% interval {wrong}"
            raise InvalidParameter(msg)

    def _wrong_interval(self, low: float, high: float) -> str:
        """What is wrong with an interval; empty if nothing is."""
        if self.value is None or np.ndim(self.value):
            return "needs a single value inside it; give value"
        value, scale = float(self.value), self._scale(low, high, float(self.value))
        first, last = self.shown(low, scale), self.shown(high, scale)
        if not low <= high:
            return f"begins at {first}, above its end at {last}"
        if not low <= value <= high:
            ends = f"{first} to {last}"
            return f"is {ends}, which does not contain its value, {self.shown(value, scale)}"
        if -math.inf < low < self.minimum:
            return f"begins at {first}, below its minimum, {self.shown(self.minimum, scale)}"
        if self.maximum < high < math.inf:
            return f"ends at {last}, above its maximum, {self.shown(self.maximum, scale)}"
        return ""

    def _check(self, entries: Any) -> None:
        if self._is_fine(entries):
            return
        wrong = ~((entries >= self.minimum) & (entries <= self.maximum) & np.isfinite(entries))
        if not wrong.any():
            return
        first = float(np.extract(wrong, entries)[0])
        scale = self._scale(first, self.minimum, self.maximum)
        worst, low, high = (self.shown(each, scale) for each in (first, self.minimum, self.maximum))
        must = {
            (False, False): "finite",
            (True, False): f"{low} or more",
            (False, True): f"{high} or less",
            (True, True): f"between {low} and {high}",
        }[math.isfinite(self.minimum), math.isfinite(self.maximum)]
        msg = f"{self.name} is {worst}; it must be {must}"
        raise InvalidParameter(msg)

    def _is_fine(self, entries: Any) -> bool:
        """Whether all entries are in bounds and finite, in two quick passes; false if in doubt."""
        if not entries.size:
            return False
        low, high = entries.min(), entries.max()
        inside = self.minimum <= low and high <= self.maximum
        return bool(inside and -math.inf < low and high < math.inf)

    def shown(self, value: float, scale: Scale | None = None) -> str:
        """A value in this parameter's unit, if that suits it.

        Parameters
        ----------
        value
            SI value.
        scale
            Units of the answer that shows it; without one, the value is shown on its own.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> delay = Parameter("delay", unit=unit("ms"))
        >>> delay.shown(0.0034), delay.shown(0.0034, Scale.of([(0.0001, unit("us"))]))
        ('3.4 ms', '3400 us')
        >>> Parameter("size", unit=unit("B")).shown(1048576)
        '1 MiB'
        """
        return (scale or self._scale(value)).stated(value, self.unit)

    def _scale(self, *values: float) -> Scale:
        """The unit of values that a text shows together: this parameter's, if it suits them."""
        return Scale.of([(values, self.unit)], [self.unit])

    def at(self, value: Number | str | list[float] | tuple[float, ...]) -> "Parameter":
        """The parameter with another value: SI number, array, list, or text with a unit.

        An interval belongs to the value before: another value is certain.

        Raises
        ------
        UnitError, InvalidParameter
            For the wrong dimension, or a value out of bounds.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> Parameter("delay", unit=unit("ms")).at("650us").value
        0.00065
        """
        if value is self.value:
            return self
        if isinstance(value, str):
            value = quantity(value, self.unit, self.name)
        elif isinstance(value, list | tuple | range):
            value = _array(value, self.name)
        before = None if isinstance(self.value, np.ndarray) else self.value
        kept = self.interval if np.ndim(value) == 0 and value == before else None
        own = before if self.own is None else self.own
        return replace(self, value=value, own=own, interval=kept)

    def within(self, low: float | str | None, high: float | str | None) -> "Parameter":
        """The parameter with a 95% interval of its value.

        Parameters
        ----------
        low, high
            SI numbers, or text with a unit; ``None`` or empty text for an unknown end.

        Raises
        ------
        InvalidParameter, UnitError
            For an interval that does not contain the value or leaves its bounds.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> Parameter("delay", 0.001, unit("ms")).within("0.9 ms", None).interval
        (0.0009, inf)
        """
        ends = self._end(low, -math.inf), self._end(high, math.inf)
        return replace(self, interval=ends)

    def _end(self, end: float | str | None, unknown: float) -> float:
        if end is None or end == "":
            return unknown
        if isinstance(end, str):
            return quantity(end, self.unit, self.name)
        return float(_array(end, self.name))

    @property
    def changed(self) -> bool:
        """Whether its value differs from the model's own.

        Examples
        --------
        >>> delay = Parameter("delay", 0.0034)
        >>> delay.changed, delay.at(0.005).changed, delay.at(0.005).at(0.0034).changed
        (False, True, False)
        """
        return self.own is not None and bool(np.any(np.asarray(self.value) != self.own))


def _array(values: Number | Sequence[float], name: str) -> FloatArray:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        shown = repr(values) if np.ndim(values) else f"of type {type(values).__name__}"
        msg = f"{name} is {shown}; a list must contain numbers in SI units"
        raise InvalidParameter(msg) from None


@dataclass(frozen=True, eq=False)
class Preset(Kept):
    """A published set of parameter values.

    Parameters
    ----------
    name
        Name for ``--preset``.
    values
        SI values by parameter.
    doc, source
        What system it describes, and where it was published.

    Examples
    --------
    >>> Preset("fast", {"cpu_time": 0.001}).values["cpu_time"]
    0.001
    """

    name: str
    values: Mapping[str, float]
    doc: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shown(self.name, "preset")

    def without(self, names: Container[str]) -> "Preset":
        """The same, but for some parameters.

        Parameters
        ----------
        names
            Those of which it says nothing then.
        """
        return replace(self, values={n: v for n, v in self.values.items() if n not in names})
