"""Layered systems by decomposition: every server with those who can come to it, in turn.

Each processor and each pool of threads is a station of its own, to which a few classes come
(`headway.queueing.layers.others`), away for as long as the rest of their cycle takes. It is solved
exactly as a product form (`headway.queueing.layers.numerics.finite`), with corrections for service
in order of arrival; its waiting times make the cycles longer, and so on until nothing changes (the
method of layers: Rolia and Sevcik, IEEE TSE 21(8), 1995; with interlock as Franks and others, IEEE
TSE 35(2), 2009, found here by cuts). docs/explanation/layers.md derives it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from math import isinf
from typing import TypeAlias

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.numerics.finite import outliving, truncated_poisson, wait_of_one
from headway.queueing.layers.numerics.settling import Settling
from headway.queueing.layers.others import (
    NEVER,
    Class,
    Coming,
    Others,
    Server,
    left_over,
    mixed,
    seen_by_one,
)
from headway.queueing.layers.passing import Conditions, Moments, time_of
from headway.queueing.layers.sources import Sources, Stacks, Work
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass

STEPS = 800
"""Steps after which it has not settled."""

_SETTLED = 1e-9  # relative change of all waiting times in a step
_NARROW = 1e-2  # least time away, over that of service: what is nearly always there
_REGULAR = 1e-3  # least scv of a holding time; less makes no difference to a wait
_SMALL = 1e-6  # a delay that makes no difference, over the longest demand
_LEAST = 1e-9  # a time away [s] that is as good as none


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


@dataclass
class _Decomposition:
    """Waiting times as they become known."""

    system: LayeredSystem
    delays: dict[Work, FloatArray] = field(default_factory=dict)
    waits: dict[tuple[int, str], FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sources = Sources(self.system)
        self.others = Others(self.sources)
        self.points = max(int(np.prod(self.system.shape)), 1)
        self.processors = [
            Server(name, is_task=False)
            for name, one in self.system.processors.items()
            if not isinf(one.servers)
        ]
        self.pools = [
            Server(name, is_task=True)
            for name, one in self.system.tasks.items()
            if not (one.clients or isinf(one.threads))
        ]
        self.columns = {n: self._column(p.speed) for n, p in self.system.processors.items()}
        longest = max(float(np.max(step.demand)) for _, step, _ in self.system.steps())
        self.small = _SMALL * longest or _SMALL
        self.uses = {
            work: tuple(map(self._column, self.sources.use(work)))
            for works in self.sources.works
            for work in works
        }
        self.nothing = self._column(0.0)
        self.second = {s.entry: s.own for s in self.sources.all if s.own and s.own.second}
        self.done = {server: self._done_at(server) for server in self.processors}
        self.comers = {server: tuple(self._comers(server)) for server in self.pools}

    def _done_at(self, server: Server) -> "dict[Work, _Ways]":
        """All work at a processor, with whom it meets there; nobody where it takes no time."""
        found: dict[Work, _Ways] = {}
        for work, (slices, _) in self.uses.items():
            if self.sources.processor(work.entry) == server.name:
                stacks = self.sources.held(work) if np.any(slices) else {}
                found[work] = self._met(server, work.source, stacks)
        return found

    def _met(self, server: Server, source: int, stacks: Stacks) -> "_Ways":
        """Classes that one of a source meets at a server, with the share of its visits."""
        found: dict[int, tuple[tuple[Class, ...], Amount]] = {}
        for held, share in stacks.items():
            classes = self.others.of(server, source, held)
            _, before = found.get(id(classes), (classes, 0.0))
            found[id(classes)] = classes, before + share
        return tuple(found.values())

    def _comers(self, server: Server) -> "Iterator[_Comer]":
        """The sources that come to a pool of threads."""
        offered = self.system.entries_of[server.name]
        for k, source in enumerate(self.sources.all):
            if not source.visits.keys().isdisjoint(offered):
                everybody = self.others.of(server, -1, frozenset())
                mine = next(c for c in everybody if any(work.source == k for work in c.visits))
                names = tuple(name for name in offered if name in source.visits)
                yield _Comer(k, mine, names, tuple(self._asking(server, k)))

    def _asking(self, server: Server, k: int) -> "Iterator[tuple[str, FloatArray, _Ways]]":
        """Requests of a source for the entries of a task, and whom they meet, way by way."""
        source = self.sources.all[k]
        asking: list[tuple[Stacks, Mapping[str, Amount], Amount]] = []
        if source.own is None:
            asking.append(({frozenset(): 1.0}, {source.entry: 1.0}, 1.0))
        for work, often in self.sources.works[k].items():
            held = self.sources.held(work)
            asking.append((held, self.sources.calls(work.entry, second=work.second), often))
            if work != source.own:
                passed = self.system.entries[work.entry].forwards
                asking.append((source.stacks[work.entry], passed, often))
        for stacks, asked, often in asking:
            for name in self.system.entries_of[server.name]:
                if name in asked and np.any(source.visits[name]):
                    yield name, self._column(often * asked[name]), self._met(server, k, stacks)

    def _column(self, value: Amount) -> FloatArray:
        array = np.asarray(value, float)
        if array.ndim == 0:
            return np.full(self.points, array)
        spread = np.broadcast_to(array, self.system.shape).reshape(-1)
        return np.asarray(np.broadcast_to(spread, self.points))

    def solved(self) -> LayeredMeans:
        """Go round until nothing changes."""
        settling = Settling(self.small)
        for _ in range(STEPS):
            self._times()
            self._rates()
            delays, waits = self._visit_processors(), self._visit_pools()
            found = [*delays.values(), *waits.values()]
            if not found:
                return self._means()
            if self.delays or self.waits:
                known = [*self.delays.values(), *self.waits.values()]
                x, g = np.stack(known), np.stack(found)
                if np.max(np.abs(g - x) / (np.abs(g) + self.small)) < _SETTLED:
                    return self._means()
                found = list(settling.step(x, g))
            self.delays = dict(zip(delays, found, strict=False))
            self.waits = dict(zip(waits, found[len(delays) :], strict=True))
        msg = f"{self.system.name}: its layers have not settled after {STEPS} steps; simulate it"
        raise GraphError(msg)

    # Times and rates

    def _times(self) -> None:
        """Times of all phases, those of called entries first."""
        self.times: dict[Work, Moments] = {}
        self.answers: dict[tuple[int, str], Moments] = {}
        for k, works in enumerate(self.sources.works):
            for name in reversed(self.system.callers_first):
                for work in (Work(k, name), Work(k, name, second=True)):
                    if work in works:
                        self.times[work] = self._time(work)
                if Work(k, name) in works:
                    self.answers[k, name] = self._answer(k, name)

    def _time(self, work: Work) -> Moments:
        flow = self.sources.flows[work.entry, work.second]
        speed = self.columns[self.sources.processor(work.entry)]
        called = {
            name: self._called(work.source, name)
            for name in self.sources.calls(work.entry, second=work.second)
        }
        shares = self._shares(work)
        delay = self.delays.get(work, self._column(1.0 if shares else 0.0))
        return time_of(flow, Conditions(speed, delay, shares, called))

    def _shares(self, work: Work) -> bool:
        processor = self.system.processors[self.sources.processor(work.entry)]
        return processor.discipline.shares or isinf(processor.servers)

    def _called(self, source: int, entry: str) -> Moments:
        """From a request to its answer: an exponential wait, and the first phase."""
        wait = self.waits.get((source, entry), self.nothing)
        return Moments(wait, wait**2).then(self.answers[source, entry])

    def _answer(self, source: int, entry: str) -> Moments:
        total = self.times[Work(source, entry)]
        for name, chance in self.system.entries[entry].forwards.items():
            total = total.then(self._called(source, name).with_chance(self._column(chance)))
        return total

    def _rates(self) -> None:
        """Cycles of all sources, and requests for all entries [1/s]."""
        self.cycles: dict[int, FloatArray] = {}
        self.requests = dict.fromkeys(self.system.entries, self.nothing)
        sent = dict.fromkeys(self.system.entries, self.nothing)
        for name in self.system.callers_first:
            entry = self.system.entries[name]
            task = self.system.tasks[entry.task]
            for k, source in enumerate(self.sources.all):
                if source.entry != name:
                    continue
                if source.own is None:
                    self.cycles[k] = self._column(entry.arrival_rate) + sent[name]
                elif source.own.second:
                    self.cycles[k] = self.requests[name]
                else:
                    cycle = self._column(task.think_time) + self.times[source.own].mean
                    self.cycles[k] = source.population / cycle
                    self.requests[name] = self.cycles[k]
                for other, visits in source.visits.items():
                    self.requests[other] = self.requests[other] + self.cycles[k] * visits
            for other, mean in entry.sends():
                sent[other] = sent[other] + self.requests[name] * mean

    # Servers

    def _visit_processors(self) -> dict[Work, FloatArray]:
        """Delays at all processors, found anew."""
        delays: dict[Work, FloatArray] = {}
        for server, done in self.done.items():
            known: dict[int, FloatArray] = {}
            same = self._mean_slice(server)
            for work, ways in done.items():
                for classes, share in ways:
                    if id(classes) not in known:
                        known[id(classes)] = self._delay(server, classes, same)
                    before = delays.get(work, self.nothing)
                    delays[work] = before + share * known[id(classes)]
        return delays

    def _rate(self, work: Work) -> FloatArray:
        """How often work is done [1/s]."""
        return np.asarray(self.cycles[work.source] * self.sources.works[work.source][work])

    def _mean_slice(self, server: Server) -> FloatArray:
        """Mean of all slices at a processor [s]."""
        rate = time = self.nothing
        for work in self.done[server]:
            often, (slices, busy) = self._rate(work), self.uses[work]
            rate, time = rate + often * slices, time + often * busy
        return np.asarray(time / np.maximum(rate, NEVER))

    def _barred(self, one: Class) -> FloatArray:
        """Members of a class who usually are where none of them can be now."""
        times = ((self.cycles[w.source] * often, self.times[w]) for w, often in one.barred.items())
        return sum((rate * time.mean for rate, time in times), self.nothing)

    def _delay(self, server: Server, classes: tuple[Class, ...], same: FloatArray) -> FloatArray:
        """Stretch of a slice where servers are shared, or wait before it [s]."""
        processor = self.system.processors[server.name]
        servers, shares = float(processor.servers), processor.discipline.shares
        coming = []
        for one in classes:
            rate = time = there = self.nothing
            for work in one.visits:
                often = self.cycles[work.source] * one.visits[work]
                slices, busy = self.uses[work]
                rate, time = rate + often * slices, time + often * busy
                delay = self.delays.get(work, float(shares))
                there = there + often * (busy * delay if shares else busy + slices * delay)
            service = time / np.maximum(rate, NEVER)
            coming.append(Coming(one, rate, service, there, self._barred(one)))
        seen, means = seen_by_one(coming, servers, None if shares else same)
        k = np.arange(len(seen))[:, np.newaxis]
        if shares:
            return np.asarray((seen * np.maximum(1.0, (k + 1) / servers)).sum(axis=0))
        each = mixed(means, [one.service for one in coming])
        return np.asarray(_beyond_servers(seen, servers) * each / servers)

    def _visit_pools(self) -> dict[tuple[int, str], FloatArray]:
        """Waiting times for the threads of all tasks, found anew."""
        waits: dict[tuple[int, str], FloatArray] = {}
        for server, comers in self.comers.items():
            self.holdings = self._holdings(server)
            for comer in comers:
                waits |= self._waits(server, comer)
        return waits

    def _offered(self, server: Server) -> tuple[str, ...]:
        return self.system.entries_of[server.name]

    def _second(self, entry: str) -> Moments:
        """Time of the second phase."""
        own = self.second.get(entry)
        return self.times[own] if own else Moments(self.nothing, self.nothing)

    def _occupancy(self, entry: str) -> FloatArray:
        """Mean time for which a thread is held for a request, of all sources."""
        first = sum(
            self._rate(Work(k, entry)) * self.times[Work(k, entry)].mean
            for k in range(len(self.sources.all))
            if Work(k, entry) in self.times
        )
        return first / np.maximum(self.requests[entry], NEVER) + self._second(entry).mean

    def _waits(self, server: Server, comer: "_Comer") -> dict[tuple[int, str], FloatArray]:
        """Mean waiting times of a source for a thread, by entry."""
        away = self._own_cycle(comer)
        known: dict[int, FloatArray] = {}
        often: dict[str, FloatArray] = {}
        waiting: dict[str, FloatArray] = {}
        for name, times, ways in comer.asking:
            often[name] = often.get(name, self.nothing) + times
            for classes, share in ways:
                if id(classes) not in known:
                    known[id(classes)] = self._wait(server, classes, comer, away)
                wait = times * share * known[id(classes)]
                waiting[name] = waiting.get(name, self.nothing) + wait
        least = self._over(server, comer)
        return {
            (comer.source, name): np.maximum(
                wait / np.maximum(often[name], NEVER),
                np.maximum(self.waits.get((comer.source, name), 0.0) + least, 0.0),
            )
            for name, wait in waiting.items()
        }

    def _over(self, server: Server, comer: "_Comer") -> FloatArray:
        """How much longer a wait must be, so that no more threads are busy than there are.

        (X (S1 + S2) / m - 1) N / X for each of N members; below 0 where some are free. Without
        second phases waits see to that, and requests from outside come whatever they wait.
        """
        lasts = any(map(self.sources.lasts, self._offered(server)))
        if not lasts or any(source.own is None for source in self.sources.all):
            return self._column(-np.inf)
        threads = float(self.system.tasks[server.name].threads)
        names = self._offered(server)
        busy = sum((self.requests[n] * self._occupancy(n) for n in names), self.nothing)
        mine = self._calling(comer.mine)
        return (busy / threads - 1) * comer.mine.population / np.maximum(mine.rate, NEVER)

    def _wait(
        self, server: Server, classes: tuple[Class, ...], comer: "_Comer", away: FloatArray
    ) -> FloatArray:
        """Wait for a thread, of one who meets some classes and is away for so long."""
        threads = float(self.system.tasks[server.name].threads)
        lasts = any(map(self.sources.lasts, self._offered(server)))
        if sum(one.most for one in classes) < threads and not lasts:
            return self.nothing
        left = self._left_behind(comer.mine, away)
        hold = sum((share * mean for share, mean, _ in self.holdings), self.nothing)
        if threads == 1:
            alone = [self._between(self._calling(one)) for one in classes]
            seen, means = seen_by_one(alone, 1, hold)
            wait = _beyond_servers(seen, 1) * mixed(means, [one.service for one in alone])
            between = np.maximum(away - left.mean + left.rest, _LEAST)
            wait = wait + self._beyond(alone, between, hold)
            return np.asarray(np.maximum(wait, 0.0) + left.rest)
        coming = [self._calling(one) for one in classes]
        seen, means = seen_by_one(coming, threads)
        wait = _beyond_servers(seen, threads) * mixed(means, [one.service for one in coming])
        more = mixed(means, [left_over(c.service, c.scv, away) - c.service for c in coming])
        wait = (wait + seen[int(threads) :].sum(axis=0) * more) / threads
        if lasts:
            # no other thread is free, and its own second phase outlives its time away
            wait = wait + seen[int(threads) - 1 :].sum(axis=0) * left.rest
            wait = np.maximum(wait, self._beside_seconds(server, classes, comer, away))
        return np.asarray(wait)

    def _beside_seconds(
        self, server: Server, classes: tuple[Class, ...], comer: "_Comer", away: FloatArray
    ) -> FloatArray:
        """Wait for one of several threads, where callers leave many second phases behind.

        These are as many as in a system without waiting: its last one as `_left_behind` says, and
        of the others a Poisson number, a^k / k! up to the threads. First phases meet as ever.
        It leaves out that second phases keep threads from first ones, so it is short of the wait.
        """
        threads = int(float(self.system.tasks[server.name].threads))
        left, source = self._left_behind(comer.mine, away), self.sources.all[comer.source]
        own = sum((self.cycles[comer.source] * source.visits[n] for n in comer.names), self.nothing)
        asked = sum((self.requests[name] for name in self._offered(server)), self.nothing)
        busy = sum(
            (self.requests[n] * self._second(n).mean for n in self._offered(server)), self.nothing
        )
        busy = np.minimum(busy, threads)
        others = busy - np.minimum(own / source.population * left.mean, left.chance)
        chance = np.clip(left.chance, _SMALL, 1 - _SMALL)
        coming = [self._calling(one, whole=False) for one in classes]
        besides = truncated_poisson(np.maximum(others, _SMALL), threads)
        seen, means = seen_by_one(
            coming, threads, besides=(besides, np.log(np.array([1 - chance, chance])))
        )
        seconds = [busy / np.maximum(asked, NEVER), left.rest / np.maximum(left.chance, NEVER)]
        service = [*(one.service for one in coming), *seconds]
        rest = [*(left_over(one.service, one.scv, away) for one in coming), *seconds]
        wait = _beyond_servers(seen, threads) * mixed(means, service)
        more = mixed(means, [r - s for r, s in zip(rest, service, strict=True)])
        return np.asarray((wait + seen[threads:].sum(axis=0) * more) / threads)

    def _left_behind(self, one: Class, away: FloatArray) -> "_Behind":
        """Second phases of their own that members of a class meet when they ask again."""
        if not any(self.sources.lasts(work.entry) for work in one.visits):
            return _Behind(self.nothing, self.nothing, self.nothing)
        first, *others = {work.source for work in one.visits}
        source = self.sources.all[first]
        alone = not others and source.population == one.population  # these come as clients do
        task = self.system.entries[source.entry].task
        think = self._column(self.system.tasks[task].think_time if alone else 0.0)
        visits = sum(map(self._column, one.visits.values()), self.nothing)
        rates = {work: self.cycles[work.source] * often for work, often in one.visits.items()}
        total = np.maximum(sum(rates.values(), self.nothing), NEVER)
        mean = chance = rest = self.nothing
        for work, rate in rates.items():
            second, share = self._second(work.entry).mean, rate / total
            meets = share * outliving(second, away, np.maximum(visits, NEVER), think)
            mean, chance, rest = mean + share * second, chance + meets, rest + meets * second
        return _Behind(mean, chance, rest)

    def _between(self, one: Coming) -> Coming:
        """Those who come to one thread, away from its end of theirs, E (A - S2)+, to the next.

        One who asks again before its second phase is over waits for its rest, E (S2 - A)+, and
        then as one who comes when the thread is free of it.
        """
        without = one.one.population - one.barred
        rate = np.maximum(one.rate, NEVER)
        left = self._left_behind(one.one, np.maximum((without - one.there) / rate, 0.0))
        if not left.mean.any():
            return one
        away = np.maximum((without - one.there) / rate + left.mean, _LEAST)
        left = self._left_behind(one.one, away)
        return replace(one, there=without - rate * (away - left.mean + left.rest))

    def _beyond(self, coming: "list[Coming]", away: FloatArray, hold: FloatArray) -> FloatArray:
        """What the law of the holding times of a single thread adds to a wait.

        The difference of two waits in M/G/1//N, of that law and of an exponential one, with the
        mean rate at which members come back.
        """
        members = 1 + sum(one.one.most for one in coming)
        often = 1 / away + sum(one.one.most / one.away for one in coming)
        mean_away = np.maximum(members / often, _NARROW * hold)
        usual = wait_of_one(members, mean_away, [(1.0, hold, np.ones_like(hold))])
        return wait_of_one(members, mean_away, self.holdings) - usual

    def _holdings(self, server: Server) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """For how long threads are held: the share, mean and scv of each kind of request."""
        works = [
            work
            for name in self._offered(server)
            for k in range(len(self.sources.all))
            if (work := Work(k, name)) in self.times
        ]
        total = sum((self._rate(work) for work in works), self.nothing)
        found = []
        for work in works:
            time = self.times[work].then(self._second(work.entry))
            scv = time.variance / np.maximum(time.mean, NEVER) ** 2
            share = self._rate(work) / np.maximum(total, NEVER)
            found.append((share, time.mean, np.maximum(scv, _REGULAR)))
        return found

    def _own_cycle(self, comer: "_Comer") -> FloatArray:
        """Time from an answer to the next request of those with whom a source comes."""
        mine = self._calling(comer.mine)
        gone = (comer.mine.population - mine.there) / np.maximum(mine.rate, NEVER)
        return np.maximum(gone + self._left_behind(comer.mine, gone).mean, _LEAST)

    def _calling(self, one: Class, *, whole: bool = True) -> Coming:
        """What a class does at a pool of threads; first phases only where it is not the whole."""
        rate = held = squares = there = self.nothing
        for work in one.visits:
            often = self.cycles[work.source] * one.visits[work]
            time = self.times[work]
            time = time.then(self._second(work.entry)) if whole else time
            wait = self.waits.get((work.source, work.entry), 0.0)
            rate = rate + often
            held = held + often * time.mean
            squares = squares + often * (time.variance + time.mean**2)
            there = there + often * (wait + time.mean)
        service = held / np.maximum(rate, NEVER)
        scv = squares / np.maximum(rate, NEVER) / np.maximum(service, NEVER) ** 2 - 1
        return Coming(one, rate, service, there, self._barred(one), np.maximum(scv, _REGULAR))

    def _means(self) -> LayeredMeans:
        entries = {}
        for name, entry in self.system.entries.items():
            rate = self.requests[name]
            wait = sum(
                self.cycles[k] * source.visits[name] * self.waits.get((k, name), 0.0)
                for k, source in enumerate(self.sources.all)
                if name in source.visits
            )
            second = self._second(name).mean
            first = self._occupancy(name) - second
            if self.system.tasks[entry.task].clients:
                own = next(s.own for s in self.sources.all if s.entry == name)
                first = self.times[own].mean if own else first
            per = np.maximum(rate, NEVER)
            means = (rate, wait / per + np.zeros(self.points), first, second)
            entries[name] = EntryMeans(*(np.reshape(one, self.system.shape) for one in means))
        return LayeredMeans(self.system, entries)


_Ways: TypeAlias = tuple[tuple[tuple[Class, ...], Amount], ...]
"""Whom one meets, with the share of each way to a server."""


@dataclass(frozen=True)
class _Comer:
    """A source at a pool: those with whom it comes, entries there, and its requests for them."""

    source: int
    mine: Class
    names: tuple[str, ...]
    asking: tuple[tuple[str, FloatArray, _Ways], ...]


@dataclass(frozen=True)
class _Behind:
    """Second phases left behind: their mean, the chance to meet one, and its mean rest E (S2 - A)+.

    Means are of all requests, of which some may have none.
    """

    mean: FloatArray
    chance: FloatArray
    rest: FloatArray


def _beyond_servers(seen: FloatArray, servers: float) -> FloatArray:
    """Mean of those who come before one, for whom there is no server, and itself."""
    n = np.arange(len(seen))[:, np.newaxis]
    return np.asarray((seen * np.maximum(0.0, n - servers + 1)).sum(axis=0))
