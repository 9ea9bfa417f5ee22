"""Errors for closed networks with forks, by simulation.

``python -m tests.campaigns.closed_forks`` simulates again what `tests/data/closed_forks.csv`
contains (a minute) and prints the table of docs/accuracy.md; the tests recompute the table from
that file.

Jobs think, go through a processor, and fork; in the second half of the cases they go on before all
their parts are done. Queues are in order of arrival, so only arrivals are events: a part begins
when it has arrived and a server is free.

Constants or labels of `headway.queueing.closed.forked` and `headway.queueing.forks.closed` rest on
it.
"""

import csv
import heapq
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.queueing import MG1, MM1, Delay, ForkJoin, MMm
from tests.campaigns import stored_numbers

PAGE = Path("tests/data/closed_forks.csv")
TITLES = ("case", "throughput", "response")
SEED, CASES, ROUNDS = 1718, 192, 60_000


class Case:
    """A network, always the same for its number."""

    def __init__(self, number):
        random = np.random.default_rng([SEED, number])
        self.alike = number % 2 == 0
        self.population = int(random.choice([1, 2, 3, 5, 10, 20, 50]))
        self.think = float(random.choice([0.0, 2.0, 10.0, 30.0]))
        self.cpu = float(random.choice([0.0, 0.5, 0.9]))
        count = int(random.choice([2, 3, 8, 16, 64] if self.alike else [2, 2, 3, 4, 8]))
        scv, servers = float(random.choice([0.0, 0.5, 1.0, 1.0, 1.0, 2.0])), [1] * count
        times, scvs = np.ones(count), np.full(count, scv)
        if not self.alike:
            times = random.choice([1.0, 0.9, 0.7, 0.4], count)
            scvs = random.choice([0.0, 0.5, 1.0, 1.0, 2.0], count)
            servers = [int(s) for s in random.choice([1, 1, 2, 4], count)]
            scvs[np.array(servers) > 1] = 1.0
        self.branches = list(zip((times * servers).tolist(), scvs.tolist(), servers, strict=True))
        self.needed = count
        if number >= CASES // 2:
            self.needed = int(random.choice([1, max(count // 2, 1), count - 1]))
            self.think = self._slow(random)

    def _slow(self, random):
        """Think time at which the slowest branch keeps up, whatever parts are first."""
        if self.alike:
            return float(random.choice([2.0, 10.0, 30.0]))
        return self.population * float(random.choice([1.25, 2.0, 5.0]))

    def model(self):
        """The network as a model."""
        graph = ModelGraph("forked").station("cpu", MM1(self.cpu))
        if self.alike:
            time, scv, _ = self.branches[0]
            graph = graph.station("fork", ForkJoin(time, len(self.branches), self.needed, scv))
        else:
            for k, (time, scv, servers) in enumerate(self.branches):
                one = MG1(time, scv) if servers == 1 else MMm(time, servers)
                graph = graph.station(f"disk{k}", one)
            names = [f"disk{k}" for k in range(len(self.branches))]
            graph = graph.fork("fork", names, self.needed)
        graph = graph.station("end", Delay(0.0)).route("cpu", "fork").route("fork", "end")
        return graph.at().closed(population=self.population, think_time=self.think)

    def simulated(self, rounds=ROUNDS):
        """Throughput, and time from the end of thinking to the join."""
        random = np.random.default_rng([SEED, self.population, len(self.branches)])
        free = [[0.0] * servers for _, _, servers in self.branches]
        busy, done, began, total, warm = 0.0, 0, 0.0, 0.0, rounds // 10
        events = [(self._thought(random), k, 0.0, False) for k in range(self.population)]
        heapq.heapify(events)
        now = 0.0
        while done < rounds:
            now, job, came, forks = heapq.heappop(events)
            if not forks:
                busy = max(busy, now) + (random.exponential(self.cpu) if self.cpu else 0.0)
                heapq.heappush(events, (busy, job, now, True))
                continue
            end = self._join(random, free, now)
            done += 1
            if done == warm:
                began, total = now, 0.0
            total += end - came
            heapq.heappush(events, (end + self._thought(random), job, 0.0, False))
        return (rounds - warm) / (now - began), total / (rounds - warm)

    def _thought(self, random):
        return random.exponential(self.think) if self.think else 0.0

    def _join(self, random, free, now):
        ends = []
        for servers, (time, scv, _) in zip(free, self.branches, strict=True):
            taken = time * random.gamma(1 / scv, scv) if scv else time
            end = max(heapq.heappop(servers), now) + taken
            heapq.heappush(servers, end)
            ends.append(end)
        return sorted(ends)[self.needed - 1]


def stored():
    """The simulated numbers, shape (cases, titles)."""
    return stored_numbers(PAGE, TITLES)


def summary_rows(actual):
    """Rows of the table: needed, branches, jobs, cases, errors of throughput and response [%]."""
    cases, missed = [Case(int(number)) for number in actual[:, 0]], []
    for case, (_, rate, time) in zip(cases, actual, strict=True):
        solved = case.model().solve()
        missed.append((solved.throughput / rate - 1, solved.response_time / time - 1))
    errors, rows = 100 * np.abs(np.array(missed)), []
    every = [case.needed == len(case.branches) for case in cases]
    for needed, alike in ((True, True), (True, False), (False, True), (False, False)):
        for low, high in ((1, 1), (2, 5), (10, 50)):
            some = [
                whole == needed and c.alike == alike and low <= c.population <= high
                for c, whole in zip(cases, every, strict=True)
            ]
            jobs = "1" if high == 1 else f"{low} to {high}"
            kind = "all" if needed else "some", "alike" if alike else "unlike"
            rows.append((*kind, jobs, sum(some), errors[some].T))
    return rows


def table(rows):
    """The rows as a page shows them: the largest error and, in brackets, the 95th percentile."""
    head = "| needed | branches | jobs | cases | throughput | response time |"
    lines = [head, "|---|---|---|---|---|---|"]
    for *which, parts in rows:
        cells = [f"{part.max():.1f}% ({np.quantile(part, 0.95):.1f})" for part in parts]
        lines.append("| " + " | ".join(map(str, (*which, *cells))) + " |")
    return "\n".join(lines)


def main():
    """Simulate again."""
    with PAGE.open("w", encoding="utf-8", newline="") as file:
        file.write("# Simulated by tests/campaigns/closed_forks.py.\n")
        written = csv.writer(file, lineterminator="\n")
        written.writerow(TITLES)
        for number in range(CASES):
            case = Case(number)
            rounds = ROUNDS if len(case.branches) < 16 else ROUNDS // 4
            written.writerow([number, *(f"{x:.6g}" for x in case.simulated(rounds))])
    print(table(summary_rows(stored())))


if __name__ == "__main__":
    main()
