"""A queue for Ciw simulations with a discipline: which job is next, and which interrupts."""

import random
from heapq import heappop, heappush
from math import inf
from typing import Any

from headway.models.simulating.queues import Queue
from headway.queueing.disciplines.discipline import Discipline, Waiting
from headway.queueing.stations.listed.serving import Serving

_chance = random.random


class DisciplineQueue(Queue):
    """Servers that take the first waiting job by the discipline; some interrupt service for it.

    An interrupted job resumes where it stopped. Jobs of equal priority keep the order of arrival.
    """

    def __init__(
        self,
        number: int,
        simulation: Any,
        serving: Serving,
        station: int,
        discipline: Discipline,
    ) -> None:
        super().__init__(number, simulation, serving, station)
        self._rank = discipline.rank or discipline.turn
        self._interrupts, self._draws = discipline.interrupts, discipline.at_random
        self._serving: list[tuple[float, int, Any]] = []
        self._waiting: list[tuple[Any, int, Any]] = []
        self._come = 0

    def begin_service_if_possible_accept(self, next_individual: Any) -> None:
        """Start service if a server is idle, or can be taken from another job."""
        job = next_individual
        job.arrival_date = job.service_start_date = self.now
        job.service_time = job.left = self.get_service_time(job)
        self._come += 1
        job.turn = self._rank(Waiting(self._come, self.simulation.priority(job), job.left))
        if len(self._serving) >= self.serving.servers:
            self._wait(self._interrupted(job))
        else:
            self._serve(job)

    def _interrupted(self, job: Any) -> Any:
        """The job that has to wait: this one, or one that it interrupts."""
        if not self._interrupts:
            return job
        last = max(self._serving, key=lambda one: one[2].turn)
        if last[2].turn[0] <= job.turn[0]:
            return job
        self._serving.remove(last)
        last[2].left = last[0] - self.now
        self._serve(job)
        return last[2]

    def _serve(self, job: Any) -> None:
        self._serving.append((self.now + job.left, job.id_number, job))

    def _wait(self, job: Any) -> None:
        heappush(self._waiting, (job.turn, job.id_number, job))  # a heap but in random order

    def begin_service_if_possible_release(self, *_: Any) -> None:
        """The next job has already started."""

    def release(self, next_individual: Any, *options: Any) -> None:
        """Release a job, and start the next."""
        self._serving = [one for one in self._serving if one[2] is not next_individual]
        if self._waiting:
            self._serve(self._next())
        super().release(next_individual, *options)

    def _next(self) -> Any:
        """Remove the next job from those that wait: in random order, any of them."""
        if not self._draws:
            return heappop(self._waiting)[2]
        place = int(_chance() * len(self._waiting))
        self._waiting[place], self._waiting[-1] = self._waiting[-1], self._waiting[place]
        return self._waiting.pop()[2]

    def find_next_to_leave(self) -> None:
        """The job whose service ends first."""
        self.next_event_type = "end_service"
        self.next_event_date, self.next_individual = inf, None
        if self._serving:
            end, _, job = min(self._serving, key=lambda one: one[:2])
            self.next_event_date, self.next_individual = end, [job]
