"""When requests were sent and finished, in memory that does not grow with their number.

Time is divided into slots of equal width. A time beyond the last slot doubles the width until it
fits, so a run of any length but a short one fills at least half of the slots.
"""

from dataclasses import dataclass, field

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.course import MOST_SILENCES, PARTS, Course, Silence

SLOTS = 2**14
"""Slots of a run: order in time is known to within 0.012% of its length."""

_NARROWEST = 1e-3  # s: logs have whole milliseconds
_SENT, _GOOD, _SPENT, _DONE = range(4)


def _no_slots() -> FloatArray:
    return np.zeros((4, SLOTS))


@dataclass
class Timeline:
    """Numbers of requests by the slots in which they were sent and finished.

    Examples
    --------
    >>> line = Timeline()
    >>> line.add(np.array([0.0, 100.0]), np.array([1.0, 2.0]), np.array([True, True]))
    >>> course = line.course()
    >>> round(course.length), course.counts[0], course.sums[-1]
    (100, 1.0, 2.0)
    """

    width: float = _NARROWEST
    slots: FloatArray = field(default_factory=_no_slots)

    def add(self, sent: FloatArray, took: FloatArray, good: FloatArray) -> None:
        """Add requests: when they were sent, how long they took [s], and which succeeded."""
        done = sent + took
        if not sent.size or not np.all(np.isfinite(done)):
            return
        self._widen(float(done.max()))
        start, end = self._slot(sent), self._slot(done)
        for row, slot, weights in (
            (_SENT, start, None),
            (_GOOD, start, good),
            (_SPENT, start, took * good),
            (_DONE, end, None),
        ):
            self.slots[row] += np.bincount(slot, weights, minlength=SLOTS)

    def _slot(self, times: FloatArray) -> np.ndarray:
        return np.clip(times / self.width, 0, SLOTS - 1).astype(np.int64)

    def _widen(self, latest: float) -> None:
        """Merge pairs of slots until the latest time is in one."""
        while latest >= self.width * SLOTS:
            for row in self.slots:
                row[: SLOTS // 2] = row[::2] + row[1::2]
                row[SLOTS // 2 :] = 0.0
            self.width *= 2

    def course(self) -> Course | None:
        """The course of the run; None if all requests were sent at the same time."""
        used = np.flatnonzero(self.slots[_SENT])
        if used.size < 2:
            return None
        first, last = int(used[0]), int(used[-1])
        place = (np.arange(last - first + 1) * PARTS) // (last - first + 1)
        counts, sums = (
            np.bincount(place, self.slots[row, first : last + 1], minlength=PARTS)
            for row in (_GOOD, _SPENT)
        )
        return Course(
            (last - first) * self.width,
            tuple(counts.tolist()),
            tuple(sums.tolist()),
            self._silences(first, last),
            float(self.slots[_DONE].sum()),
            first * self.width,
            self.width,
        )

    def _silences(self, first: int, last: int) -> tuple[Silence, ...]:
        """The longest times between answers in which requests waited, while the run was sending."""
        sent, done = (np.cumsum(self.slots[row]) for row in (_SENT, _DONE))
        ends = np.flatnonzero(self.slots[_DONE][: last + 1])
        begins, ends = ends[:-1], ends[1:]
        starts = np.flatnonzero(self.slots[_SENT])
        idle = sent[begins] <= done[begins]
        following = starts[np.minimum(np.searchsorted(starts, begins, "right"), starts.size - 1)]
        begins = np.where(idle, np.minimum(following, ends), begins)
        lengths, waiting = ends - begins, sent[ends - 1] - done[ends - 1]
        longest = np.argsort(-lengths, kind="stable")[:MOST_SILENCES]
        return tuple(
            Silence(
                float(begins[k] - first) * self.width,
                float(lengths[k]) * self.width,
                float(waiting[k]),
            )
            for k in longest
        )
