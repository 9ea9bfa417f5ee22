"""Queues for Ciw simulations with their own counters, and kinds of service that Ciw lacks."""

from collections.abc import Callable
from heapq import heappop, heappush
from math import ceil, floor, inf
from typing import Any

import ciw

from headway.queueing.network.blocking import Blocking
from headway.queueing.stations.listed.serving import Serving


class Tally:
    """Counters of a node since some time: areas under numbers, and visits."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.present = self.used = self.stayed = self.blocked = 0.0
        self.served = self.lost = 0


class Queue(ciw.Node):
    """Ciw's servers with a queue in order of arrival; jobs from outside that find it full are lost.

    With blocking after service, as in Ciw, jobs from other stations wait where they are until
    there is a place; with repetitive service, they are served there again.
    """

    def __init__(self, number: int, simulation: Any, serving: Serving, station: int) -> None:
        super().__init__(number, simulation)
        self.serving, self.station = serving, station
        self.gate: Gate | None = None
        self.repeats = False
        self._blocked = 0
        self.tally = Tally(0.0)
        self._counted = 0.0
        self._stale = True
        self.next_node = self.onward  # as Ciw calls it

    @property
    def is_full(self) -> bool:
        """Whether it is full."""
        return bool(self.number_of_individuals >= self.serving.places)

    def hold_up(self, blocking: Blocking) -> None:
        """Set the fate of jobs from other stations that find it full."""
        self.repeats = blocking is Blocking.REPETITIVE
        if blocking is Blocking.AFTER_SERVICE:
            self.node_capacity = self.serving.places

    def begin(self) -> None:
        """Start counting."""
        self.count()
        self.tally = Tally(self.now)

    def count(self) -> None:
        """Update the areas before the number present changes."""
        passed = self.now - self._counted
        if passed > 0 and self.number_of_individuals:
            self.progress(passed)
            self.tally.present += passed * self.number_of_individuals
            self.tally.used += passed * self.in_use()
            self.tally.blocked += passed * self._blocked / self.serving.servers
        self._counted = self.now

    def in_use(self) -> float:
        """Current share of its sustained speed in use; blocked servers do not count."""
        return self.serving.used(self.number_of_individuals) - self._blocked / self.serving.servers

    def progress(self, passed: float) -> None:
        """Serve for some time with the number present."""

    def accept(self, next_individual: Any, *more: Any) -> None:
        """Admit a job, or lose it."""
        self.count()
        if self.number_of_individuals >= self.serving.places:
            self.tally.lost += 1
            self.simulation.lose(next_individual)
            return
        next_individual.came = self.now
        super().accept(next_individual, *more)
        self._stale = True

    def onward(self, individual: Any) -> Any:
        """Get the job's next station from the simulation."""
        return self.simulation.after(individual, self.station)

    def finish_service(self) -> None:
        """Release the job that completes service, block it, or serve it again."""
        job = self.decide_between_simultaneous_individuals()
        target = self.onward(job)
        if target is None:
            self.serve_again(job)
            return
        job.destination = target.id_number
        if job.server:
            job.server.next_end_service_date = inf
        if target is self or target.number_of_individuals < target.node_capacity:
            self.release(job, target)
        else:
            self.block_individual(job, target)

    def serve_again(self, job: Any) -> None:
        """Restart its service at the same server."""
        self._stale = True
        job.service_time = self.get_service_time(job)
        job.server.next_end_service_date = job.service_end_date = self.now + job.service_time

    def block_individual(self, individual: Any, target: Any) -> None:
        """Block a job at its server."""
        self.count()
        self._blocked += 1
        self._stale = True
        super().block_individual(individual, target)

    def release(self, next_individual: Any, target: Any, *more: Any) -> None:
        """Release a job, which frees a place in its region."""
        self.count()
        self.tally.served += 1
        self.tally.stayed += self.now - next_individual.came
        self._blocked -= next_individual.is_blocked
        self._stale = True
        super().release(next_individual, target, *more)
        if self.gate is not None and getattr(target, "gate", None) is not self.gate:
            self.gate.leave()

    def update_next_event_date(self) -> None:
        """Find the next departure if something has changed."""
        if self._stale:
            self._stale = False
            self.find_next_to_leave()

    def find_next_to_leave(self) -> None:
        """Same as in Ciw."""
        super().update_next_event_date()

    def write_individual_record(self, individual: Any) -> None:
        """Keep no record of each visit: the counters suffice."""

    def wrap_up_servers(self, current_time: float) -> None:
        """Keep the servers: a run continues after its warm-up."""

    def find_server_utilisation(self) -> None:
        """Leave it to the counters."""


class SharedQueue(Queue):
    """All jobs present share its speed, as do jobs at infinitely many servers.

    The service received is one number for all jobs, which grows as speed over number present.
    """

    def __init__(
        self,
        number: int,
        simulation: Any,
        serving: Serving,
        station: int,
        speed: Callable[[int], float],
    ) -> None:
        super().__init__(number, simulation, serving, station)
        self._speed = speed
        self._each = 0.0
        self._ends: list[tuple[float, int, Any]] = []

    def progress(self, passed: float) -> None:
        """Give every job an equal share."""
        present = self.number_of_individuals
        self._each += passed * self._speed(present) / present

    def begin_service_if_possible_accept(self, next_individual: Any) -> None:
        """Start service at once."""
        next_individual.arrival_date = next_individual.service_start_date = self.now
        next_individual.service_time = self.get_service_time(next_individual)
        end = self._each + next_individual.service_time
        heappush(self._ends, (end, next_individual.id_number, next_individual))

    def begin_service_if_possible_release(self, *_: Any) -> None:
        """No job has waited."""

    def serve_again(self, job: Any) -> None:
        """Restart its service."""
        heappop(self._ends)
        self._stale = True
        self.begin_service_if_possible_accept(job)

    def block_individual(self, individual: Any, target: Any) -> None:
        """Block a job whose service is complete."""
        heappop(self._ends)
        super().block_individual(individual, target)

    def release(self, next_individual: Any, *more: Any) -> None:
        """Release the first job whose service is complete, or one that was blocked."""
        if not next_individual.is_blocked:
            heappop(self._ends)
        super().release(next_individual, *more)
        if not self._ends:
            self._each = 0.0  # it would lose digits

    def find_next_to_leave(self) -> None:
        """The job with the least remaining service."""
        self.next_event_type = "end_service"
        self.next_event_date, self.next_individual = inf, None
        if self._ends:
            present = self.number_of_individuals
            left = max(self._ends[0][0] - self._each, 0.0)
            self.next_event_date = self.now + left * present / self._speed(present)
            self.next_individual = [self._ends[0][2]]


class Budgeted(Queue):
    """One server that works for at most a share of each period, and rests until the next one."""

    def __init__(self, number: int, simulation: Any, serving: Serving, station: int) -> None:
        super().__init__(number, simulation, serving, station)
        self._share, self._period = serving.budget or (1.0, inf)
        self._current, self._worked = -1, 0.0

    def count(self) -> None:
        """Count the jobs present; usage is counted as it is allocated."""
        used = self.tally.used
        super().count()
        self.tally.used = used

    def get_service_time(self, ind: Any) -> float:
        """Time until the service is complete, including rests [s]."""
        work: float = super().get_service_time(ind)
        self.tally.used += work / self._share
        current = max(floor(self.now / self._period), self._current)
        if current > self._current:
            self._current, self._worked = current, 0.0
        budget = self._share * self._period
        left = min(budget - self._worked, (current + 1) * self._period - self.now)
        if work <= left:
            self._worked += work
            return work
        rest = work - max(left, 0.0)
        whole = max(ceil(rest / budget) - 1, 0)
        self._current, self._worked = current + 1 + whole, rest - whole * budget
        end: float = self._current * self._period + self._worked
        return end - float(self.now)


class UnequalServers(Queue):
    """Servers of unequal speed, the fastest first; a job takes the first free one."""

    def get_service_time(self, ind: Any) -> float:
        """Service time at the chosen server [s]."""
        work: float = super().get_service_time(ind)
        pace: float = self.serving.paces[ind.server.id_number - 1]
        return work * pace

    def in_use(self) -> float:
        """Share of the servers that is busy."""
        return sum(bool(one.busy) for one in self.servers) / self.serving.servers


class Gate(Queue):
    """The queue, in order of arrival, in which jobs wait for room in a region."""

    def __init__(self, number: int, simulation: Any, limit: int) -> None:
        super().__init__(number, simulation, Serving(0.0, servers=inf), AT_GATES)
        self._limit, self._inside = limit, 0
        self.begin()

    def begin(self) -> None:
        """Start counting."""
        super().begin()
        self.entered, self.full = 0, 0.0

    def count(self) -> None:
        """Update the areas before a job arrives or leaves."""
        passed = self.now - self._counted
        self._counted = self.now
        self.tally.present += passed * self.number_of_individuals
        self.tally.used += passed * self._inside / self._limit
        if passed > 0 and self._inside >= self._limit:
            self.full += passed

    def accept(self, next_individual: Any, *more: Any) -> None:
        """Admit a job, or let it wait."""
        if self._inside < self._limit:
            self._admit()
            next_individual.inside.accept(next_individual)
        else:
            super().accept(next_individual, *more)

    def _admit(self) -> None:
        self.count()
        self._inside += 1
        self.entered += 1

    def leave(self) -> None:
        """A job has left: admit the one that has waited longest."""
        self.count()
        self._inside -= 1
        if self.individuals[0]:
            first = self.individuals[0][0]
            self._admit()
            self.release(first, first.inside)

    def begin_service_if_possible_accept(self, next_individual: Any) -> None:
        """Let it wait: there is no service here."""

    def begin_service_if_possible_release(self, *_: Any) -> None:
        """There is no service here."""

    def find_next_to_leave(self) -> None:
        """Jobs do not leave on their own."""
        self.next_event_type, self.next_event_date = "end_service", inf


AT_GATES = -2
"""The station, by position, of jobs that wait outside a region."""


class Forking(Queue):
    """Requests that wait until enough of their parts are done, at other queues."""

    def __init__(self, number: int, simulation: Any, serving: Serving, station: int) -> None:
        super().__init__(number, simulation, serving, station)
        self._ready: list[Any] = []

    def begin_service_if_possible_accept(self, next_individual: Any) -> None:
        """Send a part to each of its queues."""
        next_individual.arrival_date = next_individual.service_start_date = self.now
        waited = Parts(self, next_individual, self.serving.needed)
        for queue in self.simulation.queues_of_parts(self.station):
            part = self.simulation.IndividualType(
                next_individual.id_number,
                next_individual.customer_class,
                next_individual.priority_class,
                simulation=self.simulation,
            )
            part.waited = waited
            queue.accept(part)

    def ready(self, request: Any) -> None:
        """Release a request whose parts are done."""
        self._ready.append(request)
        self._stale = True

    def begin_service_if_possible_release(self, *_: Any) -> None:
        """No job has waited for a server."""

    def release(self, next_individual: Any, *more: Any) -> None:
        """Release the first one that is ready."""
        self._ready.remove(next_individual)
        super().release(next_individual, *more)

    def find_next_to_leave(self) -> None:
        """A job that is ready leaves at once."""
        self.next_event_type = "end_service"
        self.next_event_date = self.now if self._ready else inf
        self.next_individual = self._ready[:1] or None


class Parts:
    """The parts of one request on one visit to a fork."""

    def __init__(self, fork: Forking, request: Any, needed: int) -> None:
        self._fork, self._request, self._left = fork, request, needed

    def done(self) -> None:
        """Count a finished part; parts that the request no longer needs do not matter."""
        self._left -= 1
        if self._left == 0:
            self._fork.ready(self._request)


class Arrivals(ciw.ArrivalNode):
    """The source of jobs; each goes to the start of its route."""

    def release_individual(self, place: Any, next_individual: Any) -> None:
        """Send a job to the start of its route, which may differ from where Ciw lets it arrive."""
        del place
        self.simulation.enter(next_individual)


class Gone(ciw.ExitNode):
    """The exit; it keeps no records of jobs."""

    def accept(self, next_individual: Any, *more: Any) -> None:
        """Forget a job."""
