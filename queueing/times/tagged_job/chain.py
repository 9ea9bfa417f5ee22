"""The chain of a tagged job that goes round a loop of stations in an open network.

A state has the tagged job at station k, in a *place* (what it knows of its queue: how many are
ahead or beside it, and phases of services; `headway.queueing.times.tagged_job.station`), and n
others in the loop. Of these, b are in the place; where the other e = n - b are is not kept: they
are taken to be as in equilibrium, given their number. With G(e) the probability of e others at the
queues where they may be, the flows between those are multiplied by u(e) = G(e - 1) / G(e). The
transitions, with lambda_i the visits to station i, P the routes and out_i the chance of leaving:

    n + 1               sum over i of lambda_i out_i (as many come as leave)
    n - 1               u(e) sum of lambda_i out_i over the queues where the e are
    n + 1, place + 1    what comes from outside to the tagged job's queue, where it counts them
    place + 1           u(e) sum of lambda_i P_ik over the queues where the e are
    place - 1           an end of a service before or beside the tagged job; n - 1 with chance out_k
    to station j        an end of its own service times P_kj; it finds m there with the probability
                        f_j(m) G_j(n - m) / G(n)

The conditional equilibrium is headway's own approximation: docs/explanation/tagged-job.md derives
it, and docs/accuracy/percentiles.md has what it costs.

Source: Jackson, Management Science 10(1), 1963, and Gordon and Newell, Operations Research 15(2),
1967 (numbers elsewhere, given their sum); Jensen, Skandinavisk Aktuarietidskrift 36, 1953 (steps).
"""

from collections.abc import Iterator
from functools import cached_property, reduce

import numpy as np
from scipy.sparse import coo_array, csr_array

from headway.kinds import FloatArray
from headway.queueing.times.tagged_job.kinds import TaggedDelay
from headway.queueing.times.tagged_job.station import Change, Loop, Numbers, TaggedStation
from headway.queueing.times.uniformisation import LAST, LOOP, ONE_QUEUE, Truncation

# For speed alone: others in the loop at most; transitions from a state, approximately, and those
# whose time a step takes at the least.
_ROOM = 4000
_MOVES, _LEAST_MOVES = 8, 2000
_SPARE = 1.05  # of the fastest rate: no step is certain to move, so that chances fall smoothly

_Edges = tuple[Numbers, Numbers, FloatArray]


def truncation_of(loop: Loop) -> Truncation:
    """How much of the chain is kept: more of it where it is exact."""
    return ONE_QUEUE if loop.is_alone else LOOP


def room_for(loop: Loop) -> int | None:
    """Others in the loop that are not exceeded but with a chance that is let go."""
    most, rest = 32, truncation_of(loop).left_out
    while most <= _ROOM:
        beyond = 1 - np.cumsum(_together(loop.stops, most + 1))
        if beyond[-1] <= rest:
            return int(np.flatnonzero(beyond <= rest)[0])
        most *= 2
    return None


def _together(
    stops: tuple[TaggedStation, ...], size: int, without: tuple[int, ...] = ()
) -> FloatArray:
    """Chances of 0, 1, 2... at all stations, but for one queue of some."""
    queues = [
        stop.numbers(size)
        for k, stop in enumerate(stops)
        for _ in range(stop.lanes - without.count(k))
    ]
    return reduce(_convolved, queues, np.eye(1, size)[0])


def _convolved(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.convolve(one, other)[: len(one)]


def _speeds(weights: FloatArray) -> FloatArray:
    """How fast so many flow, over the flow in equilibrium."""
    return np.append(0.0, weights[:-1] / np.where(weights[1:] > 0, weights[1:], 1.0))


class _Part:
    """States of the chain at a station: its places, with numbers of others in all from there on."""

    def __init__(self, stop: TaggedStation, most: int, start: int) -> None:
        self.stop, self.most = stop, most
        self.beside, self.counted = stop.beside(most), stop.counted(most)
        counts = most + 1 - self.beside
        ends = start + np.cumsum(counts)
        self.end = int(ends[-1])
        self.first = ends - counts - self.beside  # of a place, where 0 others would be
        self.place = np.repeat(np.arange(len(counts)), counts)
        self.here = np.arange(start, self.end)
        self.number = self.here - self.first[self.place]
        self.rest = self.number - self.beside[self.place]
        self.share = 0.0 if isinstance(stop, TaggedDelay) else 1 / stop.lanes

    def moved(self, change: Change) -> tuple[Numbers, Numbers, Numbers, FloatArray]:
        """Each change of place in all numbers: states, places and numbers after, how fast."""
        before, after, speed = change
        counts = self.most + 1 - self.beside[before]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        numbers = np.repeat(self.beside[before], counts) + offsets
        states = np.repeat(self.first[before], counts) + numbers
        return states, np.repeat(after, counts), numbers, np.repeat(speed, counts)


class LoopChain:
    """States (station, place, others in the loop), from entry to exit."""

    def __init__(self, loop: Loop, most: int) -> None:
        self.loop, self.most = loop.eased(), most
        self.whole = _together(loop.stops, most + 1)
        self.parts: list[_Part] = []
        for stop in self.loop.stops:
            self.parts.append(_Part(stop, most, self.parts[-1].end if self.parts else 0))
        self.size = self.parts[-1].end

    @property
    def can_be_followed(self) -> bool:
        """Whether that is a matter of seconds."""
        entries = np.count_nonzero(self.loop.entries)
        moves = max(self.size * _MOVES, _LEAST_MOVES)
        steps_of_mean = self.pace * float(self.loop.means.max())
        return truncation_of(self.loop).allows(float(moves * entries), steps_of_mean)

    @cached_property
    def haste(self) -> FloatArray:
        """How much slower quick services are taken, where that hardly matters: it saves steps."""
        times = np.array([stop.others.mean for stop in self.loop.stops])
        return np.minimum(1.0, times / self.loop.least)

    @cached_property
    def _moves(self) -> _Edges:
        edges = [
            e for k in range(len(self.parts)) for e in (*self._of_rest(k), *self._of_waiting(k))
        ]
        before, after, speed = (np.concatenate(part) for part in zip(*edges, strict=True))
        some = speed > 0
        return before[some], after[some], speed[some]

    @cached_property
    def _finishing(self) -> FloatArray:
        """How fast the job is served, by state [1/s]."""
        by_place = (part.stop.finishing(self.most)[part.place] for part in self.parts)
        return np.concatenate([h * f for h, f in zip(self.haste, by_place, strict=True)])

    @cached_property
    def pace(self) -> float:
        """Of steps [1/s]: no state is left as fast, so that no step is certain to move."""
        before, _, speed = self._moves
        return _SPARE * float((np.bincount(before, speed, self.size) + self._ending).max())

    @cached_property
    def _ending(self) -> FloatArray:
        """How fast visits end, but for those that go straight back to where they are counted."""
        again = np.diag(self.loop.onward)
        stays = (a * p.share * p.counted[p.place] for a, p in zip(again, self.parts, strict=True))
        return np.asarray(self._finishing * (1 - np.concatenate(list(stays))))

    def leaving(self, entry: int) -> FloatArray:
        """Chance of leaving at each step of who enters at a station, shape (steps, exits)."""
        steps, on, arrivals = self._steps
        inside = arrivals @ self._arrival(entry)
        exits = [part.here[self._finishing[part.here] > 0] for part in self.parts]
        shares = self.loop.out / self.pace
        ends = [(here, self._finishing[here] * p) for here, p in zip(exits, shares, strict=True)]
        few = truncation_of(self.loop).inside
        fewest = 2 * LAST + sum(len(stop.own.start) + 1 for stop in self.loop.stops)
        left: list[list[float]] = []
        while len(left) < fewest or inside.sum() > few:
            left.append([float((inside[here] * p).sum()) for here, p in ends])
            inside = steps @ inside + arrivals @ (on @ inside)
        return np.array(left)

    def _arrival(self, entry: int) -> FloatArray:
        arrivals = np.zeros((len(self.parts), self.most + 1))
        arrivals[entry] = self.whole / self.whole.sum()
        return arrivals.ravel()

    @cached_property
    def _steps(self) -> tuple[csr_array, csr_array, csr_array]:
        """Chances of a step, of one that ends a visit before another, and of what is then found."""
        before, after, speed = self._moves
        stay = self.pace - np.bincount(before, speed, self.size) - self._ending
        every = np.arange(self.size)
        places = np.append(after, every), np.append(before, every)
        chances = np.append(speed, stay) / self.pace
        steps = csr_array(coo_array((chances, places), (self.size, self.size)))
        edges = [edge for k in range(len(self.parts)) for edge in self._on(k)]
        source, target, rate = (np.concatenate(part) for part in zip(*edges, strict=True))
        shape = len(self.parts) * (self.most + 1), self.size
        on = csr_array(coo_array((rate / self.pace, (target, source)), shape))
        return steps, on, self._arrivals()

    def _arrivals(self) -> csr_array:
        """Where one is who comes to a station with so many others in the loop."""
        columns, rows, chances = [], [], []
        for k, part in enumerate(self.parts):
            here = part.stop.numbers(self.most + 1)
            rest = _together(self.loop.stops, self.most + 1, (k,))
            for number, place, chance in part.stop.arrivals(self.most):
                n = np.arange(number, self.most + 1)
                columns.append(k * (self.most + 1) + n)
                rows.append(part.first[place] + n)
                chances.append(chance * here[number] * rest[: len(n)] / self.whole[n])
        places = np.concatenate(rows), np.concatenate(columns)
        shape = self.size, len(self.parts) * (self.most + 1)
        return csr_array(coo_array((np.concatenate(chances), places), shape))

    def _on(self, k: int) -> Iterator[_Edges]:
        """The job is served and goes to a station, unless straight back to where it is counted."""
        part, base = self.parts[k], self.most + 1
        here = part.here[self._finishing[part.here] > 0]
        number = part.number[here - part.here[0]]
        straight = part.share * part.counted[part.place[here - part.here[0]]]
        for target, chance in enumerate(self.loop.onward[k].tolist()):
            on = chance * (1 - straight) if target == k else np.full(len(here), chance)
            yield here, target * base + number, np.asarray(self._finishing[here] * on, float)

    def _of_rest(self, k: int) -> Iterator[_Edges]:
        """Others come into the loop, leave it from elsewhere, or come to where they are counted."""
        part, loop = self.parts[k], self.loop
        flow = loop.rates * loop.out
        out, counted = float(flow.sum() - flow[k] * part.share), part.counted[part.place]
        direct = float((loop.rates - loop.rates @ loop.onward)[k]) * part.share
        room, some, speed = part.number < self.most, part.rest > 0, self._speed(k)
        others = np.asarray(loop.through - direct * counted[room], float)
        yield part.here[room], part.here[room] + 1, others
        yield part.here[some], part.here[some] - 1, np.asarray(out * speed[some], float)
        near = np.arange(len(loop.rates)) == k
        flows = loop.rates * np.where(near, 1 - part.share, 1.0)
        beside = counted & room
        more = part.first[np.minimum(part.place + 1, len(part.first) - 1)] + part.number
        yield part.here[beside], more[beside] + 1, np.full(beside.sum(), direct)
        beside, come = counted & some, float(flows @ loop.onward[:, k]) * part.share
        yield part.here[beside], more[beside], come * speed[beside]

    def _speed(self, k: int) -> FloatArray:
        """How fast the rest flows, by state: all that is elsewhere, or also behind the job."""
        part = self.parts[k]
        if part.share == 0:
            return _speeds(self.whole)[part.rest]
        apart, behind = _speeds(self._apart(k)), _speeds(self._with_behind(k))
        return np.where(part.counted[part.place], apart[part.rest], behind[part.rest])

    def _apart(self, k: int) -> FloatArray:
        """Chances of 0, 1, 2... at all queues but one of a station."""
        return _together(self.loop.stops, self.most + 1, (k,))

    def _with_behind(self, k: int) -> FloatArray:
        return _convolved(self._apart(k), self.parts[k].stop.behind(self.most + 1))

    def _of_waiting(self, k: int) -> Iterator[_Edges]:
        """Phases go on; one that is held is served and leaves, or goes to the rest."""
        part, out, pace = self.parts[k], float(self.loop.out[k]), float(self.haste[k])
        states, places, numbers, rate = part.moved(part.stop.changes(self.most))
        yield states, part.first[places] + numbers, pace * rate
        yield from self._straight(k)
        before, after, speed = part.stop.departures(self.most)
        begins = part.counted[after] & ~part.counted[before]
        starts = before[~begins], after[~begins], pace * speed[~begins]
        states, places, numbers, rate = part.moved(starts)
        counted = part.counted[part.place[states - part.here[0]]]
        again = float(self.loop.onward[k, k]) * part.share * counted
        yield states, part.first[places] + numbers - 1, out * rate
        yield states, part.first[places] + numbers, (1 - out - again) * rate
        for gone, chance in ((1, out), (0, 1 - out)):
            begun = before[begins], after[begins], pace * chance * speed[begins]
            yield from self._begun(k, begun, gone)

    def _straight(self, k: int) -> Iterator[_Edges]:
        """The job comes straight back to the queue that it knows."""
        part = self.parts[k]
        chance = float(self.loop.onward[k, k]) * part.share
        back = part.stop.back(self.most)[part.place]
        on = part.counted[part.place] & (self._finishing[part.here] > 0)
        after = part.first[back] + part.number
        speed = self._finishing[part.here][on] * chance
        yield part.here[on], after[on], np.asarray(speed, float)

    def _begun(self, k: int, change: Change, gone: int) -> Iterator[_Edges]:
        """The job begins to be served, so that those behind it are counted: as in equilibrium."""
        part = self.parts[k]
        if not len(change[0]):
            return
        states, places, numbers, speed = part.moved(change)
        numbers = numbers - gone
        apart, behind = self._apart(k), part.stop.behind(self.most + 1)
        rest = numbers - part.beside[places]
        whole = self._with_behind(k)[rest]
        for more in range(int(rest.max()) + 1):
            some = rest >= more
            after = part.first[places[some] + more] + numbers[some]
            chances = behind[more] * apart[rest[some] - more] / whole[some]
            yield states[some], after, speed[some] * chances
