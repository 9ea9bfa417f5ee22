"""The time during which requests were sent, and how many were answered in it."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray

# share of answers that must come while requests are sent for that time to define the rate
_HALF = 0.5


@dataclass
class Sending:
    """The time from the first request sent to the last, in memory for outstanding requests only.

    The rate of a test is that of the time in which it sends: after the last request only what is
    outstanding can still come, however long that takes. A test that sends for less time than its
    answers take has no such rate: then all answers count, up to the last.

    Examples
    --------
    >>> test, sent = Sending(), np.arange(100.0)
    >>> test.extend(sent, np.where(sent == 50, 170.0, 0.5), sent >= 0)
    >>> round(test.rate, 3), test.length, test.drain
    (0.99, 99.0, 121.0)
    """

    first: float = math.inf
    sent: float = -math.inf
    last: float = -math.inf
    answered: int = 0
    outstanding: FloatArray = field(default_factory=lambda: np.empty(0))

    def extend(self, start: FloatArray, elapsed: FloatArray, good: NDArray[np.bool_]) -> None:
        """Add requests: when each was sent, how long it took, and whether it succeeded."""
        ends = start + elapsed
        self.first = min(self.first, float(start.min()))
        self.sent = max(self.sent, float(start.max()))
        self.last = max(self.last, float(ends.max()))
        open_still = np.concatenate([self.outstanding, ends[good]])
        self.outstanding = open_still[open_still > self.sent]
        self.answered += open_still.size - self.outstanding.size

    @property
    def steady(self) -> bool:
        """Whether most answers came while requests were sent."""
        return self.answered > _HALF * self.good

    @property
    def good(self) -> int:
        """Number of requests that succeeded."""
        return self.answered + len(self.outstanding)

    @property
    def length(self) -> float:
        """Time in which requests were sent; until the last answer if few came in it."""
        return (self.sent if self.steady else self.last) - self.first

    @property
    def rate(self) -> float:
        """Successful requests per unit of that time; NaN for zero time."""
        answers = self.answered if self.steady else self.good
        return answers / self.length if 0 < self.length < math.inf else math.nan

    @property
    def drain(self) -> float:
        """The time from the last request sent to the last answer."""
        return self.last - self.sent

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what the rate counts."""
        return (IN_IT,) if self.steady else (UNTIL_THE_LAST,)


IN_IT = "the rate is that of the time in which requests were sent, without the wait for the last"
UNTIL_THE_LAST = (
    "most answers came after the last request was sent: the rate counts the time until the last"
)
