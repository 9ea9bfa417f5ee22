"""Services played event by event, which write the spans of OpenTelemetry: the truth is known.

Nothing of headway is used. Each service has threads in order of arrival, which a request holds
from the first of its work to its answer; its work is a sleep, or shares processors.
"""

import heapq
import json
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

SERVER, CLIENT, PRODUCER, CONSUMER = 2, 3, 4, 5
_NANO = 1_000_000_000
_LINKED = "traceId", "spanId"
_EPOCH = 1_700_000_000 * _NANO


@dataclass(frozen=True)
class Stage:
    """Calls made together, so many times.

    Parameters
    ----------
    callees
        Entries; several are called at once.
    law
        ``fixed``, ``geometric`` or ``maybe``.
    mean
        How often the stage comes on average.
    timeout
        How long a caller waits before it goes on without an answer [s].
    sent
        How, for messages that nobody waits for: ``traced`` with who sends them, or ``linked`` to
        it from a trace of their own.
    """

    callees: tuple[str, ...]
    law: str = "fixed"
    mean: float = 1.0
    timeout: float = inf
    sent: str = ""

    def times(self, draws: random.Random) -> int:
        """How often it comes for one request."""
        if self.law == "fixed":
            return round(self.mean)
        if self.law == "maybe":
            return int(draws.random() < self.mean)
        count = 0
        while draws.random() < self.mean / (1 + self.mean):
            count += 1
        return count


@dataclass(frozen=True)
class PlayedEntry:
    """An entry: its service, its mean work for a request [s], and its stages in order."""

    service: str
    work: float
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class Played:
    """Services: threads by name, entries by name, and the entries that outsiders ask."""

    threads: Mapping[str, float]
    entries: Mapping[str, PlayedEntry]
    roots: Mapping[str, float]
    network: float = 0.0003

    def holding(self) -> dict[str, float]:
        """Mean time for which a thread of each entry is held if nobody waits [s]."""
        held: dict[str, float] = {}

        def of(name: str) -> float:
            if name not in held:
                entry = self.entries[name]
                calls = sum(
                    stage.mean * max(of(callee) + self.network for callee in stage.callees)
                    for stage in entry.stages
                    if not stage.sent
                )
                held[name] = entry.work + calls
            return held[name]

        for name in self.entries:
            of(name)
        return held

    def visits(self) -> dict[str, float]:
        """Mean requests for each entry, for one from outside."""
        visits = dict.fromkeys(self.entries, 0.0)

        def add(name: str, mean: float) -> None:
            visits[name] += mean
            for stage in self.entries[name].stages:
                for callee in stage.callees:
                    add(callee, mean * stage.mean)

        for root, share in self.roots.items():
            add(root, share)
        return visits


@dataclass
class PlayedSpan:
    """A span: its trace and itself, its parent, whose work it is, and when [s]."""

    trace: str
    key: str
    parent: str
    service: str
    name: str
    kind: int
    start: float
    end: float = 0.0
    failed: bool = False
    linked: tuple[str, str] | None = None


class _Playing:
    """Events in the order of time, and requests as generators that wait for them."""

    def __init__(self, played: Played, seed: int) -> None:
        self.played, self.draws = played, random.Random(seed)
        self.now, self.count = 0.0, 0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.free = dict(played.threads)
        self.lines: dict[str, deque[Callable[[], None]]] = {s: deque() for s in played.threads}
        self.spans: list[PlayedSpan] = []
        self.begun: dict[str, str] = {}  # traces of messages, and those of who sent them
        self.times: list[tuple[float, float]] = []

    def at(self, time: float, what: Callable[[], None]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, what))

    def identifier(self, digits: int) -> str:
        return f"{self.draws.getrandbits(4 * digits):0{digits}x}"

    def request(self, name: str, trace: str, parent: str, done: Callable[[], None]) -> None:
        """A request for an entry; `done` when it is answered."""
        entry = self.played.entries[name]
        span = PlayedSpan(trace, self.identifier(16), parent, entry.service, name, SERVER, self.now)
        self.spans.append(span)

        def begin() -> None:
            self.go_on(self.work(entry, span), ended)

        def ended() -> None:
            span.end = self.now
            if self.lines[entry.service]:
                self.lines[entry.service].popleft()()
            else:
                self.free[entry.service] += 1
            done()

        if self.free[entry.service] > 0:
            self.free[entry.service] -= 1
            begin()
        else:
            self.lines[entry.service].append(begin)

    def message(self, name: str, sender: PlayedSpan, *, linked: bool) -> None:
        """A message for an entry, which begins a trace if it is linked to who sent it."""
        trace, parent = sender.trace, sender.key
        if linked:
            trace, parent = self.identifier(32), ""
            self.begun[trace] = self.begun.get(sender.trace, sender.trace)
        self.request(name, trace, parent, lambda: None)
        self.spans[-1].kind = CONSUMER
        self.spans[-1].linked = (sender.trace, sender.key) if linked else None

    def go_on(
        self, steps: Iterator[Callable[[Callable[[], None]], None]], end: Callable[[], None]
    ) -> None:
        """Do the next step, and go on when it is done."""
        step = next(steps, None)
        if step is None:
            end()
        else:
            step(lambda: self.go_on(steps, end))

    def work(
        self, entry: PlayedEntry, span: PlayedSpan
    ) -> Iterator[Callable[[Callable[[], None]], None]]:
        stages = [s for stage in entry.stages for s in [stage] * stage.times(self.draws)]
        means = 1 + sum(stage.mean for stage in entry.stages)
        for stage in stages:
            yield self.sleep(entry.work / means)
            yield self.messages(stage, span) if stage.sent else self.calls(stage, span)
        yield self.sleep(entry.work / means)

    def sleep(self, mean: float) -> Callable[[Callable[[], None]], None]:
        return lambda go_on: self.at(self.now + self.draws.expovariate(1 / mean), go_on)

    def calls(self, stage: Stage, span: PlayedSpan) -> Callable[[Callable[[], None]], None]:
        def do(go_on: Callable[[], None]) -> None:
            waits: list[PlayedSpan] = []

            def end(client: PlayedSpan, *, failed: bool = False) -> None:
                if client not in waits:  # it was given up, or answered
                    return
                client.end, client.failed = self.now, failed
                waits.remove(client)
                if not waits:
                    go_on()

            def answered(client: PlayedSpan) -> Callable[[], None]:
                return lambda: self.at(self.now + self.network(), lambda: end(client))

            for callee in stage.callees:
                client = PlayedSpan(
                    span.trace,
                    self.identifier(16),
                    span.key,
                    span.service,
                    "HTTP GET",
                    CLIENT,
                    self.now,
                )
                self.spans.append(client)
                waits.append(client)
                if stage.timeout < inf:
                    self.at(self.now + stage.timeout, lambda s=client: end(s, failed=True))
                self.at(
                    self.now + self.network(),
                    lambda c=callee, s=client: self.request(c, s.trace, s.key, answered(s)),
                )

        return do

    def messages(self, stage: Stage, span: PlayedSpan) -> Callable[[Callable[[], None]], None]:
        def do(go_on: Callable[[], None]) -> None:
            for callee in stage.callees:
                about = span.trace, self.identifier(16), span.key, span.service, "send", PRODUCER
                sender = PlayedSpan(*about, self.now, self.now)
                self.spans.append(sender)
                self.at(
                    self.now + self.network(),
                    lambda c=callee, s=sender: self.message(c, s, linked=stage.sent == "linked"),
                )
            go_on()

        return do

    def network(self) -> float:
        return self.draws.expovariate(2 / self.played.network)

    def play(self, rate: float, traces: int, warm: int) -> None:
        """Poisson arrivals; spans of the first ones are thrown away."""
        roots, shares = zip(*self.played.roots.items(), strict=True)
        arrival = 0.0
        kept = set()
        for k in range(warm + traces):
            arrival += self.draws.expovariate(rate)
            root = self.draws.choices(roots, shares)[0]
            trace = self.identifier(32)
            if k >= warm:
                kept.add(trace)

            def come(
                root: str = root, trace: str = trace, when: float = arrival, k: int = k
            ) -> None:
                def done() -> None:
                    if k >= warm:
                        self.times.append((when, self.now - when))

                self.request(root, trace, "", done)

            self.at(arrival, come)
        while self.events:
            self.now, _, what = heapq.heappop(self.events)
            what()
        begun = self.begun
        self.spans = [s for s in self.spans if begun.get(s.trace, s.trace) in kept]


@dataclass(frozen=True)
class PlayedLoad:
    """The spans of each trace of a load, and what its requests took on average [s]."""

    traces: tuple[tuple[PlayedSpan, ...], ...]
    response_time: float
    rate: float

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """As OTLP, a line a trace."""
        return tuple(json.dumps(document_of(each)) for each in self.traces)


def play(
    played: Played,
    rate: float,
    traces: int,
    seed: int,
    *,
    skews: Mapping[str, float] | None = None,
    kept: float = 1.0,
    silent: Sequence[str] = (),
    warm: int = 200,
) -> PlayedLoad:
    """Play a load.

    Parameters
    ----------
    played, rate, traces, seed
        The services, Poisson arrivals [1/s], and how many traces are written.
    skews
        What is added to the clock of a service [s].
    kept
        Share of traces that are written, whole, chosen at their head.
    silent
        Services that write no spans and pass no context on.
    """
    playing = _Playing(played, seed)
    playing.play(rate, traces, warm)
    spans: dict[str, list[PlayedSpan]] = {}
    hidden = {(s.trace, s.key) for s in playing.spans if s.service in silent}
    begun: dict[tuple[str, str], str] = {}  # traces of spans, callers before those they call
    for span in playing.spans:
        if span.service in silent:
            continue
        above, parent = (span.trace, span.parent), span.parent
        trace = begun.get(above, span.trace)
        if above in hidden:  # what it called begins a trace of its own
            trace, parent = f"{span.key}{span.key}", ""
        begun[span.trace, span.key] = trace
        move = (skews or {}).get(span.service, 0.0)
        times = span.start + move, span.end + move
        spans.setdefault(trace, []).append(
            replace(span, trace=trace, parent=parent, start=times[0], end=times[1])
        )
    chosen = random.Random(seed + 1)
    written = tuple(tuple(each) for each in spans.values() if chosen.random() < kept)
    took = [time for _, time in playing.times]
    return PlayedLoad(written, sum(took) / len(took), rate)


def capacity(played: Played, seed: int = 0) -> float:
    """The rate at which overloaded services answer: of 1,500 requests at once [1/s]."""
    playing = _Playing(played, seed)
    playing.play(1e6, 1500, 0)
    return 1500 / max(when + time for when, time in playing.times)


def document_of(spans: Sequence[PlayedSpan]) -> dict[str, Any]:
    """One trace as an OTLP document."""
    by_service: dict[str, list[dict[str, Any]]] = {}
    for span in spans:
        by_service.setdefault(span.service, []).append(
            {
                "traceId": span.trace,
                "spanId": span.key,
                "parentSpanId": span.parent,
                "name": span.name,
                "kind": span.kind,
                "startTimeUnixNano": str(_EPOCH + round(span.start * _NANO)),
                "endTimeUnixNano": str(_EPOCH + round(span.end * _NANO)),
                "attributes": [{"key": "peer.service", "value": {"stringValue": "somebody"}}]
                if span.kind in (CLIENT, PRODUCER)
                else [],
                **({"status": {"code": 2}} if span.failed else {}),
                **(
                    {"links": [dict(zip(_LINKED, span.linked, strict=True))]} if span.linked else {}
                ),
            }
        )
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [{"key": "service.name", "value": {"stringValue": service}}]
                },
                "scopeSpans": [{"spans": each}],
            }
            for service, each in by_service.items()
        ]
    }


def drawn(seed: int, least: int = 3, most: int = 8) -> Played:
    """Draw services at random: `least` to `most`, in layers, some with small pools."""
    draws = random.Random(seed)
    count = draws.randint(least, most)
    names = [f"s{k}" for k in range(count)]
    entries: dict[str, PlayedEntry] = {}
    for k in reversed(range(count)):
        below = [f"{names[j]} work" for j in range(k + 1, count)]
        callees = draws.sample(below, min(len(below), draws.randint(1, 3))) if below else []
        stages: list[Stage] = []
        while callees:
            if len(callees) > 1 and draws.random() < 0.4:
                stages.append(Stage((callees.pop(), callees.pop())))
                continue
            law = draws.choice(["fixed", "geometric", "maybe"])
            mean = {
                "fixed": float(draws.randint(1, 2)),
                "geometric": draws.uniform(0.4, 1.8),
                "maybe": draws.uniform(0.2, 0.8),
            }[law]
            stages.append(Stage((callees.pop(),), law, mean))
        work = draws.uniform(0.002, 0.02)
        entries[f"{names[k]} work"] = PlayedEntry(names[k], work, tuple(stages))
    called = {c for e in entries.values() for s in e.stages for c in s.callees}
    roots = [name for name in entries if name not in called]
    shares = [draws.uniform(0.3, 1.0) for _ in roots]
    free = Played(
        dict.fromkeys(names, inf),
        entries,
        dict(zip(roots, [s / sum(shares) for s in shares], strict=True)),
    )
    held, visits = free.holding(), free.visits()
    rate = 100.0
    threads = {}
    for name in names:
        offered = rate * sum(
            visits[e] * held[e] for e, entry in entries.items() if entry.service == name
        )
        tight = draws.random() < 0.4
        threads[name] = (
            float(max(1, round(offered * draws.uniform(1.0, 1.4) + 0.5)))
            if tight
            else (float(round(offered * 4) + 20))
        )
    return Played(threads, entries, free.roots)
