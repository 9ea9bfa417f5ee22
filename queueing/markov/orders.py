"""The state of one station by its order of service, as a whole Markov chain needs it.

Every service is exponential with a mean by class, so an interrupted job resumes as if it began
anew. A transition is the next state and its probability; a completion also has its class, and the
multiple of the class's service rate at which it happens.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from headway.records import dataclass

Here: TypeAlias = tuple[Any, ...]
"""A station's state; empty if no job is present."""


@dataclass(frozen=True)
class Order:
    """The transitions of a station's state.

    Parameters
    ----------
    joined
        Next states when a job of a class joins, with probabilities.
    left
        Completions: the class, the multiple of its rate, and the next state.
    busy
        The number of busy servers.
    present
        The classes of the jobs that are present.
    """

    joined: Callable[[Here, int], Iterator[tuple[Here, float]]]
    left: Callable[[Here], Iterator[tuple[int, float, Here]]]
    busy: Callable[[Here], int]
    present: Callable[[Here], Here] = tuple


def sharing(servers: int) -> Order:
    """Servers shared among all present jobs; a delay if there is a server for each.

    Examples
    --------
    >>> list(sharing(1).left((0, 1)))
    [(0, 0.5, (1,)), (1, 0.5, (0,))]
    """

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        yield tuple(sorted((*here, c))), 1.0

    def left(here: Here) -> Iterator[tuple[int, float, Here]]:
        each = min(len(here), servers) / len(here) if here else 0.0
        for c in sorted(set(here)):
            yield c, each * here.count(c), _without(here, here.index(c))

    return Order(joined, left, _at_most(servers))


def in_order(servers: int) -> Order:
    """First come, first served: the earliest arrivals are in service.

    Examples
    --------
    >>> list(in_order(1).left((0, 1)))
    [(0, 1.0, (1,))]
    """

    def left(here: Here) -> Iterator[tuple[int, float, Here]]:
        for place, c in enumerate(here[:servers]):
            yield c, 1.0, _sorted_service(_without(here, place), servers)

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        yield _sorted_service((*here, c), servers), 1.0

    return Order(joined, left, _at_most(servers))


def by_rank(ranks: tuple[int, ...], servers: int) -> Order:
    """The best rank present is served at once (preemptive); in order of arrival within a rank.

    Examples
    --------
    >>> order = by_rank((2, 1), 1)
    >>> [state for state, _ in order.joined((0,), 1)]
    [(1, 0)]
    """

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        yield _inserted(here, c, ranks, 0), 1.0

    def left(here: Here) -> Iterator[tuple[int, float, Here]]:
        for place, c in enumerate(here[:servers]):
            yield c, 1.0, _without(here, place)

    return Order(joined, left, _at_most(servers))


def next_by_rank(ranks: tuple[int, ...], servers: int) -> Order:
    """The waiting job of the best rank is next; service is never interrupted.

    Examples
    --------
    >>> order = next_by_rank((2, 1), 1)
    >>> [state for state, _ in order.joined((0, 0), 1)]
    [(0, 1, 0)]
    """

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        yield _sorted_service(_inserted(here, c, ranks, servers), servers), 1.0

    return Order(joined, in_order(servers).left, _at_most(servers))


def at_random(servers: int) -> Order:
    """Waiting jobs are taken at random, so their order does not matter.

    Examples
    --------
    >>> [(c, after) for c, _, after in at_random(1).left((0, 1, 1))]
    [(0, (1, 1))]
    """

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        yield _as_set((*here, c), servers), 1.0

    def left(here: Here) -> Iterator[tuple[int, float, Here]]:
        for place, c in enumerate(here[:servers]):
            rest = _without(here, place)
            waiting = rest[servers - 1 :]
            if not waiting:
                yield c, 1.0, _as_set(rest, servers)
            for taken in sorted(set(waiting)):
                own = rest.index(taken, servers - 1)
                after = (*rest[: servers - 1], taken, *_without(rest, own)[servers - 1 :])
                yield c, waiting.count(taken) / len(waiting), _as_set(after, servers)

    return Order(joined, left, _at_most(servers))


def last_first(servers: int) -> Order:
    """The latest arrival is served first; an interrupted job resumes where it was.

    Examples
    --------
    >>> list(last_first(1).left((0, 1)))
    [(1, 1.0, (0,))]
    """

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        yield (*here, c), 1.0

    def left(here: Here) -> Iterator[tuple[int, float, Here]]:
        for place in range(max(len(here) - servers, 0), len(here)):
            yield here[place], 1.0, _without(here, place)

    return Order(joined, left, _at_most(servers))


def apart(queues: int, servers: int, order: Callable[[int], Order]) -> Order:
    """Queues of one kind side by side, one of which each job joins at random."""
    one = order(servers)

    def joined(here: Here, c: int) -> Iterator[tuple[Here, float]]:
        lanes = here or ((),) * queues
        for place, lane in enumerate(lanes):
            for after, chance in one.joined(lane, c):
                yield _lanes(lanes, place, after), chance / queues

    def left(here: Here) -> Iterator[tuple[int, float, Here]]:
        for place, lane in enumerate(here):
            for c, times, after in one.left(lane):
                yield c, times, _lanes(here, place, after)

    def busy(here: Here) -> int:
        return sum(map(one.busy, here))

    return Order(joined, left, busy, lambda here: tuple(c for lane in here for c in lane))


def _at_most(servers: int) -> Callable[[Here], int]:
    return lambda here: min(len(here), servers)


def _lanes(lanes: Here, place: int, after: Here) -> Here:
    """Sort queues, as it does not matter which is which."""
    queues = tuple(sorted((*lanes[:place], after, *lanes[place + 1 :])))
    return queues if any(queues) else ()


def _without(here: Here, place: int) -> Here:
    return here[:place] + here[place + 1 :]


def _sorted_service(here: Here, servers: int) -> Here:
    """Sort jobs in service, as it does not matter which server serves which."""
    return (*sorted(here[:servers]), *here[servers:]) if servers > 1 else here


def _as_set(here: Here, servers: int) -> Here:
    return (*sorted(here[:servers]), *sorted(here[servers:]))


def _inserted(here: Here, c: int, ranks: tuple[int, ...], first: int) -> Here:
    """Insert a job behind those of its rank and better ones, and behind the first ``first``."""
    place = next((i for i in range(first, len(here)) if ranks[here[i]] > ranks[c]), len(here))
    place = max(place, min(first, len(here)))
    return (*here[:place], c, *here[place:])
