"""Markov chain of a tagged job in a loop of stations of an open network.

A state is (k, place, n): the station k of the tagged job, its *place* there (the number b of other
jobs in its queue that the chain counts, and phases of services;
`headway.queueing.times.tagged_job.station`), and the number n of other jobs in the loop. The chain
does not keep where the e = n - b uncounted jobs are: given e, they have the conditional
equilibrium. With G(e) the probability of e jobs at the queues where these may be, flows between
those queues are multiplied by u(e) = G(e - 1) / G(e). The transitions from n, with lambda_i the
arrival rate of station i, P the routing matrix and out_i = 1 - sum over j of P_ij, are:

    n + 1               sum over i of lambda_i out_i (arrivals at the loop: as many as departures)
    n - 1               u(e) sum of lambda_i out_i over the queues of the e jobs
    n + 1, place + 1    arrivals from outside at the tagged job's queue, if its place counts all
    place + 1           u(e) sum of lambda_i P_ik over the queues of the e jobs
    place - 1           a service of another counted job ends; n - 1 with the probability out_k
    to station j        rate of its own service times P_kj; it finds m there with the probability
                        f_j(m) G_j(n - m) / G(n)

The conditional equilibrium is headway's own approximation: docs/explanation/tagged-job.md derives
it, and docs/accuracy/percentiles.md has what it costs.

Source: Jackson, Management Science 10(1), 1963, and Gordon and Newell, Operations Research 15(2),
1967 (numbers elsewhere, given their sum); Jensen, Skandinavisk Aktuarietidskrift 36, 1953
(uniformisation).
"""

from collections.abc import Iterator
from functools import cached_property, reduce

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from headway.kinds import FloatArray
from headway.queueing.times.tagged_job.kinds import TaggedDelay
from headway.queueing.times.tagged_job.station import Change, Numbers, StationLoop, TaggedStation
from headway.queueing.times.uniformisation import LAST, LOOP, ONE_QUEUE, Truncation, steps_out

# For speed only: largest number of other jobs in the loop; mean transitions per state; and the
# number of transitions below which a step takes no less time.
_ROOM = 4000
_MOVES, _LEAST_MOVES = 8, 2000
_SPARE = 1.05  # nu over the largest rate of a state: above 1, so that a_n falls smoothly

_Edges = tuple[Numbers, Numbers, FloatArray]


def truncation_of(loop: StationLoop) -> Truncation:
    """Return the truncation: the finer `ONE_QUEUE` where the chain is exact, else `LOOP`."""
    return ONE_QUEUE if loop.is_one_queue else LOOP


def room_for(loop: StationLoop) -> int | None:
    """Return the least n that the other jobs exceed with at most the probability `left_out`."""
    most, rest = 32, truncation_of(loop).left_out
    while most <= _ROOM:
        beyond = 1 - np.cumsum(_numbers_at_queues(loop.stops, most + 1))
        if beyond[-1] <= rest:
            return int(np.flatnonzero(beyond <= rest)[0])
        most *= 2
    return None


def _numbers_at_queues(
    stops: tuple[TaggedStation, ...], size: int, without: tuple[int, ...] = ()
) -> FloatArray:
    """G(n): probabilities of n = 0, 1, 2... jobs at all queues but one of each in `without`."""
    queues = [
        stop.numbers(size)
        for k, stop in enumerate(stops)
        for _ in range(stop.lanes - without.count(k))
    ]
    return reduce(_convolved, queues, np.eye(1, size)[0])


def _convolved(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.convolve(one, other)[: len(one)]


def _flow_factors(weights: FloatArray) -> FloatArray:
    """u(e) = G(e - 1) / G(e) of e = 0, 1, 2... jobs, from G; u(0) = 0."""
    return np.append(0.0, weights[:-1] / np.where(weights[1:] > 0, weights[1:], 1.0))


def _counted_up(least: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """All numbers from each of `least` up to `most`, in a row, with the index of each."""
    counts = most + 1 - least
    each = np.repeat(np.arange(len(least)), counts)
    return each, np.arange(len(each)) + (least + counts - np.cumsum(counts))[each]


class _StationStates:
    """States with the tagged job at one station: for each place, n = b, b + 1, ... `most`.

    `elsewhere` is G_k: probabilities of 0, 1, 2... jobs at all queues but one of this station.
    """

    def __init__(self, stop: TaggedStation, most: int, start: int, elsewhere: FloatArray) -> None:
        self.stop, self.most, self.elsewhere = stop, most, elsewhere
        self.jobs_counted, self.counts_all = stop.jobs_counted(most), stop.counts_all(most)
        counts = most + 1 - self.jobs_counted
        ends = start + np.cumsum(counts)
        self.end = int(ends[-1])
        self.first = (
            ends - counts - self.jobs_counted
        )  # index of state (place, n = 0), which need not exist
        self.place = np.repeat(np.arange(len(counts)), counts)
        self.here = np.arange(start, self.end)
        self.number = self.here - self.first[self.place]
        self.rest = self.number - self.jobs_counted[self.place]
        self.share = 0.0 if isinstance(stop, TaggedDelay) else 1 / stop.lanes

    @cached_property
    def weights_behind(self) -> FloatArray:
        """b_i: weights of i = 0, 1, 2... jobs behind a tagged job that waits."""
        return self.stop.weights_behind(self.most + 1)

    @cached_property
    def elsewhere_or_behind(self) -> FloatArray:
        """Weights b * G_k of both together."""
        return _convolved(self.elsewhere, self.weights_behind)

    def in_all_numbers(self, change: Change) -> tuple[Numbers, Numbers, Numbers, FloatArray]:
        """Repeat each change of place for all n: states before, places after, n, rates [1/s]."""
        before, after, speed = change
        each, numbers = _counted_up(self.jobs_counted[before], self.most)
        return self.first[before][each] + numbers, after[each], numbers, speed[each]


class LoopChain:
    """The absorbing chain of states (k, place, n), from entry to exit of the tagged job."""

    def __init__(self, loop: StationLoop, most: int) -> None:
        self.loop, self.most = loop.with_coarse_phases(), most
        self.whole = _numbers_at_queues(loop.stops, most + 1)
        self.parts: list[_StationStates] = []
        for k, stop in enumerate(self.loop.stops):
            start = self.parts[-1].end if self.parts else 0
            elsewhere = _numbers_at_queues(self.loop.stops, most + 1, (k,))
            self.parts.append(_StationStates(stop, most, start, elsewhere))
        self.size = self.parts[-1].end

    @property
    def is_small_enough(self) -> bool:
        """Whether the truncation allows so many transitions and steps; for speed alone."""
        entries = np.count_nonzero(self.loop.entries)
        moves = max(self.size * _MOVES, _LEAST_MOVES)
        steps_of_mean = self.step_rate * float(self.loop.means.max())
        return truncation_of(self.loop).allows(float(moves * entries), steps_of_mean)

    @cached_property
    def rate_factors(self) -> FloatArray:
        """Factors below 1 of the rates of services quicker than `loop.least`: fewer steps."""
        times = np.array([stop.others.mean for stop in self.loop.stops])
        return np.minimum(1.0, times / self.loop.least)

    @cached_property
    def _moves(self) -> _Edges:
        edges = [
            e
            for k in range(len(self.parts))
            for e in (*self._of_others_elsewhere(k), *self._at_the_queue(k))
        ]
        before, after, speed = (np.concatenate(part) for part in zip(*edges, strict=True))
        some = speed > 0
        return before[some], after[some], speed[some]

    @cached_property
    def _service_rates(self) -> FloatArray:
        """Rates at which the tagged job's service ends, by state [1/s]."""
        by_place = (part.stop.service_rates(self.most)[part.place] for part in self.parts)
        return np.concatenate([h * f for h, f in zip(self.rate_factors, by_place, strict=True)])

    @cached_property
    def step_rate(self) -> float:
        """nu, rate of uniformised steps [1/s], above the total rate of every state."""
        before, _, speed = self._moves
        return _SPARE * float((np.bincount(before, speed, self.size) + self._visit_end_rates).max())

    @cached_property
    def _visit_end_rates(self) -> FloatArray:
        """Rates at which visits end [1/s], without direct feedback if the place counts all."""
        again = np.diag(self.loop.onward)
        stays = (
            a * p.share * p.counts_all[p.place] for a, p in zip(again, self.parts, strict=True)
        )
        return np.asarray(self._service_rates * (1 - np.concatenate(list(stays))))

    def exits_by_step(self, entry: int, ends: FloatArray) -> FloatArray:
        """a_n of a tagged job that enters at a station, shape (steps, kinds of exit).

        For an exit from a station, `ends` has the share of each kind, (stations, kinds).
        """
        steps, on, arrivals = self._steps
        inside = arrivals @ self._arrival(entry)
        rates = self._service_rates
        exits = np.zeros((len(self.parts), self.size))
        for k, part in enumerate(self.parts):
            exits[k, part.here] = rates[part.here] * self.loop.exit_probabilities[k]
        few = truncation_of(self.loop).inside
        fewest = 2 * LAST + sum(len(stop.own.start) + 1 for stop in self.loop.stops)
        exits = ends.T @ exits / self.step_rate
        if len(exits) == 1:
            return steps_out(steps + arrivals @ on, inside, exits[0], few, fewest)[:, None]
        # One matrix, as each product costs more than its sums: exits, and the state after a step.
        every = vstack([steps + arrivals @ on, csr_array(exits)], format="csr")
        left: list[FloatArray] = []
        while len(left) < fewest or inside.sum() > few:
            after = every @ inside
            left.append(after[self.size :])
            inside = after[: self.size]
        return np.array(left)

    def _arrival(self, entry: int) -> FloatArray:
        arrivals = np.zeros((len(self.parts), self.most + 1))
        arrivals[entry] = self.whole / self.whole.sum()
        return arrivals.ravel()

    @cached_property
    def _steps(self) -> tuple[csr_array, csr_array, csr_array]:
        """Transposed matrices: steps within a visit, to a (station, n), and its states there."""
        before, after, speed = self._moves
        stay = self.step_rate - np.bincount(before, speed, self.size) - self._visit_end_rates
        every = np.arange(self.size)
        places = np.append(after, every), np.append(before, every)
        chances = np.append(speed, stay) / self.step_rate
        steps = csr_array(coo_array((chances, places), (self.size, self.size)))
        edges = [edge for k in range(len(self.parts)) for edge in self._ends_of_visits(k)]
        source, target, rate = (np.concatenate(part) for part in zip(*edges, strict=True))
        shape = len(self.parts) * (self.most + 1), self.size
        on = csr_array(coo_array((rate / self.step_rate, (target, source)), shape))
        return steps, on, self._arrivals()

    def _arrivals(self) -> csr_array:
        """Probabilities f_j(m) G_j(n - m) / G(n) of the states entered at station j, given n."""
        columns, rows, chances = [], [], []
        for k, part in enumerate(self.parts):
            found, place, chance = part.stop.arrivals(self.most)
            each, n = _counted_up(found, self.most)
            columns.append(k * (self.most + 1) + n)
            rows.append(part.first[place][each] + n)
            here = chance * part.stop.numbers(self.most + 1)[found]
            chances.append(here[each] * part.elsewhere[n - found[each]] / self.whole[n])
        places = np.concatenate(rows), np.concatenate(columns)
        shape = self.size, len(self.parts) * (self.most + 1)
        return csr_array(coo_array((np.concatenate(chances), places), shape))

    def _ends_of_visits(self, k: int) -> Iterator[_Edges]:
        """Yield the ends of the tagged job's visits to station k, by the next station."""
        part, base = self.parts[k], self.most + 1
        here = part.here[self._service_rates[part.here] > 0]
        number = part.number[here - part.here[0]]
        straight = part.share * part.counts_all[part.place[here - part.here[0]]]
        for target, chance in enumerate(self.loop.onward[k].tolist()):
            on = chance * (1 - straight) if target == k else np.full(len(here), chance)
            yield here, target * base + number, np.asarray(self._service_rates[here] * on, float)

    def _of_others_elsewhere(self, k: int) -> Iterator[_Edges]:
        """Yield arrivals at the loop, departures of the e jobs, arrivals that are counted."""
        part, loop = self.parts[k], self.loop
        flow = loop.rates * loop.exit_probabilities
        out, counts_all = float(flow.sum() - flow[k] * part.share), part.counts_all[part.place]
        direct = float((loop.rates - loop.rates @ loop.onward)[k]) * part.share
        room, some, speed = part.number < self.most, part.rest > 0, self._flow_factors_by_state(k)
        others = np.asarray(loop.throughput - direct * counts_all[room], float)
        yield part.here[room], part.here[room] + 1, others
        yield part.here[some], part.here[some] - 1, np.asarray(out * speed[some], float)
        near = np.arange(len(loop.rates)) == k
        flows = loop.rates * np.where(near, 1 - part.share, 1.0)
        entered = counts_all & room
        more = part.first[np.minimum(part.place + 1, len(part.first) - 1)] + part.number
        yield part.here[entered], more[entered] + 1, np.full(entered.sum(), direct)
        moved, come = counts_all & some, float(flows @ loop.onward[:, k]) * part.share
        yield part.here[moved], more[moved], come * speed[moved]

    def _flow_factors_by_state(self, k: int) -> FloatArray:
        """u(e) by state; if a place does not count all, e includes jobs behind the tagged job."""
        part = self.parts[k]
        if part.share == 0:
            return _flow_factors(self.whole)[part.rest]
        apart, behind = map(_flow_factors, (part.elsewhere, part.elsewhere_or_behind))
        return np.where(part.counts_all[part.place], apart[part.rest], behind[part.rest])

    def _at_the_queue(self, k: int) -> Iterator[_Edges]:
        """Yield changes of phase at station k, and ends of services of counted jobs."""
        part, out = self.parts[k], float(self.loop.exit_probabilities[k])
        factor = float(self.rate_factors[k])
        states, places, numbers, rate = part.in_all_numbers(part.stop.phase_changes(self.most))
        yield states, part.first[places] + numbers, factor * rate
        yield from self._direct_feedback(k)
        before, after, speed = part.stop.departures(self.most)
        begins = part.counts_all[after] & ~part.counts_all[before]
        starts = before[~begins], after[~begins], factor * speed[~begins]
        states, places, numbers, rate = part.in_all_numbers(starts)
        counts_all = part.counts_all[part.place[states - part.here[0]]]
        again = float(self.loop.onward[k, k]) * part.share * counts_all
        yield states, part.first[places] + numbers - 1, out * rate
        yield states, part.first[places] + numbers, (1 - out - again) * rate
        for gone, chance in ((1, out), (0, 1 - out)):
            begun = before[begins], after[begins], factor * chance * speed[begins]
            yield from self._starts_of_service(k, begun, gone)

    def _direct_feedback(self, k: int) -> Iterator[_Edges]:
        """Yield direct feedback of the tagged job to the queue that it has left."""
        part = self.parts[k]
        chance = float(self.loop.onward[k, k]) * part.share
        back = part.stop.place_on_return(self.most)[part.place]
        on = part.counts_all[part.place] & (self._service_rates[part.here] > 0)
        after = part.first[back] + part.number
        speed = self._service_rates[part.here][on] * chance
        yield part.here[on], after[on], np.asarray(speed, float)

    def _starts_of_service(self, k: int, change: Change, gone: int) -> Iterator[_Edges]:
        """Yield starts of the tagged job's service: from then on its place counts those behind it.

        Of e uncounted jobs, i are behind it with the probability b_i G_k(e - i) / (b * G_k)(e).
        """
        part = self.parts[k]
        if not len(change[0]):
            return
        states, places, numbers, speed = part.in_all_numbers(change)
        numbers = numbers - gone
        apart, behind = part.elsewhere, part.weights_behind
        rest = numbers - part.jobs_counted[places]
        each, more = _counted_up(-rest, 0)
        before = apart[-more] / part.elsewhere_or_behind[rest][each]
        more += rest[each]
        after = part.first[places[each] + more] + numbers[each]
        yield states[each], after, speed[each] * behind[more] * before
