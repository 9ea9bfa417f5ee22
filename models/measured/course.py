"""How a run went: its mean response times one after another, and when no request finished."""

from headway.records import dataclass


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which requests waited, and none of them finished.

    Parameters
    ----------
    start, length
        From the first request of the run on [s].
    waiting
        Requests inside at its end.
    """

    start: float
    length: float
    waiting: float


@dataclass(frozen=True)
class Course:
    """A run in equal parts of the time in which it sent.

    Parameters
    ----------
    length
        From the first request sent to the last [s].
    counts, sums
        Of each part: successful requests sent in it, and the sum of their response times [s].
    silences
        The longest, longest first, and never more than `MOST_SILENCES`.
    finished
        Requests that finished, failures included.
    starts_at
        Of the run's first request, when the run was cut before it [s].
    width
        Within which times are known [s].
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
"""Silences of a run that are kept."""
