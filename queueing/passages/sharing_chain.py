"""Passage time of a job that shares servers with jobs of several classes, by its chain.

A state (k, b, e) has the tagged job at station k, b = (b_1, b_2, ...) other jobs of each class in
its queue, and e = (e_1, e_2, ...) elsewhere at stations; at a delay, b = 0 and the state counts the
Erlang phases still to come. The chain does not keep where the e jobs are: they are taken to be in
equilibrium, given their numbers. With G_k(e) the normalising constant of all stations except the
tagged job's queue, a flow lambda of class j elsewhere is reduced to

    lambda u_j(e),  u_j(e) = G_k(e - 1_j) / G_k(e),

Let lambda_il be the flow of class j from station i to l, c_i that from i to where it is away, d_i
that from there to i, h_j(n) = H_j(n + 1) / H_j(n) as in `TruncatedNumbers.returns`, phi(b) = min(1,
m / (|b| + 1)) the share of a server for each job in the queue, S_j the service time of class j
there and S that of the tagged job. The transitions have these rates:

    b + 1_j, e - 1_j    sum over i != k of lambda_ik u_j(e)     one comes from another queue
    e - 1_j             sum over i != k of c_i u_j(e)           one goes away from another queue
    b + 1_j             d_k h_j(b_j + e_j)                      one comes to this queue
    e + 1_j             sum over i != k of d_i h_j(b_j + e_j)   one comes to another queue
    b - 1_j, e + 1_j    (b_j phi(b) / S_j) sum over l != k of lambda_kl / L
    b - 1_j             (b_j phi(b) / S_j) c_k / L              one in the queue is served
    to (l, b', b + e - b')  P_kl p(b') phi(b) / S               the tagged job goes on to l
    out                 q_k phi(b) / S                          the tagged job leaves

with L = sum over l of lambda_kl + c_k, and p(b') = f_l(b') G_kl(e - b') / G_k(e) the probability of
finding b' of the e others in the queue of l. At a station with several lanes, one of them is its
queue.

Exact for two queues or fewer. Rare states are left out, and the finest chain that is small enough
is followed. The conditional equilibrium is headway's own approximation:
docs/explanation/tagged-job.md derives it, and docs/accuracy/percentiles.md has its errors.

Source: Gordon and Newell, Operations Research 15(2), 1967, and Baskett, Chandy, Muntz and Palacios,
JACM 22(2), 1975 (the equilibrium); Jensen, Skandinavisk Aktuarietidskrift 36, 1953 (the steps).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.passages.class_numbers import SharingNetwork, TruncatedNumbers
from headway.queueing.passages.passage import Passage
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.uniformisation import SHARED, AbsorbingChain, Truncation
from headway.records import dataclass

AVERAGED_ELSEWHERE = (
    "percentiles assume that the other jobs are in equilibrium: up to the 99th within 2%, "
    "the 99.9th within 4% where measured"
)
"""Measured by ``python -m tests.campaigns.percentile_campaign``."""

PHASES = 10, 160
"""Erlang phases that represent a constant time: the fewest, with a coefficient of variation of
32%, and the most as long as they are no faster than services.
"""

_FINEST = SHARED[0].left_out
_QUICK = 3.0  # largest rate of return over the rate of the fastest service: for speed
_LITTLE = 0.1  # share of the work for which a chain with the true rate of return is tried first
_RARE = 3e-4  # least p(b') over the largest one that is kept, except in the finest chain
_UNLIKELY = 1e-9  # probability below which a number at stations does not set the fastest return
_NONE = 1e-12  # share of a flow that is rounding only

# Only for speed: estimates of the size and work of a chain before it is built.
_MOST_PAIRS = 2_000_000  # numbers b times numbers e at a station
_PHASED = 20_000  # states at a delay
_SLOWED = 3.0  # E[T] over its value without other jobs, if E[T] is not known
_LEAST_MOVES = 2000.0  # number of transitions below which a step takes no less time

Codes: TypeAlias = NDArray[np.int64]
Positions: TypeAlias = NDArray[np.intp]
Edges: TypeAlias = tuple[Codes, Codes, FloatArray]
"""States before and after transitions, and their rates [1/s]."""


def sharing_chain_law(network: SharingNetwork, mean: float | None) -> TimeLaw | None:
    """Law of the passage time; None if no chain is small enough.

    Parameters
    ----------
    network
        The other jobs, and the routes of the tagged job.
    mean
        Mean passage time [s], to which the law is scaled; None if not known.

    Examples
    --------
    >>> from headway.queueing.passages.aggregation import ArrivingClass
    >>> from headway.queueing.passages.class_numbers import SharingClass
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> alone = Passage((cpu,), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> opened = SharingClass((1.0,), (1.0,), 0.5, (ArrivingClass(0, 2.0),))
    >>> law = sharing_chain_law(SharingNetwork(alone, (opened,)), mean=2.0)  # S / (1 - U)
    >>> law.mean
    2.0
    """
    if network.truncated is None:
        return None
    for states, truncation in _choices(network, network.truncated):
        law = _Chain(states, mean, truncation).law()
        if law is not None:
            return replace(law, notes=() if states.is_exact else (AVERAGED_ELSEWHERE,))
    return None


def _choices(
    network: SharingNetwork, truncated: TruncatedNumbers
) -> Iterator[tuple["TaggedStates", Truncation]]:
    """Sets of states to try, the best first, each with the work that it is worth."""
    for truncation in SHARED:
        states = TaggedStates(network, truncated, truncation.left_out, _QUICK)
        if states.are_too_many:
            continue
        if truncation.left_out == _FINEST and not states.sees_all_away:
            little = truncation._replace(work=_LITTLE * truncation.work)
            yield replace(states, quick=np.inf), little
        yield states, truncation


@dataclass(frozen=True)
class StatesAt:
    """The states (b, e) kept at a station, and their probabilities when the job enters.

    At a delay, b = 0, and each state has the given number of phases.
    """

    beside: Codes
    others: Codes
    chances: FloatArray
    phases: int


@dataclass(frozen=True)
class Flows:
    """Flows lambda_il, c_i and d_i of a class [1/s], and whether all time away is represented."""

    onward: FloatArray
    out: FloatArray
    back: FloatArray
    sees_all: bool


@dataclass(frozen=True)
class NumbersFound:
    """Probabilities p(b') of what the tagged job finds, by the codes e in `elsewhere`."""

    elsewhere: Codes
    rows: NDArray[np.intp]
    beside: Codes
    chances: FloatArray

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Number of b' for each e."""
        return np.bincount(self.rows, minlength=len(self.elsewhere))

    def many(self, others: Codes) -> NDArray[np.intp]:
        """Number of b' for some of the e."""
        return np.asarray(self.counts[np.searchsorted(self.elsewhere, others)])


@dataclass(frozen=True, eq=False)
class TaggedStates:
    """States of a tagged job among jobs of several classes.

    Numbers (n_1, n_2, ...) are stored as codes, which can be added like the numbers.

    Parameters
    ----------
    network, truncated
        The other jobs, and the weights of their numbers.
    left_out
        Share of time in the states that are left out.
    quick
        Largest rate of return of jobs over the rate of the fastest service; shorter think times are
        taken as 0.
    """

    network: SharingNetwork
    truncated: TruncatedNumbers
    left_out: float
    quick: float

    @property
    def passage(self) -> Passage:
        """The stations and the routes of the tagged job."""
        return self.network.passage

    @property
    def is_exact(self) -> bool:
        """Whether nothing is approximate: two queues at most, no delay, all states."""
        stations = self.passage.stations
        if self.left_out > _FINEST or any(station.is_delay for station in stations):
            return False
        return sum(station.lanes for station in stations) <= 2 and self.sees_all_away

    @property
    def sees_all_away(self) -> bool:
        """Whether nothing is approximate about jobs that are away."""
        return all(flows.sees_all for flows in self.flows)

    @cached_property
    def visited(self) -> list[int]:
        """Stations that the tagged job visits."""
        return [int(k) for k in np.flatnonzero(self.passage.own_visits > 0)]

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of each class, by code, shape (codes, classes)."""
        shape = [n + 1 for n in self.truncated.most]
        return np.indices(shape).reshape(len(shape), -1).T.astype(np.int64)

    @cached_property
    def units(self) -> list[int]:
        """What one more job of each class, 1_j, adds to a code."""
        shape = [n + 1 for n in self.truncated.most]
        return [int(np.prod(shape[j + 1 :])) for j in range(len(shape))]

    @property
    def base(self) -> int:
        """A number larger than any code of numbers."""
        return max(len(self.numbers), PHASES[1])

    def code(self, k: int, beside: Codes | int, others: Codes) -> Codes:
        """Code of a state (k, b, e); at a delay, the phases still to come stand for b."""
        return np.asarray((k * self.base + beside) * self.base + others)

    @cached_property
    def states(self) -> Codes:
        """Codes of all states, in order."""
        parts = [
            self.code(k, at.beside + phase, at.others)
            for k, at in self.at.items()
            for phase in range(at.phases)
        ]
        return np.sort(np.concatenate(parts))

    @cached_property
    def at(self) -> dict[int, StatesAt]:
        """States by station that the tagged job visits."""
        return {k: at for k, at in self._by_station.items() if at is not None}

    @property
    def are_too_many(self) -> bool:
        """Whether a station has more pairs (b, e) than the limit."""
        return None in self._by_station.values()

    @cached_property
    def _by_station(self) -> dict[int, StatesAt | None]:
        return {k: self._states_at(k) for k in self.visited}

    def share(self, k: int) -> FloatArray:
        """phi(b) at station k, by code."""
        servers = self.passage.stations[k].servers
        return np.asarray(np.minimum(1.0, servers / (self.numbers.sum(axis=1) + 1)))

    def elsewhere(self, k: int) -> FloatArray:
        """G_k(e) by code: weights of the others elsewhere while the job is at station k."""
        return self._constants(() if self.passage.stations[k].is_delay else (k,))

    @cached_property
    def _known_constants(self) -> dict[tuple[int, ...], FloatArray]:
        return {}

    def _constants(self, without: tuple[int, ...]) -> FloatArray:
        if without not in self._known_constants:
            self._known_constants[without] = self.truncated.elsewhere(without).ravel()
        return self._known_constants[without]

    def _states_at(self, k: int) -> StatesAt | None:
        """The likeliest pairs (b, e), which make up all but `left_out` of the time at station k.

        When the job enters, P(b, e) ~ f_k(b) G_k(e) H(b + e); it stays for a time ~ 1 / phi(b).
        """
        arriving, elsewhere = self.truncated.joint_arrival_weights.ravel(), self.elsewhere(k)
        if self.passage.stations[k].is_delay:
            chances = elsewhere * arriving
            kept = _likeliest(chances, self.left_out)
            return StatesAt(0 * kept, kept, chances[kept], self._phases(k, len(kept)))
        here, share = self.truncated.lane_weights(k).ravel(), self.share(k)
        beside = _likeliest(here * self.truncated.rest(k).ravel() / share, self.left_out)
        others = _likeliest(elsewhere * self.truncated.behind(k).ravel(), self.left_out)
        if len(beside) * len(others) > _MOST_PAIRS:
            return None
        fits = np.ones((len(beside), len(others)), bool)
        for j, most in enumerate(self.truncated.most):
            fits &= self.numbers[beside, j][:, None] + self.numbers[others, j] <= most
        total = np.where(fits, beside[:, None] + others, 0)
        chances = np.where(fits, here[beside][:, None] * elsewhere[others] * arriving[total], 0.0)
        kept = _likeliest((chances / share[beside][:, None]).ravel(), self.left_out)
        row, column = np.divmod(kept, len(others))
        return StatesAt(beside[row], others[column], chances.ravel()[kept], 1)

    def _phases(self, k: int, count: int) -> int:
        """Number of phases of a constant time: as many as are no faster than services."""
        free = int(self.fastest * self.passage.stations[k].own_time)
        least, most = PHASES
        return min(max(least, min(free, most)), max(least, _PHASED // count))

    @cached_property
    def fastest(self) -> float:
        """Rate of the fastest service [1/s]."""
        stations = self.passage.stations
        queues = [k for k, station in enumerate(stations) if not station.is_delay]
        own = max((1 / stations[k].own_time for k in queues if k in self.visited), default=0.0)
        times = [(k, each.times[k]) for each in self.network.classes for k in queues]
        return max([own, *(stations[k].servers / time for k, time in times if time > 0)])

    @cached_property
    def flows(self) -> tuple[Flows, ...]:
        """Flows of each class."""
        return tuple(self._flows(j) for j in range(len(self.network.classes)))

    def _flows(self, j: int) -> Flows:
        """A share of the flow to and from time away is represented; the rest goes directly."""
        one = self.network.classes[j]
        flow = one.flow * np.array(one.visits)
        onward = flow[:, None] * self.passage.onward * (flow > 0)
        gone, come = (flow - onward.sum(axis=axis) for axis in (1, 0))
        gone, come = (np.where(each > _NONE * flow, each, 0.0) for each in (gone, come))
        likely = self.truncated.of_class(j) > _UNLIKELY
        fast = float(come.sum() * self.truncated.returns[j][likely].max(initial=0.0))
        seen = min(1.0, self.quick * self.fastest / fast) if fast else 0.0
        direct = np.outer(gone, come) / (come.sum() or 1.0)
        return Flows(
            onward + (1 - seen) * direct, seen * gone, seen * come, not fast or seen == 1.0
        )

    @cached_property
    def _known_found(self) -> dict[tuple[int, int], NumbersFound]:
        return {}

    def found(self, k: int, target: int) -> NumbersFound:
        """p(b') for the tagged job when it goes from station k to another."""
        if (k, target) not in self._known_found:
            self._known_found[k, target] = self._found(k, target)
        return self._known_found[k, target]

    def _found(self, k: int, target: int) -> NumbersFound:
        without = (target,) if self.passage.stations[k].is_delay else (k, target)
        rest, here = self._constants(without), self.truncated.lane_weights(target).ravel()
        elsewhere, beside = np.unique(self.at[k].others), np.unique(self.at[target].beside)
        fits = np.ones((len(elsewhere), len(beside)), bool)
        for j in range(len(self.truncated.most)):
            fits &= self.numbers[elsewhere, j][:, None] >= self.numbers[beside, j]
        left = np.where(fits, elsewhere[:, None] - beside, 0)
        chances = np.where(fits, here[beside] * rest[left], 0.0)
        rare = _RARE if self.left_out > _FINEST else 0.0
        chances[chances < rare * chances.max(axis=1, keepdims=True)] = 0.0
        whole = chances.sum(axis=1, keepdims=True)
        chances = chances / np.where(whole > 0, whole, 1.0)
        rows, columns = np.nonzero(chances)
        return NumbersFound(elsewhere, rows, beside[columns], chances[rows, columns])


@dataclass(frozen=True, eq=False)
class _Chain:
    """Transitions between the states of a tagged job."""

    tagged: TaggedStates
    mean: float | None
    truncation: Truncation

    def law(self) -> TimeLaw | None:
        """Law of the passage time; None if the chain is too large, checked as early as possible."""
        tagged = self.tagged
        least = 2 * len(tagged.network.classes) * len(tagged.states)  # fewest possible transitions
        if not self._allows(least, tagged.fastest):
            return None
        edges = [edge for k in tagged.visited for edge in self._of_the_others(k)]
        moves = float(sum(len(edge[0]) for edge in edges))
        left = np.zeros(len(tagged.states))
        for source, _, rate in edges:
            left += np.bincount(self._positions(source), rate, len(left))
        fastest = float(left.max() + max(self._own_rate(k).max() for k in tagged.visited))
        if not self._allows(moves, fastest):
            return None
        if not self._allows(moves + self._own_moves(), fastest, least=0.0):
            return None
        edges += [edge for k in tagged.visited for edge in self._of_the_tagged_job(k)]
        chain = self._chain(edges)
        return chain.law(self.mean, self.truncation.inside)

    def _allows(self, moves: float, pace: float, least: float = _LEAST_MOVES) -> bool:
        mean = _SLOWED * self.tagged.passage.mean if self.mean is None else self.mean
        return self.truncation.allows(max(moves, least), pace * mean)

    def _of_the_others(self, k: int) -> Iterator[Edges]:
        """Transitions of other jobs, and of phases, while the tagged job is at station k."""
        at, station = self.tagged.at[k], self.tagged.passage.stations[k]
        for phase in range(at.phases):
            source = self.tagged.code(k, at.beside + phase, at.others)
            for j in range(len(self.tagged.network.classes)):
                yield from self._of_the_rest(k, j, source)
                if not station.is_delay:
                    yield from self._of_those_in_queue(k, j, source)
            if phase:
                rate = np.full(len(source), at.phases / station.own_time)
                yield source, source - self.tagged.base, rate

    def _of_the_rest(self, k: int, j: int, source: Codes) -> Iterator[Edges]:
        """The first four rows of transitions: jobs of class j from elsewhere and from away."""
        at, flows = self.tagged.at[k], self.tagged.flows[j]
        lanes = self.tagged.passage.stations[k].lanes
        share, apart = (1 / lanes if lanes else 0.0), np.ones(len(self.tagged.passage.stations))
        apart[k] = 1 - share
        one, across = self.tagged.units[j], self.tagged.units[j] * self.tagged.base
        constants, there = self.tagged.elsewhere(k), self.tagged.numbers[at.others, j] > 0
        less, whole = constants[np.where(there, at.others - one, 0)], constants[at.others]
        free = np.where(there & (whole > 0), less / np.where(whole > 0, whole, 1.0), 0.0)  # u_j(e)
        number = self.tagged.numbers[at.beside, j] + self.tagged.numbers[at.others, j]
        most, returns = self.tagged.truncated.most[j], self.tagged.truncated.returns[j]
        come = np.where(number < most, returns[number], 0.0)
        yield _at(source, across - one, float(apart @ flows.onward[:, k]) * share * free)
        yield _at(source, -one, float(apart @ flows.out) * free)
        yield _at(source, across, share * float(flows.back[k]) * come)
        yield _at(source, one, float(apart @ flows.back) * come)

    def _of_those_in_queue(self, k: int, j: int, source: Codes) -> Iterator[Edges]:
        """A job of class j in the queue is served, and goes elsewhere or away."""
        at, flows = self.tagged.at[k], self.tagged.flows[j]
        time, whole = self.tagged.network.classes[j].times[k], float(flows.onward[k].sum())
        whole += float(flows.out[k])
        if whole > 0:
            one, across = self.tagged.units[j], self.tagged.units[j] * self.tagged.base
            again = float(flows.onward[k, k]) / self.tagged.passage.stations[k].lanes / whole
            out = float(flows.out[k]) / whole
            rate = self.tagged.numbers[at.beside, j] * self.tagged.share(k)[at.beside] / time
            yield _at(source, one - across, rate * (1 - again - out))
            yield _at(source, -across, rate * out)

    def _own_rate(self, k: int) -> FloatArray:
        """phi(b) / S: rate at which the tagged job ends its service, or its last phase."""
        at, station = self.tagged.at[k], self.tagged.passage.stations[k]
        if station.is_delay:
            return np.full(len(at.others), at.phases / station.own_time)
        return np.asarray(self.tagged.share(k)[at.beside] / station.own_time)

    def _chance(self, k: int, target: int) -> float:
        """P_kl, without returning to the same queue, which changes nothing."""
        lanes = self.tagged.passage.stations[k].lanes
        same = 1 / lanes if lanes and k == target else 0.0
        return float(self.tagged.passage.onward[k, target]) * (1 - same)

    def _own_moves(self) -> float:
        """Number of transitions of the tagged job."""
        stations = self.tagged.passage.stations
        return float(
            sum(
                len(at.others)
                if stations[target].is_delay
                else self.tagged.found(k, target).many(at.others).sum()
                for k, at in self.tagged.at.items()
                for target in self.tagged.visited
                if self._chance(k, target) > 0
            )
        )

    def _of_the_tagged_job(self, k: int) -> Iterator[Edges]:
        """The tagged job goes from station k to another, by what it finds there."""
        at = self.tagged.at[k]
        source, inside = self.tagged.code(k, at.beside, at.others), at.beside + at.others
        for target in self.tagged.visited:
            rate = self._own_rate(k) * self._chance(k, target)
            if not rate.any():
                continue
            if self.tagged.passage.stations[target].is_delay:
                phases = self.tagged.at[target].phases
                yield source, self.tagged.code(target, phases - 1, inside), rate
                continue
            found = self.tagged.found(k, target)
            many = found.many(at.others)
            who = np.repeat(np.arange(len(source)), many)
            first = np.cumsum(found.counts) - found.counts
            start = first[np.searchsorted(found.elsewhere, at.others)] - np.cumsum(many) + many
            which = np.arange(len(who)) + start[who]
            beside = found.beside[which]
            states = self.tagged.code(target, beside, inside[who] - beside)
            yield source[who], states, rate[who] * found.chances[which]

    def _chain(self, edges: list[Edges]) -> AbsorbingChain:
        """The chain of the transitions between states that are kept."""
        states = self.tagged.states
        source, target, rate = (np.concatenate(each) for each in zip(*edges, strict=True))
        ends = np.minimum(np.searchsorted(states, target), len(states) - 1)
        inside = states[ends] == target
        starts, ends, rate = np.searchsorted(states, source[inside]), ends[inside], rate[inside]
        exits, start = np.zeros(len(states)), np.zeros(len(states))
        for k, at in self.tagged.at.items():
            last = self._positions(self.tagged.code(k, at.beside, at.others))
            exits[last] = self._own_rate(k) * self.tagged.passage.leaving[k]
            first = self._positions(self.tagged.code(k, at.beside + at.phases - 1, at.others))
            start[first] = float(self.tagged.passage.entries[k]) / at.chances.sum() * at.chances
        chain = AbsorbingChain(starts, ends, rate, exits, np.asarray(start / start.sum()))
        return chain.without_dead_ends()

    def _positions(self, codes: Codes) -> Positions:
        return np.searchsorted(self.tagged.states, codes)


def _at(source: Codes, more: int, rate: FloatArray) -> Edges:
    """Transitions that add ``more`` to a code, if their rate is above 0."""
    keep = rate > 0
    return source[keep], source[keep] + more, rate[keep]


def _likeliest(weights: FloatArray, left_out: float) -> Codes:
    """The largest weights, which make up all but a share of the total."""
    order = np.argsort(weights)
    below = np.cumsum(weights[order])
    return np.sort(order[below > left_out * below[-1]]).astype(np.int64)
