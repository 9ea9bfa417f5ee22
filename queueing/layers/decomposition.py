"""Layered systems by decomposition: every server with those who can come to it, in turn.

Each processor and each pool of threads is a station of its own, to which a few classes come
(`headway.queueing.layers.others`), away for as long as the rest of their cycle takes. It is solved
exactly as a product form (`headway.queueing.layers.numerics.finite`), with corrections for service
in order of arrival; its waiting times make the cycles longer, and so on until nothing changes (the
method of layers: Rolia and Sevcik, IEEE TSE 21(8), 1995; with interlock as Franks and others, IEEE
TSE 35(2), 2009, found here by cuts). docs/explanation/layers.md derives it.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.layers.flow import Choice, Flow, Loop, Reply, Series, Step, Together
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.numerics.moments import Moments, k_th, mixture
from headway.queueing.layers.numerics.settling import Settling
from headway.queueing.layers.numerics.stations import NEVER
from headway.queueing.layers.others import Others
from headway.queueing.layers.sources import Sources, Work
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.layers.waits import Pools, Processors, State, Works
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

STEPS = 800
"""Steps after which it has not settled."""

_SETTLED = 1e-9  # relative change of all waiting times in a step
_SMALL = 1e-6  # a delay that makes no difference, over the longest demand


def by_layers(system: LayeredSystem) -> LayeredMeans:
    """Solve a layered system by decomposition; an approximation.

    Parameters
    ----------
    system
        Numbers may be arrays of operating points, but threads, servers and populations.

    Raises
    ------
    GraphError
        Where it does not settle, and for disciplines that look at priorities.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> by_layers(one).throughput("users").round(9).tolist()  # which is exact here
    0.769230769
    """
    ordered = {name: one.discipline for name, one in system.processors.items()}
    ordered |= {f"task {name}": one.discipline for name, one in system.tasks.items()}
    for name, discipline in ordered.items():
        if discipline.by_priority or discipline.by_size:
            msg = f"{name}: layers are not solved under discipline {discipline}; simulate it"
            raise GraphError(msg)
    return _Decomposition(system).solved()


class _Decomposition:
    """Waiting times as they become known."""

    def __init__(self, system: LayeredSystem) -> None:
        self.system = system
        self.sources = Sources(system)
        self.points = max(int(np.prod(system.shape)), 1)
        others = Others(self.sources)
        self.works = Works(self.sources, self._column)
        given = self.sources, others, self.works, self._column
        self.processors, self.pools = Processors(*given), Pools(*given)
        longest = max(float(np.max(step.demand)) for _, step, _ in system.steps())
        self.small = _SMALL * longest or _SMALL
        self.delays = np.where(self.works.shared, 1.0, np.zeros((1, self.points)))
        self.waits = np.zeros_like(self.delays)
        self.timed = [timed for name in system.callers_first[::-1] for timed in self._timed(name)]
        self.visits = np.stack([self._visits(one.visits) for one in self.sources.all])

    def _column(self, value: Amount) -> FloatArray:
        array = np.asarray(value, float)
        if array.ndim == 0:
            return np.full(self.points, array)
        spread = np.broadcast_to(array, self.system.shape).reshape(-1)
        return np.asarray(np.broadcast_to(spread, self.points))

    def _visits(self, visits: Mapping[str, Amount]) -> FloatArray:
        """Visits of a source to all entries."""
        return np.stack([self._column(visits.get(name, 0.0)) for name in self.system.entries])

    def _timed(self, name: str) -> Iterator["_Timed"]:
        """Both phases of an entry, for all sources that ask for it."""
        index, entry = self.works.index, self.system.entries[name]
        speed = self.system.processors[self.sources.processor(name)].speed
        for second in (False, True):
            asking = [k for k in range(len(self.sources.all)) if Work(k, name, second) in index]
            if not asking:
                continue
            own = np.array([index[Work(k, name, second)] for k in asking])
            called = {
                of: np.array([index[Work(k, of)] for k in asking])
                for of in self.sources.calls(name, second=second)
            }
            passed = [
                (self._column(chance), np.array([index[Work(k, of)] for k in asking]))
                for of, chance in entry.forwards.items()
                if not second
            ]
            flow = self.sources.flows[name, second]
            shares = bool(self.works.shared[own[0], 0])
            yield _Timed(own, flow, self._column(speed), shares, called, tuple(passed))

    def solved(self) -> LayeredMeans:
        """Go round until nothing changes."""
        settling = Settling(self.small)
        served, asked = self.processors.rows, self.pools.rows
        if not served.size + asked.size:
            return self._means(self._now())
        known: FloatArray | None = None
        for _ in range(STEPS):
            now = self._now()
            delays = self.processors.delays(now) if served.size else now.delays[served]
            waits = self.pools.waits(now) if asked.size else now.waits[asked]
            found = np.concatenate([delays, waits])
            if known is not None:
                if np.max(np.abs(found - known) / (np.abs(found) + self.small)) < _SETTLED:
                    return self._means(now)
                found = settling.step(known, found)
            known = found
            self.delays[served], self.waits[asked] = np.split(found, [len(served)])
        msg = f"{self.system.name}: its layers have not settled after {STEPS} steps; simulate it"
        raise GraphError(msg)

    def _now(self) -> State:
        """Times of all phases, those of called entries first, and how often they are."""
        mean, variance = np.zeros_like(self.delays), np.zeros_like(self.delays)
        answers = np.zeros((2, *mean.shape))  # from a request to its answer, mean and variance

        def called(rows: IntArray) -> Moments:
            """With an exponential wait before it."""
            wait = self.waits[rows]
            return Moments(wait + answers[0][rows], wait**2 + answers[1][rows])

        for one in self.timed:
            calls = {of: called(rows) for of, rows in one.called.items()}
            delay = self.delays[one.rows]
            time = time_of(one.flow, Conditions(one.speed, delay, one.shares, calls))
            mean[one.rows], variance[one.rows] = time.mean, time.variance
            for chance, rows in one.passed:
                time = time.then(called(rows).with_chance(chance))
            answers[0, one.rows], answers[1, one.rows] = time.mean, time.variance
        second, spread = (self.works.lasts * each[self.works.second] for each in (mean, variance))
        cycles = self._cycles(mean)[self.works.source]
        return State(cycles, self.delays, self.waits, mean, variance, mean, second, spread)

    def _cycles(self, mean: FloatArray) -> FloatArray:
        """Cycles of all sources, and on the way requests for all entries [1/s]."""
        cycles = np.zeros((len(self.sources.all), self.points))
        self.requests = np.zeros((len(self.system.entries), self.points))
        number = {name: n for n, name in enumerate(self.system.entries)}
        sent = dict.fromkeys(self.sources.sent, np.zeros(self.points))
        for name in self.system.callers_first:
            entry = self.system.entries[name]
            for k in self.sources.of.get(name, ()):
                source = self.sources.all[k]
                if source.own is None:
                    cycles[k] = self._column(entry.arrival_rate) + sent.get(name, 0.0)
                elif source.own.second:
                    cycles[k] = self.requests[number[name]]
                else:
                    think = self.system.tasks[entry.task].think_time
                    cycle = self._column(think) + mean[self.works.index[source.own]]
                    cycles[k] = source.population / cycle
                    self.requests[number[name]] = cycles[k]
                self.requests += self.visits[k] * cycles[k]
            for other, times in entry.sends() if sent else ():
                sent[other] = sent[other] + self.requests[number[name]] * self._column(times)
        return cycles

    def _means(self, now: State) -> LayeredMeans:
        entries = {}
        rates = now.cycles * self.works.often
        for number, (name, entry) in enumerate(self.system.entries.items()):
            rate = self.requests[number]
            rows = [r for r, w in enumerate(self.works.all) if w.entry == name and not w.second]
            per = np.maximum(rate, NEVER)
            wait = (rates[rows] * now.waits[rows]).sum(axis=0) / per
            first = (rates[rows] * now.mean[rows]).sum(axis=0) / per
            second = now.second[rows[0]] if rows else np.zeros(self.points)
            if self.system.tasks[entry.task].clients:
                first = now.mean[rows[0]]
            means = (rate, wait, first, second)
            entries[name] = EntryMeans(*(np.reshape(one, self.system.shape) for one in means))
        return LayeredMeans(self.system, entries)


@dataclass(frozen=True, eq=False)
class _Timed:
    """A phase of an entry, for some sources.

    Parameters
    ----------
    rows
        The work.
    flow, speed, shares
        What is done, at which speed, and whether servers are shared.
    called
        Work behind each call, by entry.
    passed
        Work for which it is forwarded, with the probability.
    """

    rows: IntArray
    flow: Flow
    speed: FloatArray
    shares: bool
    called: Mapping[str, IntArray]
    passed: tuple[tuple[FloatArray, IntArray], ...]


@dataclass(frozen=True)
class Conditions:
    """What a flow meets.

    Parameters
    ----------
    speed
        Of the processor.
    delay
        By which a slice is stretched, where servers are shared, or before it [s].
    shares
        Whether servers are shared.
    called
        From a call to its answer, by entry.
    """

    speed: Amount
    delay: FloatArray
    shares: bool
    called: Mapping[str, Moments]


def time_of(flow: Flow, met: Conditions) -> Moments:
    """How long a flow takes a thread."""

    def of(part: Flow) -> Moments:
        match part:
            case Step():
                return _step(part, met)
            case Series(parts):
                return _in_series([of(one) for one in parts], met.delay)
            case Choice(ways):
                return mixture([(chance, of(way)) for chance, way in ways])
            case Loop(body, mean):
                return of(body).times(mean)
            case Together(branches, needed):
                return k_th([of(one) for one in branches], needed)
            case Reply():
                return _in_series([], met.delay)

    return of(flow)


def _in_series(parts: list[Moments], like: FloatArray) -> Moments:
    total = Moments(np.zeros_like(like), np.zeros_like(like))
    for part in parts:
        total = total.then(part)
    return total


def _step(step: Step, met: Conditions) -> Moments:
    """A step: slices with calls between them, of whole or of geometric numbers.

    Of Y calls and messages on average there are 1 + Y slices, of the mean w and the variance v.
    With E1 and E2, the sums of means and of mean squares of all called, geometric numbers give

        E T = (1 + Y) w + E1,   Var T = (1 + Y) (v + w (2 E1 + Y w)) + E2 + E1^2,

    as Y times something of the mean m and the square s have the variance Y (s - m^2) + Y (1 + Y)
    m^2. Whole numbers add variances alone.
    """
    delay, slices = met.delay, step.slices
    slice_ = step.demand / met.speed / slices
    if met.shares:
        work = slice_ * delay
        spread = step.scv * work**2
    else:
        waits = delay * np.not_equal(step.demand, 0)
        work = slice_ + waits
        spread = step.scv * slice_**2 + waits**2
    called = [(mean, met.called[name]) for name, mean in step.calls.items()]
    answers = sum(mean * one.mean for mean, one in called)
    mean = step.think_time + slices * work + answers
    variance = step.think_time**2 + slices * spread + sum(m * one.variance for m, one in called)
    if not step.fixed:
        squares = sum(m * one.mean**2 for m, one in called)
        again = slices * work * (2 * answers + (slices - 1) * work)
        variance = variance + again + squares + answers**2
    return Moments(np.asarray(mean), np.asarray(variance))
