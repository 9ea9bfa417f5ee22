"""Stations in order of arrival whose times go through phases: scv below and above 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tests.brute.orders import Outcomes, Place


@dataclass(frozen=True)
class Phased(Place):
    """First come first served; times by class of a mean and an scv of 1, 1/2, 1/3... or above 1.

    Below 1 a job goes through 1/scv phases alike, above 1 through one of two with balanced means.
    """

    scvs: tuple[float, ...] = ()
    empty: Any = ((), ())

    def arrive(self, state: Any, c: int) -> Outcomes:
        served, waiting = state
        if len(served) == self.servers:
            return [(1.0, (served, (*waiting, c)))]
        return [(p, (_with(served, job), waiting)) for p, job in self._begun(c)]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        rows = []
        for place, (c, phase, left) in enumerate(state[0]):
            if left == 0:
                rest = state[0][:place] + state[0][place + 1 :]
                rows.append((self._rate(c, phase), c, self._followed(rest, state[1])))
        return rows

    def inside(self, state: Any) -> Iterator[tuple[Any, float]]:
        """The states that a job's next phase leads to, with their rates."""
        for place, (c, phase, left) in enumerate(state[0]):
            if left:
                rest = state[0][:place] + state[0][place + 1 :]
                yield (_with(rest, (c, phase, left - 1)), state[1]), self._rate(c, phase)

    def counts(self, state: Any) -> tuple[int, ...]:
        jobs = [c for c, _, _ in state[0]] + list(state[1])
        return self._tally(jobs)

    def _followed(self, served: Any, waiting: Any) -> Outcomes:
        if not waiting:
            return [(1.0, (served, ()))]
        return [(p, (_with(served, job), waiting[1:])) for p, job in self._begun(waiting[0])]

    def _begun(self, c: int) -> list[tuple[float, tuple[int, int, int]]]:
        scv = self.scvs[c]
        if scv <= 1:
            return [(1.0, (c, 0, round(1 / scv) - 1))]
        often = (1 + sqrt((scv - 1) / (scv + 1))) / 2
        return [(often, (c, 0, 0)), (1 - often, (c, 1, 0))]

    def _rate(self, c: int, phase: int) -> float:
        scv, time = self.scvs[c], self.times[c]
        if scv <= 1:
            return round(1 / scv) / time
        often = (1 + sqrt((scv - 1) / (scv + 1))) / 2
        return 2 * (1 - often if phase else often) / time


def _with(jobs: Any, job: Any) -> Any:
    return tuple(sorted((*jobs, job)))
