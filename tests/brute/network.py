"""Networks of stations that classes of jobs share, as whole Markov chains."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tests.brute.chain import TooLarge, solve_chain
from tests.brute.orders import Place, added

Hops = list[tuple[float, int | None, int]]
"""Where a job goes: chance, station (None: it leaves), and the class it has from there on."""


@dataclass(frozen=True)
class Jobs:
    """A class: open with a rate, or (rate None) closed with a number and a mean time to think."""

    name: str
    rate: float | None = None
    population: int = 0
    think_time: float = 0.0
    enters: Mapping[int, float] = field(default_factory=lambda: {0: 1.0})

    @property
    def is_open(self) -> bool:
        """Whether its jobs come from outside and leave."""
        return self.rate is not None


@dataclass(frozen=True)
class Network:
    """Stations, classes, and the ways between them; `cap` open jobs at most are there at once.

    A closed job that leaves thinks, and enters again as what it is then.
    """

    places: tuple[Place, ...]
    classes: tuple[Jobs, ...]
    hops: Mapping[tuple[int, int], Hops]
    cap: int = 0

    @property
    def start(self) -> Any:
        """Everybody thinks; who has no time to think is where it enters."""
        empty = tuple(p.empty for p in self.places)
        return next(self._settled(empty, tuple(c.population for c in self.classes)))[1]

    def moves(self, state: Any) -> Iterator[tuple[Any, float]]:
        """Every state that may be next, with its rate."""
        places, thinking = state
        full = self.is_full(places)
        for c, jobs in enumerate(self.classes):
            if jobs.is_open and not full:
                yield from _at(jobs.rate, self._entered(places, c), thinking)
            elif thinking[c]:
                rate = thinking[c] / jobs.think_time
                yield from _at(rate, self._entered(places, c), added(thinking, c, -1))
        for k, place in enumerate(self.places):
            for rate, c, outcomes in place.leaving(places[k]):
                for chance, own in outcomes:
                    rest = (*places[:k], own, *places[k + 1 :])
                    for share, after in self._onward(rest, thinking, k, c):
                        yield after, rate * chance * share

    def is_full(self, places: Any) -> bool:
        """Whether as many open jobs are there as are followed."""
        counts = [place.counts(state) for place, state in zip(self.places, places, strict=True)]
        return self.cap <= sum(row[c] for row in counts for c in self._opened)

    @cached_property
    def _opened(self) -> list[int]:
        return [c for c, jobs in enumerate(self.classes) if jobs.is_open]

    @property
    def comes_back(self) -> bool:
        """Whether classes turn into one another, or never leave: who has left is not said."""
        return any(
            becomes != c for (_, c), hops in self.hops.items() for _, _, becomes in hops
        ) or not any(target is None for hops in self.hops.values() for _, target, _ in hops)

    def _settled(self, places: Any, thinking: Any) -> Iterator[tuple[float, Any]]:
        """Those with no time to think enter at once."""
        for c, jobs in enumerate(self.classes):
            if thinking[c] and jobs.think_time == 0:
                for share, after in self._entered(places, c):
                    for chance, state in self._settled(after, added(thinking, c, -1)):
                        yield share * chance, state
                return
        yield 1.0, (places, thinking)

    def _entered(self, places: Any, c: int) -> Iterator[tuple[float, Any]]:
        for k, share in self.classes[c].enters.items():
            for chance, after in self._into(places, k, c):
                yield share * chance, after

    def _into(self, places: Any, k: int, c: int) -> Iterator[tuple[float, Any]]:
        """One more at a station; lost where there is no room."""
        if self.places[k].full(places[k]):
            yield 1.0, places
            return
        for chance, after in self.places[k].arrive(places[k], c):
            yield chance, (*places[:k], after, *places[k + 1 :])

    def _onward(self, places: Any, thinking: Any, k: int, c: int) -> Iterator[tuple[float, Any]]:
        for share, target, becomes in self.hops[k, c]:
            if target is not None:
                for chance, after in self._into(places, target, becomes):
                    yield share * chance, (after, thinking)
            elif self.classes[becomes].is_open:
                yield share, (places, thinking)
            else:
                for chance, after in self._settled(places, added(thinking, becomes, 1)):
                    yield share * chance, after


def _at(rate: float, states: Any, thinking: Any) -> Iterator[tuple[Any, float]]:
    for share, after in states:
        yield (after, thinking), rate * share


@dataclass(frozen=True)
class Truth:
    """What a network does, by the names that a solution has for it; and the share cut off.

    The share of time at which arrivals are not let in, as the states would have no end.
    """

    numbers: dict[str, float]
    cut: float = 0.0


def solve_network(network: Network) -> Truth:
    """Solve the whole chain of a network, of as many open jobs as there can be states."""
    if not any(job.is_open for job in network.classes):
        return _solve(network)
    for cap in (24, 18, 14, 11, 8):
        with suppress(TooLarge):
            return _solve(replace(network, cap=cap))
    raise TooLarge


def _solve(network: Network) -> Truth:
    queue, served, cut = means(network)
    return Truth(_named(network, queue, served), cut)


def means(network: Network) -> tuple[np.ndarray, np.ndarray, float]:
    """Jobs there and served [1/s], shape (stations, classes), and the share of time cut off."""
    chain = solve_chain(network.start, network.moves)
    shape = len(network.places), len(network.classes)
    queue, served, cut = np.zeros(shape), np.zeros(shape), 0.0
    for share, state in zip(chain.shares, chain.states, strict=True):
        places = state[0]
        for k, place in enumerate(network.places):
            queue[k] += share * np.array(place.counts(places[k]))
            for rate, c, _ in place.leaving(places[k]):
                served[k, c] += share * rate
        cut += share * network.cap * network.is_full(places)
    return queue, served, cut


def _named(network: Network, queue: np.ndarray, served: np.ndarray) -> dict[str, float]:
    by_name = {}
    for k in range(len(network.places)):
        by_name[f"s{k}.queue_length"] = queue[k].sum()
        by_name[f"s{k}.throughput"] = served[k].sum()
    if network.comes_back:
        return by_name
    out = np.zeros(len(network.classes))
    for (k, c), hops in network.hops.items():
        out[c] += served[k, c] * sum(share for share, target, _ in hops if target is None)
    by_name["throughput"] = out.sum()
    for c, job in enumerate(network.classes if len(out) > 1 else ()):
        by_name[f"class {job.name}.throughput"] = out[c]
        if out[c] > 0:  # others may never leave it a server
            by_name[f"class {job.name}.response_time"] = queue[:, c].sum() / out[c]
    return by_name
