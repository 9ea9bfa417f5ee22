"""The course of a run: mean response times of its parts, and times in which no request finished."""

from headway.records import dataclass


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which requests waited, and none of them finished.

    Parameters
    ----------
    start, length
        Start and length, counted from the first request of the run [s].
    waiting
        Requests inside at its end.
    """

    start: float
    length: float
    waiting: float


@dataclass(frozen=True)
class Course:
    """A run, in equal parts of the time in which it sent requests.

    Parameters
    ----------
    length
        Time from the first request sent to the last [s].
    counts, sums
        For each part, the number of successful requests sent in it, and the sum of their response
        times [s].
    silences
        The longest silences, longest first, at most `MOST_SILENCES`.
    finished
        Number of requests that finished, including failures.
    starts_at
        Start of this part after the run's first request, if an earlier part was cut off [s].
    width
        Resolution of the times [s].
    """

    length: float
    counts: tuple[float, ...]
    sums: tuple[float, ...]
    silences: tuple[Silence, ...] = ()
    finished: float = 0.0
    starts_at: float = 0.0
    width: float = 0.0


PARTS = 64
"""Parts of a run."""

MOST_SILENCES = 500
"""Most silences of a run that are stored."""
