"""One class of jobs where room is short: stations that block, and regions with a limit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.brute.chain import MOST_STATES, Chain, solve_chain
from tests.brute.network import Truth

Ways = Mapping[int, list[tuple[float, int | None]]]


@dataclass(frozen=True)
class Crowd:
    """One class: open with a rate, or closed with a number (a job that leaves comes in again)."""

    rate: float = 0.0
    population: int = 0
    think_time: float = 0.0
    cap: int = 0


@dataclass(frozen=True)
class Blocking:
    """Single exponential servers with room for `rooms` jobs each, the one in service among them.

    After service a job whose next station is full stays where it is, and its server rests; first
    held up, first let go on. With `repeats` it is served once more instead and chooses anew.
    Arrivals from outside that find the first station full are lost.
    """

    times: tuple[float, ...]
    rooms: tuple[float, ...]
    ways: Ways
    crowd: Crowd
    repeats: bool = False

    @property
    def start(self) -> Any:
        """Everybody is at the first stations that have room, or thinks."""
        left, counts = self.crowd.population, []
        for room in self.rooms:
            here = 0 if self.crowd.think_time else int(min(left, room))
            counts.append(here)
            left -= here
        return tuple(counts), (-1,) * len(self.times), ()

    def moves(self, state: Any) -> Iterator[tuple[Any, float]]:
        """Every state that may be next, with its rate."""
        counts, kept_inside, _ = state
        away = self.crowd.population - sum(counts)
        rate = away / self.crowd.think_time if away and self.crowd.think_time else self.crowd.rate
        if rate and counts[0] < self.rooms[0]:
            yield _moved(state, None, 0), rate
        for k, time in enumerate(self.times):
            if counts[k] and kept_inside[k] < 0:
                for share, target in self.ways[k]:
                    yield self._served(state, k, target), share / time

    def _served(self, state: Any, k: int, target: int | None) -> Any:
        counts, kept_inside, order = state
        if target is None or target == k or counts[target] < self.rooms[target]:
            return self._freed(_moved(state, k, target), k)
        if self.repeats:
            return state
        return counts, (*kept_inside[:k], target, *kept_inside[k + 1 :]), (*order, k)

    def _freed(self, state: Any, k: int) -> Any:
        """Room at a station: who was held up first before it goes on, which makes room again."""
        counts, kept_inside, order = state
        first = next((u for u in order if kept_inside[u] == k), None)
        if first is None or counts[k] >= self.rooms[k]:
            return state
        freed = (*kept_inside[:first], -1, *kept_inside[first + 1 :])
        left = tuple(u for u in order if u != first)
        return self._freed(_moved((counts, freed, left), first, k), first)


def _moved(state: Any, source: int | None, target: int | None) -> Any:
    counts = list(state[0])
    if source is not None:
        counts[source] -= 1
    if target is not None:
        counts[target] += 1
    return tuple(counts), *state[1:]


def solve_blocking(network: Blocking, most: int = MOST_STATES) -> Truth:
    """Solve the whole chain: mean numbers at stations, and what they complete and pass on."""
    chain = solve_chain(network.start, network.moves, most)
    by_name = {}
    for k in range(len(network.times)):
        by_name[f"s{k}.queue_length"] = chain.mean(lambda s, k=k: s[0][k])
        by_name[f"s{k}.throughput"] = sum(
            share * rate
            for share, state in zip(chain.shares, chain.states, strict=True)
            for rate in _passed(network, state, k)
        )
    return Truth(by_name)


def _passed(network: Blocking, state: Any, k: int) -> Iterator[float]:
    """Rates at which jobs complete at a station for good."""
    counts, kept_inside, _ = state
    if not counts[k] or kept_inside[k] >= 0:
        return
    for share, target in network.ways[k]:
        full = target is not None and target != k and counts[target] >= network.rooms[target]
        if not (full and network.repeats):
            yield share / network.times[k]


@dataclass(frozen=True)
class Region:
    """Stations of which some hold at most `limit` jobs together; others wait outside, in order.

    `servers` are of exponential service, as many as infinity for a delay.
    """

    times: tuple[float, ...]
    servers: tuple[float, ...]
    ways: Ways
    crowd: Crowd
    inside: frozenset[int]
    limit: int

    @property
    def start(self) -> Any:
        """Everybody thinks, or stands before the first station."""
        state = (0,) * len(self.times), ()
        for _ in range(0 if self.crowd.think_time else self.crowd.population):
            state = self._arrived(state, 0)
        return state

    def moves(self, state: Any) -> Iterator[tuple[Any, float]]:
        """Every state that may be next, with its rate."""
        counts, outside = state
        present = sum(counts) + len(outside)
        if self.crowd.rate and present < self.crowd.cap:
            yield self._arrived(state, 0), self.crowd.rate
        away = self.crowd.population - present
        if self.crowd.think_time and away > 0:
            yield self._arrived(state, 0), away / self.crowd.think_time
        for k, time in enumerate(self.times):
            if counts[k]:
                rate = min(counts[k], self.servers[k]) / time
                for share, target in self.ways[k]:
                    yield self._hopped(state, k, target), rate * share

    def _inside_region(self, counts: Any) -> int:
        return sum(counts[k] for k in self.inside)

    def _arrived(self, state: Any, k: int) -> Any:
        """One more before a station: inside where there is room, else outside."""
        counts, outside = state
        if k in self.inside and self._inside_region(counts) >= self.limit:
            return counts, (*outside, k)
        return _moved((counts,), None, k)[0], outside

    def _hopped(self, state: Any, k: int, target: int | None) -> Any:
        if target in self.inside and k in self.inside:
            return _moved((state[0],), k, target)[0], state[1]
        gone = _moved((state[0],), k, None)[0], state[1]
        gone = self._admitted(gone)
        if target is not None:
            return self._arrived(gone, target)
        again = self.crowd.population and not self.crowd.think_time
        return self._arrived(gone, 0) if again else gone

    def _admitted(self, state: Any) -> Any:
        counts, outside = state
        if outside and self._inside_region(counts) < self.limit:
            return _moved((counts,), None, outside[0])[0], outside[1:]
        return state


def solve_region(network: Region, most: int = MOST_STATES) -> Truth:
    """Solve the whole chain: mean numbers at stations, and outside the region, called few."""
    chain = solve_chain(network.start, network.moves, most)
    by_name = {"few.queue_length": chain.mean(lambda s: len(s[1]))}
    for k, time in enumerate(network.times):
        by_name[f"s{k}.queue_length"] = chain.mean(lambda s, k=k: s[0][k])
        busy = chain.mean(lambda s, k=k: min(s[0][k], network.servers[k]))
        by_name[f"s{k}.throughput"] = busy / time
    return Truth(by_name, _cut(network.crowd, chain))


def _cut(crowd: Crowd, chain: Chain) -> float:
    if not crowd.rate:
        return 0.0
    return crowd.cap * chain.mean(lambda s: sum(s[0]) + len(s[1]) >= crowd.cap)
