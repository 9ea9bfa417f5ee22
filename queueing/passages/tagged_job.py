"""Passage time of a job that returns to stations in order of arrival, by a tagged job's chain.

A state (k, w, b, n) has the tagged job at station k, waiting for w departures before its service
(0: in service; at a delay, w Erlang phases to come), b of the N - 1 other jobs in its queue, and n
of them at any queue. The chain does not keep at which queues the other e = n - b are: they are
taken to be in equilibrium, given their number. Let G_k(e) be the normalising constant of e jobs at
all queues except the tagged job's own. The e jobs reduce a flow lambda between queues to

    lambda u_k(e),  u_k(e) = G_k(e - 1) / G_k(e).

With lambda_ij the flow of the others from queue i to j, c_i that from i to thinking, d_i that from
thinking to i, h(j) the rate over the flow at which j jobs return (`Passage.return_rates`), m and S
the servers and service time of station k, the transitions out of (k, w, b, n) have these rates:

    b + 1           sum over i != k of lambda_ik u_k(e)      one comes from another queue
    n - 1           sum over i != k of c_i u_k(e)            one goes to think from another queue
    b + 1, n + 1    d_k h(N - 1 - n)                         one comes back to this queue
    n + 1           sum over i != k of d_i h(N - 1 - n)      one comes back to another queue
    w - 1, b - 1    (m / S) sum over j of lambda_kj / L      one ahead is served (w > 0)
    w - 1, b - 1, n - 1  (m / S) c_k / L                     the same, and goes to think
    (the same without w - 1, at min(b, m - 1) / S, if w = 0)
    to (j, w', b', n)  P_kj p(b') / S  if w = 0              the tagged job goes on to station j
    out             q_k / S  if w = 0                        the tagged job leaves

with L = sum over j of lambda_kj + c_k; p(b') = f_j(b') G_kj(e - b') / G_k(e) is the probability
that b' of the e others are in the queue of j, and w' = max(b' - m_j + 1, 0). At a station with
several lanes only one is its queue; the others count as elsewhere. The law is scaled to the mean
passage time, which is known from mean value analysis.

Exact for two queues or fewer, as the e others are then at one. The conditional equilibrium is
headway's own approximation: docs/explanation/tagged-job.md derives it, and
docs/accuracy/percentiles.md has its errors.

Source: Gordon and Newell, Operations Research 15(2), 1967 (the equilibrium); Jensen, Skandinavisk
Aktuarietidskrift 36, 1953 (uniformisation).
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.passages.passage import Passage, PassageStation, QueueWeights
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.uniformisation import (
    AGGREGATED,
    ONE_CLASS,
    AbsorbingChain,
    Truncation,
)
from headway.records import dataclass

PHASES = 10
"""Erlang phases that represent a constant time spent by some jobs only, with a coefficient of
variation of 32%. `SMOOTHED` of `headway.queueing.passages.laws` labels it.
"""

_BUILT = 100.0  # steps that take as long as building the chain: for speed
_QUICK = (
    3.0  # largest rate of return from thinking over the fastest service: for speed, see `_seen`
)
_SHORT = 0.02  # least service time of the tagged job over that of the others: for speed
_NONE = 1e-12  # share of a flow that is rounding only

Numbers: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class TaggedJobStates:
    """States of a tagged job, by column: station k, departures awaited w, others b and n."""

    station: Numbers
    waits: Numbers
    beside: Numbers
    others: Numbers

    def where(self, mask: NDArray[np.bool_]) -> "TaggedJobStates":
        """The states that a mask selects."""
        return TaggedJobStates(*(each[mask] for each in self.columns))

    def moved(self, waits: int = 0, beside: int = 0, others: int = 0) -> "TaggedJobStates":
        """The states with these numbers added to each."""
        return TaggedJobStates(
            self.station, self.waits + waits, self.beside + beside, self.others + others
        )

    @property
    def columns(self) -> tuple[Numbers, ...]:
        """k, w, b and n."""
        return self.station, self.waits, self.beside, self.others

    def codes(self, base: int) -> Numbers:
        """A single number for each state, in lexicographic order."""
        code = self.station
        for each in self.columns[1:]:
            code = code * base + each
        return code


Edges: TypeAlias = tuple[TaggedJobStates, TaggedJobStates, FloatArray]
"""States before and after transitions, and their rates [1/s]."""


@dataclass(frozen=True)
class TaggedJobChain:
    """The chain of a tagged job that passes through a closed network.

    Parameters
    ----------
    passage
        A network in which all stations take time; delays that every job visits are better left out.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("a", 1.0, 1, 1)
    >>> again = Passage((cpu,), one, 0.5 * one[None], 0.5 * one, 2, 0.0, 0.5, 2 * one)
    >>> round(TaggedJobChain(again).law().mean, 6)  # two services, of two jobs each
    4.0
    """

    passage: Passage

    @property
    def truncation(self) -> Truncation:
        """The part of the chain that is kept."""
        return ONE_CLASS if self.passage.outside is None else AGGREGATED

    @property
    def is_small_enough(self) -> bool:
        """Whether the truncation allows so many transitions and steps; for speed alone."""
        mean = self.passage.mean
        return self.truncation.allows(
            self.moves, self._own_pace * mean, _BUILT
        ) and self.truncation.allows(self.moves, self.pace * mean, _BUILT)  # which takes longer

    def law(self) -> TimeLaw:
        """Law of the passage time, scaled to its mean."""
        edges = [edge for k in range(len(self.passage.stations)) for edge in self._edges(k)]
        edges = [self._kept(edge) for edge in edges]
        states = self.states
        exits = np.zeros(len(states.waits))
        ends = np.flatnonzero(states.waits == 0)
        served = states.station[ends]
        exits[ends] = self._own_rates[served] * self.passage.leaving[served]
        chain = AbsorbingChain(
            np.concatenate([self._positions(edge[0]) for edge in edges]),
            np.concatenate([self._positions(edge[1]) for edge in edges]),
            np.concatenate([edge[2] for edge in edges]),
            exits,
            self._start(),
        )
        return chain.law(self.passage.mean, self.truncation.inside)

    @cached_property
    def numbers(self) -> FloatArray:
        """Probabilities of n = 0, 1, 2... other jobs at queues."""
        if not self.passage.has_jobs_away:
            return np.append(np.zeros(self.passage.others), 1.0)
        inside = self._constants({})
        chances = inside * self.passage.at_delays(len(inside))[::-1, 0]
        return np.asarray(chances / chances.sum())

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Least and largest n that are kept."""
        below, rest = np.cumsum(self.numbers), self.truncation.left_out
        kept = np.flatnonzero((below > rest) & (below - self.numbers < 1 - rest))
        return int(kept[0]), int(kept[-1])

    @property
    def moves(self) -> float:
        """Approximate number of transitions: (n + 1)**2 / 2 pairs (w, b) for each station and n."""
        low, high = self.bounds
        count = len(self.passage.stations)
        states = (high + 1) ** 2 * (high - low + 1) / 2 * count
        return states * (3 + count / 3)

    def _constants(self, without: dict[int, int]) -> FloatArray:
        """G(0), G(1)... of all queues, without a number of lanes of some stations."""
        series = np.zeros((self.passage.others + 1, 1))
        series[0] = 1.0
        for k, queue in enumerate(self.passage.queues):
            if queue is not None:
                series = queue.times(series, queue.station.lanes - without.get(k, 0))
        return np.asarray(series[:, 0])

    def _shares(self, without: dict[int, int]) -> FloatArray:
        """u(e) = G(e - 1) / G(e) of e = 0, 1... jobs at those queues."""
        return _ratios(self._constants(without))

    @cached_property
    def _visits(self) -> FloatArray:
        """Flow of the others through each queue [1/s]."""
        queues = np.array([not station.is_delay for station in self.passage.stations])
        return np.asarray(self.passage.throughput * self.passage.others_visits * queues)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Flows from each queue to thinking and delays, and from these to each queue [1/s]."""
        direct = self._visits[:, None] * self.passage.onward * (self._visits > 0)
        gone, come = (self._visits - direct.sum(axis=axis) for axis in (1, 0))
        floor = _NONE * self._visits
        return np.where(gone > floor, gone, 0.0), np.where(come > floor, come, 0.0)

    @property
    def sees_all_thinking(self) -> bool:
        """Whether nothing is approximate about thinking jobs."""
        return not self.passage.has_jobs_away or self._seen == 1

    @cached_property
    def _seen(self) -> float:
        """Share of the flows to and from thinking that is kept; the rest returns at once.

        With think times far shorter than any service, nu and the number of steps would be large,
        for little change of the law: jobs return at most three times as fast as the fastest
        service.
        """
        if not self.passage.has_jobs_away:
            return 0.0
        fast = float(self._ends[1].sum()) * self._fastest_return
        return min(1.0, _QUICK * self._own_pace / fast) if fast else 1.0

    @cached_property
    def flows(self) -> FloatArray:
        """lambda_ij [1/s]: direct, or by thinking for no time."""
        gone, come = self._ends
        direct = self._visits[:, None] * self.passage.onward * (self._visits > 0)
        at_once = np.outer(gone, come) / (come.sum() or 1.0)
        return np.asarray(direct + (1 - self._seen) * at_once)

    @property
    def out(self) -> FloatArray:
        """c_i, flow from each queue to thinking and delays [1/s]."""
        return self._seen * self._ends[0]

    @property
    def back(self) -> FloatArray:
        """d_i, flow to each queue from thinking and delays [1/s]."""
        return np.asarray(self._seen * self._ends[1])

    @property
    def _fastest_return(self) -> float:
        """Largest h(N - 1 - n) among the numbers that are kept."""
        low, high = (self.passage.others - bound for bound in self.bounds)
        return float(self.passage.return_rates[high : low + 1].max())

    @cached_property
    def _own_rates(self) -> FloatArray:
        """Rate 1 / S of the tagged job's service, or of a phase of a delay, by station [1/s]."""
        stations = self.passage.stations
        return np.array([(PHASES if s.is_delay else 1) / _lengthened(s) for s in stations])

    @cached_property
    def _own_pace(self) -> float:
        """Rate of the tagged job's fastest service [1/s]."""
        others = [station.servers / station.time for station in self.passage.stations]
        return float(max(*others, *self._own_rates.tolist()))

    @property
    def pace(self) -> float:
        """Approximate bound on the rates of states [1/s]: own services, returns, other flows."""
        come = float(self.back.sum()) * self._fastest_return
        flows = self.flows.sum(axis=1) + self.out
        rates = [
            self._served_rate(k) + float(self._shares({k: 1}).max()) * float(flows.sum() - flow)
            for k, flow in enumerate(flows.tolist())
        ]
        return max(rates) + come

    def _served_rate(self, k: int) -> float:
        """Rate of the fastest service at station k while the tagged job is there [1/s]."""
        station = self.passage.stations[k]
        behind = max(station.servers - 1, 0) / station.time
        return max(station.servers / station.time, behind + float(self._own_rates[k]))

    @cached_property
    def states(self) -> TaggedJobStates:
        """All states, in the order of their codes."""
        parts = []
        for k, station in enumerate(self.passage.stations):
            beside, others, most = self._pairs(k)
            if station.is_delay:
                others = np.arange(self.bounds[0], self.bounds[1] + 1)
                beside, most = 0 * others, 0 * others + PHASES - 1
            waits = np.concatenate([np.arange(m + 1) for m in most])
            every = np.repeat(beside, most + 1), np.repeat(others, most + 1)
            parts.append((np.full(len(waits), k), waits, *every))
        joined = TaggedJobStates(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        order = np.argsort(joined.codes(self._base))
        return TaggedJobStates(*(each[order] for each in joined.columns))

    @property
    def _base(self) -> int:
        return self.passage.others + PHASES + 1

    def _positions(self, states: TaggedJobStates) -> Numbers:
        codes = self.states.codes(self._base)
        return np.asarray(np.searchsorted(codes, states.codes(self._base)))

    def _kept(self, edges: Edges) -> Edges:
        """Transitions with a rate above 0 between states that are kept."""
        source, target, rate = edges
        low, high = self.bounds
        room = (target.others >= low) & (target.others <= high) & (target.beside <= target.others)
        keep = room & (target.beside >= 0) & (rate > 0)
        return source.where(keep), target.where(keep), rate[keep]

    def _start(self) -> FloatArray:
        """Probability of each state when the job enters: it sees N - 1 jobs in equilibrium."""
        entries, start = self.passage.entries, np.zeros(len(self.states.waits))
        others = np.arange(self.bounds[0], self.bounds[1] + 1)
        for k in range(len(self.passage.stations)):
            rows, states, chances = self._on_arrival(k, others, others, {})
            each = entries[k] * self.numbers[others][rows] * chances
            np.add.at(start, self._positions(states), each)
        return np.asarray(start / start.sum())

    def _edges(self, k: int) -> Iterator[Edges]:
        """Transitions while the tagged job is at station k."""
        states = self.states.where(self.states.station == k)
        queue = self.passage.queues[k]
        yield from self._of_the_rest(k, states)
        if queue is None:
            phases = states.where(states.waits > 0)
            yield phases, phases.moved(waits=-1), np.full(len(phases.waits), self._own_rates[k])
        else:
            yield from self._of_those_in_queue(k, queue, states)
        yield from self._of_the_tagged_job(k, states.where(states.waits == 0))

    def _pairs(self, k: int) -> tuple[Numbers, Numbers, Numbers]:
        """Pairs b and n at station k, and the largest w of each."""
        low, high = self.bounds
        each = np.arange(low, high + 1)
        others = np.repeat(each, each + 1)
        beside = np.concatenate([np.arange(n + 1) for n in each])
        return beside, others, np.maximum(beside - self.passage.stations[k].servers + 1, 0)

    def _of_the_rest(self, k: int, states: TaggedJobStates) -> Iterator[Edges]:
        """The first four rows of transitions: b + 1; n - 1; b + 1, n + 1; n + 1."""
        lanes = self.passage.stations[k].lanes
        share = 1 / lanes if lanes else 0.0
        elsewhere = np.ones(len(self.passage.stations))
        elsewhere[k] = 1 - share
        away = self.passage.return_rates[self.passage.others - states.others]
        free = self._shares({k: 1} if lanes else {})[states.others - states.beside]
        here = float(elsewhere @ self.flows[:, k]) * share
        yield states, states.moved(beside=1), here * free
        yield states, states.moved(others=-1), float(elsewhere @ self.out) * free
        yield states, states.moved(beside=1, others=1), share * self.back[k] * away
        yield states, states.moved(others=1), float(elsewhere @ self.back) * away

    def _of_those_in_queue(
        self, k: int, queue: QueueWeights, states: TaggedJobStates
    ) -> Iterator[Edges]:
        """A job in the queue is served; it goes to the end of the queue, elsewhere, or to think."""
        servers, time = queue.station.servers, queue.station.time
        waiting = states.waits > 0
        busy = np.where(waiting, servers, np.minimum(states.beside, servers - 1)) / time
        whole = float(self.flows[k].sum() + self.out[k])
        again = float(self.flows[k, k]) / queue.station.lanes / whole
        out = float(self.out[k]) / whole
        for on, passed in ((waiting, -1), (~waiting, 0)):
            some, rate = states.where(on), busy[on]
            if passed:
                yield some, some.moved(waits=passed), rate * again
            yield some, some.moved(passed, -1), rate * (1 - again - out)
            yield some, some.moved(passed, -1, -1), rate * out

    def _of_the_tagged_job(self, k: int, states: TaggedJobStates) -> Iterator[Edges]:
        """The tagged job is served and goes to a station, possibly to the end of its own queue."""
        rates, station = self._own_rates[states.station], self.passage.stations[k]
        for target in range(len(self.passage.stations)):
            rate = rates * float(self.passage.onward[k, target])
            if target == k and station.lanes:
                waits = np.maximum(states.beside - station.servers + 1, 0)
                same = TaggedJobStates(states.station, waits, states.beside, states.others)
                yield states, same, rate / station.lanes
                rate = rate * (1 - 1 / station.lanes)
            if rate.any():
                elsewhere = states.others - states.beside
                without = {k: 1} if station.lanes else {}
                rows, arrived, chances = self._on_arrival(target, states.others, elsewhere, without)
                keep = chances > 0
                rows = rows[keep]
                columns = TaggedJobStates(*(each[rows] for each in states.columns))
                yield columns, arrived.where(keep), rate[rows] * chances[keep]

    def _on_arrival(
        self, k: int, others: Numbers, elsewhere: Numbers, without: dict[int, int]
    ) -> tuple[Numbers, TaggedJobStates, FloatArray]:
        """Probabilities p(b') of the number found on arrival at station k: rows, states, p(b')."""
        queue = self.passage.queues[k]
        if queue is None:
            rows = np.arange(len(others))
            phases = TaggedJobStates(np.full(len(rows), k), 0 * rows + PHASES - 1, 0 * rows, others)
            return rows, phases, np.ones(len(rows))
        rows = np.repeat(np.arange(len(others)), elsewhere + 1)
        beside = np.concatenate([np.arange(e + 1) for e in elsewhere])
        own, whole = queue.weights(self.passage.others + 1), self._constants(without)
        rest = self._constants({**without, k: without.get(k, 0) + 1})
        total = elsewhere[rows]
        chances = own[beside] * rest[total - beside] / whole[total]
        waits = np.maximum(beside - queue.station.servers + 1, 0)
        return rows, TaggedJobStates(np.full(len(rows), k), waits, beside, others[rows]), chances


class AggregatedTaggedJobChain(TaggedJobChain):
    """The same chain with states (k, w, 0, n), for networks too large to keep b.

    Only the w + m - 1 jobs ahead of the tagged job are kept while it waits, and none while it is
    served: the others in its queue count among the rest, which is taken to be in equilibrium given
    its number e. So e = n - (w + m - 1) or n, with u(e) = G(e - 1) / G(e) of the queues elsewhere
    and of the jobs behind the tagged job. The weights of these have the ratios a / m while it
    waits, as all m servers are busy, and a / min(i, m - 1) while it is served.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("a", 1.0, 1, 1)
    >>> again = Passage((cpu,), one, 0.5 * one[None], 0.5 * one, 2, 0.0, 0.5, 2 * one)
    >>> round(AggregatedTaggedJobChain(again).law().mean, 6)
    4.0
    """

    @property
    def moves(self) -> float:
        """Approximate number of transitions: n + 1 numbers w for each station and n."""
        low, high = self.bounds
        count = len(self.passage.stations)
        return (high + 1) * (high - low + 1) * count * (3.0 + count)

    def _pairs(self, k: int) -> tuple[Numbers, Numbers, Numbers]:
        low, high = self.bounds
        others = np.arange(low, high + 1)
        return 0 * others, others, np.maximum(others - self.passage.stations[k].servers + 1, 0)

    def _of_the_rest(self, k: int, states: TaggedJobStates) -> Iterator[Edges]:
        """Others return to any queue: n + 1; or go to think from where they may be: n - 1."""
        station, queue = self.passage.stations[k], self.passage.queues[k]
        away = self.passage.return_rates[self.passage.others - states.others]
        yield states, states.moved(others=1), float(self.back.sum()) * away
        waiting = (states.waits > 0) & (not station.is_delay)
        for on, before in (
            (waiting, states.waits + station.servers - 1),
            (~waiting, 0 * states.waits),
        ):
            free, out = self._free(k, queue, waits=bool(on is waiting))
            rest = (states.others - before)[on]
            yield states.where(on), states.where(on).moved(others=-1), out * free[rest]

    def _free(self, k: int, queue: QueueWeights | None, *, waits: bool) -> tuple[FloatArray, float]:
        """u(e) of the rest, and their flow to thinking."""
        whole = float(self.out.sum())
        if queue is None:
            return self._shares({}), whole
        servers, rest = queue.station.servers, self._constants({k: 1})
        here = float(self.out[k]) / queue.station.lanes
        if waits or servers == 1:
            ratios, whole = np.full(len(rest), queue.busy), whole - here
        else:
            ratios = queue.load / np.minimum(np.arange(1, len(rest) + 1), servers - 1)
        with np.errstate(divide="ignore"):
            logs = np.append(0.0, np.cumsum(np.log(ratios[: len(rest) - 1])))
        return _ratios(np.convolve(rest, np.exp(logs - logs.max()))[: len(rest)]), whole

    def _of_those_in_queue(
        self, k: int, queue: QueueWeights, states: TaggedJobStates
    ) -> Iterator[Edges]:
        """A job ahead of the tagged job is served: w - 1; or, if it goes to think, also n - 1."""
        some = states.where(states.waits > 0)
        rate: FloatArray = np.full(len(some.waits), queue.station.servers / queue.station.time)
        out = float(self.out[k]) / float(self.flows[k].sum() + self.out[k])
        yield some, some.moved(waits=-1), rate * (1 - out)
        yield some, some.moved(waits=-1, others=-1), rate * out

    def _of_the_tagged_job(self, k: int, states: TaggedJobStates) -> Iterator[Edges]:
        """The tagged job goes to a station, where it may find any of the n others."""
        rates = self._own_rates[states.station]
        for target in range(len(self.passage.stations)):
            rate = rates * float(self.passage.onward[k, target])
            if rate.any():
                rows, arrived, chances = self._on_arrival(target, states.others, states.others, {})
                columns = TaggedJobStates(*(each[rows] for each in states.columns))
                yield columns, arrived, rate[rows] * chances

    def _on_arrival(
        self, k: int, others: Numbers, elsewhere: Numbers, without: dict[int, int]
    ) -> tuple[Numbers, TaggedJobStates, FloatArray]:
        """The same without b': states that differ in b' only are merged."""
        rows, arrived, chances = super()._on_arrival(k, others, elsewhere, without)
        if self.passage.queues[k] is None:
            return rows, arrived, chances
        base = int(arrived.waits.max(initial=0)) + 1
        keys, place = np.unique(rows * base + arrived.waits, return_inverse=True)
        rows, waits = np.divmod(keys, base)
        states = TaggedJobStates(np.full(len(rows), k), waits, 0 * rows, others[rows])
        return rows, states, np.asarray(np.bincount(place, chances, len(keys)), float)


def _ratios(constants: FloatArray) -> FloatArray:
    """u(e) = G(e - 1) / G(e), 0 for e = 0 or G(e) = 0."""
    return np.append(0.0, constants[:-1]) / np.where(constants > 0, constants, 1.0)


def _lengthened(station: PassageStation) -> float:
    """Service time of the tagged job [s], lengthened if it is so short that it hardly counts."""
    return max(station.own_time, _SHORT * station.time)
