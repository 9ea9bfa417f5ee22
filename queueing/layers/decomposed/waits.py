"""Delays at processors and waits for threads, at all servers of a system at once.

Each processor and each pool of threads is a station of its own, visited by a few classes
(`headway.queueing.layers.decomposed.others`), which are away for as long as the rest of their cycle
takes. docs/explanation/layers.md derives the formulas used here.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.again import BRIEF, Again, Asked, Behind, outlasts
from headway.queueing.layers.decomposed.begun import Begin, Begun
from headway.queueing.layers.decomposed.capacities import Capacities, Freed
from headway.queueing.layers.decomposed.crowds import (
    NARROW,
    Coming,
    Crowds,
    Places,
)
from headway.queueing.layers.decomposed.others import Classes, think_between, together
from headway.queueing.layers.decomposed.sources import Sources, Stacks, Work
from headway.queueing.layers.decomposed.structures import Others
from headway.queueing.layers.decomposed.views import Meetings, Views
from headway.queueing.layers.decomposed.ways import Server
from headway.queueing.layers.decomposed.works import State, Works
from headway.queueing.layers.numerics.finite import left_over, waits_of_one
from headway.queueing.layers.numerics.stations import (
    NEVER,
    Odds,
    Stations,
    Sums,
    counted,
    stacked,
)
from headway.queueing.layers.parts import is_unlimited
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

_REGULAR = 1e-3  # least scv of a holding time; smaller ones make no difference to a wait
_SMALL = 1e-6  # a probability that does not matter
_LEAST = 1e-9  # a time away [s] that stands for 0


class Processors:
    """All processors with a limited number of servers.

    Parameters
    ----------
    sources, others, works, views, capacities
        Of a system.
    """

    def __init__(
        self,
        sources: Sources,
        others: Others,
        works: Works,
        views: Views,
        capacities: Capacities,
    ) -> None:
        parts = sources.system.processors
        self.column = column = views.column
        servers = [name for name, one in parts.items() if not is_unlimited(one.servers)]
        places = Places(others)
        ways: dict[int, dict[int, Amount]] = {}
        done: list[dict[int, Amount]] = [{} for _ in servers]
        begins: list[tuple[int, Work, Work, dict[int, Amount]]] = []
        for row, work in enumerate(works.all):
            name = sources.processor(work.entry)
            if name in servers and np.any(works.slices[row]):
                number = servers.index(name)
                server = Server(name, is_task=False)
                ways[row] = places.of(number, server, work.source, sources.held(work))
                done[number][row] = 1.0
                for first in works.first_phases(work):
                    met = places.of(number, server, first.source, sources.held(first))
                    begins.append((number, work, first, met))
        self.works, self.place = works, np.array(places.owners, int)
        self.rows = np.array(list(ways), int)
        if not ways:
            return
        count = [parts[servers[number]].servers for number in self.place]
        self.count = stacked(count, column)
        self.shares = np.array([[parts[servers[n]].discipline.shares] for n in self.place])
        self.shared = works.shared
        self.crowds = Crowds(places.classes, places.comers, count, works, views, capacities)
        self.ways, self.done = Sums(list(ways.values()), column), Sums(done, column)
        there = [
            {row: 1.0 for row in done[number] if works.all[row].source == first.source}
            for number, _, first, _ in begins
        ]
        second = [Begin(*one[1:], at) for one, at in zip(begins, there, strict=True)]
        self.begun = Begun(second, self.rows, works, sources, column) if second else None

    def delays(self, now: State, freed: Freed) -> tuple[FloatArray, FloatArray]:
        """Stretch of each slice where servers are shared, or the wait before it [s], by row.

        And mean second phases while their callers wait for them, as `Begun.met`.
        """
        of, works = self.crowds, self.works
        rate, time = now.cycles * works.slices, now.cycles * works.busy
        there = np.where(self.shared, time * now.delays, time + rate * now.delays)
        each = np.array([rate, there]) * works.often
        rates, times, there = of.visits.of(np.array([rate, time, there]))
        service = times / np.maximum(rates, NEVER)
        free = of.population - there - of.barred.of(now.cycles * now.mean)
        coming = Coming(rates, service, there, free, np.ones_like(service))
        often, spent = self.done.of(np.array([rate, time]) * works.often)
        same = (spent / np.maximum(often, NEVER))[self.place]
        mine = np.where(self.shares[of.owner], service, same[of.owner])
        seen = of.seen(of.odds(now, freed, coming, mine))
        kept = of.kept(coming, seen, rate)
        delays = 1 + seen.beyond * kept / self.count
        if not self.shares.all():
            delays = np.where(self.shares, delays, of.until_free(coming, seen) * kept)
        found = self.ways.of(delays)
        return self.begun.met(now, found, delays, each) if self.begun else (found, now.second)


@dataclass(frozen=True, eq=False)
class _Held:
    """Holding times of threads: share, mean [s] and scv of each kind of request, and mean of all.

    The first three have the shape (kinds, points), the last (queues, points).
    """

    share: FloatArray
    mean: FloatArray
    scv: FloatArray
    all: FloatArray


@dataclass(frozen=True, eq=False)
class _Queues:
    """Queues for threads, each with the classes that an arriving job of some source meets.

    Parameters
    ----------
    at
        Indices among all queues.
    comers, pools
        Numbers of the arriving source and of the pool of each.
    threads
        Number of threads of each pool.
    met
        The classes that call it.
    held
        The work of its threads, as the arriving job sees it.
    """

    at: np.ndarray
    comers: np.ndarray
    pools: np.ndarray
    threads: FloatArray
    met: "_Callers"
    held: Meetings


class _Callers(Crowds):
    """The classes that call pools of threads."""

    def __init__(
        self,
        met: Sequence[Classes],
        comers: Sequence[int],
        threads: Sequence[Amount],
        sources: Sources,
        works: Works,
        views: Views,
        capacities: Capacities,
    ) -> None:
        super().__init__(met, comers, threads, works, views, capacities)
        self.works = works
        thinks = [views.column(think_between(sources, one)) for one in self.classes]
        self.think = np.stack(thinks)[self.visits.sums]

    def _seen_by(self, comers: Sequence[int]) -> IntArray:
        """The source of the arriving job; -1 if the class is a pool of which it holds a thread."""
        held = np.array([one.pool and np.all(one.most < one.population) for one in self.classes])
        return np.where(held, -1, np.array(comers, int)[self.owner])

    @cached_property
    def beside(self) -> Stations:
        """These stations with two more classes: second phases of others, and the caller's last."""
        two = 2 * np.arange(len(self.begins))
        one, tallest = np.ones((len(self.servers), 1), np.int64), self.tallest[:, np.newaxis]
        rows = self.ratios + np.cumsum(tallest, axis=0) - tallest
        most = self.joined(self.most, [self.servers, one])
        law = self.joined(self.law[:, np.newaxis], [rows, -one])
        return Stations(self.begins + two, self.servers, most, law[:, 0].copy())

    def joined(self, values: np.ndarray, besides: Sequence[np.ndarray]) -> np.ndarray:
        """Insert further rows after those of the classes of each server."""
        more, columns = len(besides), max(each.shape[1] for each in (values, *besides))
        shape = len(values) + more * len(self.servers), columns
        rows = np.empty(shape, values.dtype)
        rows[np.arange(len(values)) + more * self.owner] = values
        for n, each in enumerate(besides):
            rows[self.begins[1:] + more * np.arange(len(self.servers)) + n] = each
        return rows

    def calling(self, now: State) -> Coming:
        """Rates and times of the classes at a pool of threads."""
        rate, held, squares, there = self.visits.of(now.stays)
        least = np.maximum(rate, NEVER)
        service = held / least
        scv = squares / least / np.maximum(service**2, NEVER) - 1
        free = self.population - there - self.barred.of(now.held)
        return Coming(rate, service, there, free, np.maximum(scv, _REGULAR))

    def behind(self, now: State, away: FloatArray, asked: Asked) -> Behind:
        """Second phases of their own that members of a class find when they ask again."""
        rows, sums = self.visits.rows, self.visits.sums
        rate, second = self.visits.at(now.cycles), self.visits.at(asked.second)
        of = asked.at(rows)
        known = rate * of.known
        total, *means = self.visits.over(
            np.array([rate, known, known * of.within, known * of.over, known * of.none])
        )
        runs = self.visits.over(of.known * of.runs)
        thinks = 1 / np.maximum(runs, 1.0)[sums]
        rest = np.maximum(of.between(away, means)[sums] - thinks * self.think, 0.0)
        least = np.maximum(second, BRIEF)
        left = 1 - thinks + thinks * outlasts(least, self.think)
        chance = of.chance(left * outlasts(least, rest), outlasts(least, away[sums]))
        chance = np.where(second > 0, of.some * chance, 0.0)
        found = self.visits.over(rate * np.array([of.some * second, chance, chance * of.rest]))
        return Behind(*found / np.maximum(total, NEVER))

    def between(self, now: State, coming: Coming, asked: Asked) -> Coming:
        """Those who come to one thread, away from its end of theirs, E (A - S2)+, to the next.

        One who asks again before its second phase is over waits for its rest, E (S2 - A)+, and
        then as one who comes when the thread is free of it.
        """
        rate = np.maximum(coming.rate, NEVER)
        away = coming.free / rate
        left = self.behind(now, np.maximum(away, 0.0), asked)
        away = np.maximum(away + left.mean, _LEAST)
        left = self.behind(now, away, asked)
        free = np.where(left.mean > 0, rate * (away - left.mean + left.rest), coming.free)
        there = coming.there + coming.free - free
        return Coming(coming.rate, coming.service, there, free, coming.scv)


class Pools:
    """All pools of a limited number of threads.

    Parameters
    ----------
    sources, others, works, views, capacities
        The sources of a system, the others at its servers, its work, its views, and its pools.
    """

    def __init__(
        self,
        sources: Sources,
        others: Others,
        works: Works,
        views: Views,
        capacities: Capacities,
    ) -> None:
        self.sources, self.works, self.views = sources, works, views
        self.capacities = capacities
        self.column = column = views.column
        tasks = sources.system.tasks
        self.names = [
            n for n, one in tasks.items() if not (one.clients or is_unlimited(one.threads))
        ]
        self.comers = [
            (number, source)
            for number, name in enumerate(self.names)
            for source in range(len(sources.all))
            if not sources.all[source].visits.keys().isdisjoint(sources.system.entries_of[name])
        ]
        self.again = Again(sources, works, column) if works.lasting else None
        places = Places(others)
        ways: dict[int, dict[int, Amount]] = {}
        often: dict[int, Amount] = {}
        comer_of: dict[int, int] = {}
        for comer, (number, source) in enumerate(self.comers):
            server = Server(self.names[number], is_task=True)
            for row, stacks, times in self._asking(server.name, source):
                often[row] = often.get(row, 0.0) + times
                comer_of[row] = comer
                way = ways.setdefault(row, {})
                for place, share in places.of(comer, server, source, stacks).items():
                    way[place] = way.get(place, 0.0) + times * share
        self.rows, self.comer_of = np.array(list(ways), int), np.array(list(comer_of.values()), int)
        if not ways:
            return
        self.often = np.stack([column(each) for each in often.values()])
        self.ways = Sums(list(ways.values()), column)
        self._read_pools()
        self._read_comers(others)
        self._read_queues(places)

    def _asking(self, task: str, k: int) -> Iterator[tuple[int, Stacks, Amount]]:
        """Requests of a source for the entries of a task, with the tasks held on each way."""
        sources, visits = self.sources, self.sources.all[k].visits
        for stacks, asked, often in sources.requests(k):
            for name in sources.system.entries_of[task]:
                if name in asked and np.any(visits[name]):
                    yield self.works.index[Work(k, name)], stacks, often * asked[name]

    def _read_pools(self) -> None:
        """Read threads, second phases and the work of threads of each pool."""
        system, sources = self.sources.system, self.sources
        self.threads = stacked([system.tasks[name].threads for name in self.names], self.column)
        self.lasts = np.array(
            [[any(map(sources.lasts, system.entries_of[name]))] for name in self.names]
        )
        works = [
            [
                self.works.index[work]
                for name in system.entries_of[task]
                for k in range(len(sources.all))
                if (work := Work(k, name)) in self.works.index
            ]
            for task in self.names
        ]
        self.held = Sums([dict.fromkeys(rows, 1.0) for rows in works], self.column)
        self.kinds = works

    def _read_comers(self, others: Others) -> None:
        """Read the class and the visits of each source that visits a pool."""
        mine, visits = [], []
        for number, source in self.comers:
            name = self.names[number]
            everybody = others.of(Server(name, is_task=True), -1, frozenset())
            mine.append((next(c for c in everybody if any(w.source == source for w in c.visits)),))
            offered = self.sources.system.entries_of[name]
            rows = [self.works.index[Work(source, n)] for n in offered if n in self._of(source)]
            visits.append(dict.fromkeys(rows, 1.0))
        self.pool_of = np.array([number for number, _ in self.comers])
        ones = [1.0] * len(mine)
        nobody = [-1] * len(mine)
        given = self.sources, self.works, self.views, self.capacities
        self.mine = _Callers(mine, nobody, ones, *given)
        self.own = Sums(visits, self.column)
        of = [self.sources.all[source] for _, source in self.comers]
        self.people = stacked([one.population for one in of], self.column)
        inside = all(one.own is not None for one in self.sources.all)
        self.bounded = np.full((len(self.comers), 1), inside)

    def _of(self, source: int) -> Mapping[str, Amount]:
        return self.sources.all[source].visits

    def _read_queues(self, places: Places) -> None:
        """Read the queues in which anybody may wait."""
        self.count = len(places.classes)
        comers = np.array(places.owners)
        pools = self.pool_of[comers]
        others = counted(list(map(together, places.classes)), self.column)
        waits = self.lasts[pools] | (others >= self.threads[pools])
        at = np.flatnonzero(waits.any(axis=1))
        self.queues: _Queues | None = None
        if not at.size:
            return
        comers, pools = comers[at], pools[at]
        threads = self.threads[pools]
        met = [places.classes[k] for k in at]
        who = [places.comers[k] if m == 1 else -1 for m, k in zip(threads[:, 0], at, strict=True)]
        given = self.sources, self.works, self.views, self.capacities
        tasks = self.sources.system.tasks
        callers = _Callers(met, who, [tasks[self.names[n]].threads for n in pools], *given)
        rows = [dict.fromkeys(self.kinds[n], 1.0) for n in pools]
        held = Meetings(rows, who, self.works.source, self.views)
        self.queues = _Queues(at, comers, pools, threads, callers, held)
        number = [self.capacities.names.index(self.names[n]) for n in pools]
        first, tallest = self.capacities.first[number], self.capacities.tallest[number]
        each = [np.arange(a, a + m) for a, m in zip(first, tallest, strict=True)]
        self.freed = np.concatenate(each)
        self.last = first[:, np.newaxis] + self.capacities.threads[number] - 1

    def waits(self, now: State, freed: Freed, alone: FloatArray) -> FloatArray:
        """Mean waiting times for a thread [s], by row."""
        whole = now.whole
        mine = self.mine.calling(whole)
        gone = (self.mine.population - mine.there) / np.maximum(mine.rate, NEVER)
        asked = self.again.of(now, alone) if self.again else None
        away = gone + (self.mine.behind(now, gone, asked).mean if asked else 0.0)
        away = np.maximum(away, _LEAST)
        zero = np.zeros_like(away)
        left = self.mine.behind(now, away, asked) if asked else Behind(zero, zero, zero)
        result = np.zeros((self.count, away.shape[1]))
        if self.queues:
            result[self.queues.at] = self._of_queues(self.queues, now, freed, away, left, asked)
        found = self.ways.of(result) / np.maximum(self.often, NEVER)
        if not self.bounded.any():
            return found
        # as no more than m threads can be busy, each of N waits (X (S1 + S2) / m - 1) N / X longer
        busy = self.held.of(now.cycles * self.works.often * whole.mean) / self.threads
        longer = (busy[self.pool_of] - 1) * self.mine.population / np.maximum(mine.rate, NEVER)
        longer = np.where(self.bounded, longer, -np.inf)[self.comer_of]
        longer[:, self.views.points :] = -np.inf
        return np.asarray(np.maximum(found, np.maximum(now.waits[self.rows] + longer, 0.0)))

    def _held(self, queues: _Queues, now: State) -> _Held:
        """How long threads are held by each kind of request."""
        held = queues.held
        each = np.array([now.cycles * self.works.often, now.mean, now.variance])
        rate, mean, variance = held.at(each)
        share = rate * held.weights / np.maximum(held.over(rate), NEVER)[held.sums]
        scv = np.maximum(variance / np.maximum(mean**2, NEVER), _REGULAR)
        return _Held(share, mean, scv, held.summed(share * mean))

    def _unlike(
        self,
        queues: _Queues,
        coming: Coming,
        away: FloatArray,
        left: Behind,
        hold: _Held,
        faster: FloatArray,
    ) -> FloatArray:
        """How much longer those wait who find all but one of the threads held, or all of them.

        Beside an exponential law of the holding times: m threads are then a single one that is m
        times as fast, with N - m + 1 members, who come back after the same mean time.
        """
        met, held = queues.met, queues.held
        between = np.maximum(away - left.mean + left.rest, _LEAST)
        often = 1 / between + met.by_server(met.most / coming.away)
        members = 1 + met.members
        back = np.maximum(members / often, NARROW * hold.all)
        members = np.maximum(members - met.servers + 1, 1)
        one = np.ones_like(hold.all)
        law, usual = np.zeros_like(hold.all), np.zeros_like(hold.all)
        mean, all_ = hold.mean * faster[held.sums], hold.all * faster
        waits_of_one(held.begins, members, back, hold.share, mean, hold.scv, law)
        each = np.arange(len(members) + 1)
        waits_of_one(each, members, back, one, np.ascontiguousarray(all_), one, usual)
        return np.asarray(law - usual)

    def _of_queues(
        self,
        queues: _Queues,
        now: State,
        freed: Freed,
        away: FloatArray,
        left: Behind,
        asked: Asked | None,
    ) -> FloatArray:
        """Waits in all queues: for a single thread by M/G/1//N, for several by rates of freeing."""
        met, left, away = queues.met, left.at(queues.comers), away[queues.comers]
        single, whole = queues.threads == 1, now.whole
        one = single[met.owner]
        coming = met.calling(whole)
        if asked:
            coming = coming.where(one, met.between(whole, coming, asked))
        hold, faster = self._held(queues, whole), 1 / freed.at(self.last)
        same = np.where(one, hold.all[met.owner], coming.service)
        seen = met.seen(met.odds(whole, freed, coming, same), freed.rates[self.freed])
        rest = left_over(coming.service, coming.scv, away[met.owner]) - coming.service
        each = met.mixed(seen, np.where(one, coming.service, rest))
        of_rest = seen.full * each * faster
        unlike = seen.nearly * self._unlike(queues, coming, away, left, hold, faster)
        # the first forgets that a full pool stays full, the second that m - 1 threads go on
        both = (np.sign(of_rest) == np.sign(unlike)) * np.where(
            np.abs(of_rest) < np.abs(unlike), of_rest, unlike
        )
        of_one, of_more = seen.beyond * each + unlike, seen.beyond * hold.all * faster + both
        kept = met.kept(coming, seen, now.cycles)
        wait = np.maximum(np.where(single, of_one, of_more), 0.0) * kept
        longer = wait + seen.nearly * left.rest
        beside = self.lasts[queues.pools] & ~single
        if not beside.any():
            return longer
        # all other threads are busy, and the caller's own second phase outlasts its time away
        seconds = self._beside_seconds(queues, now, freed, away, left) * kept
        return np.asarray(np.where(beside, np.maximum(longer, seconds), longer))

    def _beside_seconds(
        self, queues: _Queues, now: State, freed: Freed, away: FloatArray, left: Behind
    ) -> FloatArray:
        """Waits for one of several threads, where callers leave many second phases behind.

        These are as many as in a system without waiting: its last one as `behind` says, and of the
        others a Poisson number, a^k / k! up to the threads. First phases meet as ever. It leaves
        out that second phases keep threads from first ones, so it is short of the wait.
        """
        rate, threads, met = now.cycles * self.works.often, queues.threads, queues.met
        asked, busy = queues.held.of(np.array([rate, rate * now.second]))
        own = self.own.of(rate)[queues.comers] / self.people[queues.comers]
        busy = np.minimum(busy, threads)
        others = busy - np.minimum(own * left.mean, left.chance)
        chance = np.clip(left.chance, _SMALL, 1 - _SMALL)
        coming = met.calling(now)
        service = [busy / np.maximum(asked, NEVER), left.rest / np.maximum(left.chance, NEVER)]
        rest = left_over(coming.service, coming.scv, away[met.owner])
        others, both = np.maximum(others, _SMALL), met.beside
        odds = met.odds(now, freed, coming)
        k = np.concatenate([np.arange(1, m + 1) for m in met.tallest.tolist()])
        poisson = np.repeat(others, met.tallest, axis=0) / k[:, np.newaxis]
        each = met.joined(odds.each, [others, chance / (1 - chance)])
        odds = Odds(each, np.concatenate([odds.ratios, poisson]))
        seen = both.seen(odds, freed.rates[self.freed])
        spent, over = met.joined(coming.service, service), met.joined(rest, service)
        wait = seen.beyond * both.mixed(seen, spent)
        return np.asarray((wait + seen.full * both.mixed(seen, over - spent)) / threads)
