"""Requests that go to several exponential servers at once, each in order of arrival."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.brute.chain import solve_chain
from tests.brute.network import Truth


@dataclass(frozen=True)
class Forked:
    """Branches with a server each, of which `needed` must be done; the rest is served all the same.

    Open with a rate (`cap` tasks at most in a branch), or closed with a number that think between.
    A branch has done as many requests as any that is ahead of it in the others, so numbers alone
    say which requests are complete: with n tasks left in each branch, the k-th smallest.
    """

    times: tuple[float, ...]
    needed: int
    rate: float = 0.0
    cap: int = 0
    population: int = 0
    think_time: float = 0.0

    def moves(self, state: Any) -> Iterator[tuple[Any, float]]:
        """Every state that may be next, with its rate."""
        rate = self.rate if max(state) < self.cap else 0.0
        if self.population:
            rate = (self.population - self.incomplete(state)) / self.think_time
        if rate:
            yield tuple(n + 1 for n in state), rate
        for k, time in enumerate(self.times):
            if state[k]:
                yield (*state[:k], state[k] - 1, *state[k + 1 :]), 1 / time

    def incomplete(self, state: Any) -> int:
        """Requests of which fewer branches than needed are done."""
        return int(sorted(state)[self.needed - 1])


def solve_forked(network: Forked) -> Truth:
    """Solve the whole chain: the response time from fork to join, by Little's law."""
    chain = solve_chain((0,) * len(network.times), network.moves)
    present = chain.mean(network.incomplete)
    rate = network.rate or chain.mean(
        lambda s: (network.population - network.incomplete(s)) / network.think_time
    )
    cut = chain.mean(lambda s: max(s) >= network.cap) * network.cap if network.cap else 0.0
    return Truth({"response_time": present / rate, "throughput": rate}, cut)
