"""The part of a run that counts: from a time after its first request, to another."""

import math

from headway.errors import InvalidParameter, MeasurementError, quoted
from headway.models.language.units import quantity, unit
from headway.numerals import four_digits
from headway.records import dataclass

_TIME = unit("s")


@dataclass(frozen=True)
class RunWindow:
    """Requests sent between two times of a run.

    Parameters
    ----------
    start, end
        After its first request [s]; a request sent at the end is outside.

    Raises
    ------
    InvalidParameter
        Unless 0 <= start < end.

    Examples
    --------
    >>> RunWindow(10.0, 50.0).is_whole, RunWindow().is_whole
    (False, True)
    """

    start: float = 0.0
    end: float = math.inf

    def __post_init__(self) -> None:
        """Refuse a window that cannot contain anything."""
        if not 0 <= self.start < self.end or math.isinf(self.start):
            msg = f"a window {self} holds nothing; write two times, the earlier first, as 10s:50s"
            raise InvalidParameter(msg)

    def __str__(self) -> str:
        if math.isinf(self.end):
            return f"from {four_digits(self.start)} s on"
        return f"from {four_digits(self.start)} to {four_digits(self.end)} s"

    @property
    def is_whole(self) -> bool:
        """Whether the whole run counts."""
        return self == WHOLE

    def holds(self, time: float) -> bool:
        """Whether a time after the first request [s] is inside."""
        return self.start <= time < self.end

    def refuse(self, kind: str, source: str) -> MeasurementError:
        """Why a file of some kind cannot be cut to a window."""
        return MeasurementError(
            f"{source}: --skip and --window need a log with the time of each request, as JMeter's; "
            f"{kind} cannot be cut"
        )


WHOLE = RunWindow()
"""The whole run."""


def window_of(skip: str | float | None = None, window: str | None = None) -> RunWindow:
    """Read the times of a window.

    Parameters
    ----------
    skip
        What to leave out at the start, such as ``10s``, or seconds.
    window
        Both ends, such as ``10s:50s``; a missing end is that of the run.

    Raises
    ------
    InvalidParameter
        For both arguments, and for a window that contains nothing.
    UnitError
        For text that is not a time.

    Examples
    --------
    >>> window_of("10s"), window_of(window="500ms:1min")
    (RunWindow(start=10.0, end=inf), RunWindow(start=0.5, end=60.0))
    """
    if skip is not None and window is not None:
        raise InvalidParameter("give --skip or --window, not both")
    if skip is not None:
        return RunWindow(_seconds(str(skip), "--skip", 0.0))
    if window is None:
        return WHOLE
    low, colon, high = window.partition(":")
    if not colon:
        msg = f"--window {quoted(window)}: write two times, such as --window 10s:50s"
        raise InvalidParameter(msg)
    return RunWindow(_seconds(low, "--window", 0.0), _seconds(high, "--window", math.inf))


def _seconds(text: str, option: str, default: float) -> float:
    """A time [s]; the default for an empty text."""
    return float(quantity(text.strip(), _TIME, option)) if text.strip() else default
