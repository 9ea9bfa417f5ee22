"""What goes on at one station, by the order in which it serves: services are exponential.

A station's state is whatever its order needs to know. Jobs are numbers of classes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Outcomes = list[tuple[float, Any]]


@dataclass(frozen=True)
class Place:
    """A station: mean service times by class, servers, and room."""

    times: tuple[float, ...]
    servers: float = 1
    room: float = float("inf")
    ranks: tuple[int, ...] = ()

    empty: Any = ()

    def arrive(self, state: Any, c: int) -> Outcomes:
        """The states that an arrival may lead to, with their chances."""
        raise NotImplementedError

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        """Rates at which jobs complete, their classes, and the states that they leave."""
        raise NotImplementedError

    def counts(self, state: Any) -> tuple[int, ...]:
        """Jobs there by class."""
        raise NotImplementedError

    def _tally(self, jobs: Any) -> tuple[int, ...]:
        return tuple(jobs.count(c) for c in range(len(self.times)))

    def full(self, state: Any) -> bool:
        """Whether nobody else has room."""
        return sum(self.counts(state)) >= self.room


@dataclass(frozen=True)
class Sharing(Place):
    """All who are there share the servers equally; `speed` says how many work for n jobs."""

    speed: Callable[[int], float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "empty", (0,) * len(self.times))

    def arrive(self, state: Any, c: int) -> Outcomes:
        return [(1.0, added(state, c, 1))]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        n = sum(state)
        work = min(n, self.servers) if self.speed is None else self.speed(n)
        return [
            (work * k / n / self.times[c], c, [(1.0, added(state, c, -1))])
            for c, k in enumerate(state)
            if k
        ]

    def counts(self, state: Any) -> tuple[int, ...]:
        return tuple(state)


@dataclass(frozen=True)
class Apart(Place):
    """A queue for each server, chosen blindly; each shared among who is there."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "empty", ((0,) * len(self.times),) * int(self.servers))

    def arrive(self, state: Any, c: int) -> Outcomes:
        share = 1 / len(state)
        return [
            (share, tuple(sorted((*state[:i], added(q, c, 1), *state[i + 1 :]))))
            for i, q in enumerate(state)
        ]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        return [
            (
                k / sum(q) / self.times[c],
                c,
                [(1.0, tuple(sorted((*state[:i], added(q, c, -1), *state[i + 1 :]))))],
            )
            for i, q in enumerate(state)
            for c, k in enumerate(q)
            if k
        ]

    def counts(self, state: Any) -> tuple[int, ...]:
        return tuple(map(sum, zip(*state, strict=True)))


@dataclass(frozen=True)
class Line(Place):
    """In order of arrival: those in service, then the queue."""

    empty: Any = ((), ())

    def arrive(self, state: Any, c: int) -> Outcomes:
        served, queue = state
        if len(served) < self.servers:
            return [(1.0, (_with(served, c), queue))]
        return [(1.0, (served, (*queue, c)))]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        served, queue = state
        rest = [(_without(served, c), c) for c in served]
        return [
            (
                1 / self.times[c],
                c,
                [(1.0, (_with(left, queue[0]), queue[1:]) if queue else (left, ()))],
            )
            for left, c in rest
        ]

    def counts(self, state: Any) -> tuple[int, ...]:
        return self._tally(state[0] + state[1])


@dataclass(frozen=True)
class Stack(Place):
    """The last to come is served first; whoever is interrupted goes on where it was."""

    def arrive(self, state: Any, c: int) -> Outcomes:
        return [(1.0, (*state, c))]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        first = max(len(state) - int(self.servers), 0)
        return [
            (1 / self.times[state[i]], state[i], [(1.0, state[:i] + state[i + 1 :])])
            for i in range(first, len(state))
        ]

    def counts(self, state: Any) -> tuple[int, ...]:
        return self._tally(state)


@dataclass(frozen=True)
class Lottery(Place):
    """Whoever waits is taken by chance."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "empty", ((), (0,) * len(self.times)))

    def arrive(self, state: Any, c: int) -> Outcomes:
        served, waiting = state
        if len(served) < self.servers:
            return [(1.0, (_with(served, c), waiting))]
        return [(1.0, (served, added(waiting, c, 1)))]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        served, waiting = state
        n = sum(waiting)
        rows = []
        for c in served:
            left = _without(served, c)
            after = [
                (k / n, (_with(left, d), added(waiting, d, -1))) for d, k in enumerate(waiting) if k
            ]
            rows.append((1 / self.times[c], c, after or [(1.0, (left, waiting))]))
        return rows

    def counts(self, state: Any) -> tuple[int, ...]:
        return tuple(a + b for a, b in zip(self._tally(state[0]), state[1], strict=True))


@dataclass(frozen=True)
class HeadOfLine(Place):
    """The best rank waiting is taken next, in order of arrival within a rank; nobody is stopped."""

    empty: Any = ((), ())

    def arrive(self, state: Any, c: int) -> Outcomes:
        served, queue = state
        if len(served) < self.servers:
            return [(1.0, (_with(served, c), queue))]
        return [(1.0, (served, self._behind(queue, c)))]

    def _behind(self, queue: Any, c: int) -> Any:
        """The queue by rank, and by arrival in each."""
        place = next((i for i, d in enumerate(queue) if self.ranks[d] > self.ranks[c]), len(queue))
        return (*queue[:place], c, *queue[place:])

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        return Line.leaving(self, state)  # type: ignore[arg-type]

    def counts(self, state: Any) -> tuple[int, ...]:
        return self._tally(state[0] + state[1])


@dataclass(frozen=True)
class Preemptive(Place):
    """The best ranks present are served; whoever is interrupted goes on where it was."""

    def arrive(self, state: Any, c: int) -> Outcomes:
        return [(1.0, HeadOfLine._behind(self, state, c))]  # type: ignore[arg-type]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        return [
            (1 / self.times[state[i]], state[i], [(1.0, state[:i] + state[i + 1 :])])
            for i in range(min(len(state), int(self.servers)))
        ]

    def counts(self, state: Any) -> tuple[int, ...]:
        return self._tally(state)


@dataclass(frozen=True)
class Unequal(Place):
    """Servers of unequal speed, one class, `times` by server: any that is free, or the fastest."""

    empty: Any = ((), 0)
    blindly: bool = False

    def arrive(self, state: Any, c: int) -> Outcomes:
        del c
        busy, waiting = state
        free = [i for i in range(len(self.times)) if i not in busy]
        if not free:
            return [(1.0, (busy, waiting + 1))]
        taken = free if self.blindly else [min(free, key=lambda i: self.times[i])]
        return [(1 / len(taken), (_with(busy, i), waiting)) for i in taken]

    def leaving(self, state: Any) -> list[tuple[float, int, Outcomes]]:
        busy, waiting = state
        return [
            (
                1 / self.times[i],
                0,
                [(1.0, (busy, waiting - 1) if waiting else (_without(busy, i), 0))],
            )
            for i in busy
        ]

    def counts(self, state: Any) -> tuple[int, ...]:
        return (len(state[0]) + state[1],)


def added(counts: Any, c: int, more: int) -> Any:
    """Numbers by class, with more of one."""
    return (*counts[:c], counts[c] + more, *counts[c + 1 :])


def _with(jobs: Any, c: int) -> Any:
    return tuple(sorted((*jobs, c)))


def _without(jobs: Any, c: int) -> Any:
    place = jobs.index(c)
    return jobs[:place] + jobs[place + 1 :]
