"""Random small networks, each as the text of a model file and as what solves its whole chain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import tomli_w

from tests.brute.network import Hops, Jobs, Network, Truth, solve_network
from tests.brute.orders import Apart, Place, Sharing

TIMES = (0.02, 0.05, 0.1, 0.2, 0.3)

Entry = dict[str, Any]
Shares = dict[int, list[tuple[float, int | None]]]


@dataclass(frozen=True)
class Drawn:
    """A network of some kind, as a model file and as what solves its whole chain."""

    kind: str
    text: str
    solve: Callable[[], Truth]


@dataclass(frozen=True)
class Size:
    """How large networks are drawn: the most stations, classes, jobs of a class, and its load."""

    stations: int
    classes: int
    jobs: int
    rate: float

    def several(self, draw: Random, least: int = 1) -> int:
        """A number of stations."""
        return draw.randint(least, self.stations)


SMALL = Size(stations=3, classes=3, jobs=3, rate=0.2)
"""Networks whose whole chains are solved."""

LARGE = Size(stations=7, classes=4, jobs=12, rate=0.8)
"""Networks that are simulated."""


@dataclass(frozen=True)
class Station:
    """A station as a model file has it but for its times, and as part of a chain."""

    entry: Mapping[str, Any]
    place: Place


@dataclass
class Sketch:
    """What is drawn so far: stations, classes, and by station and class where jobs go."""

    draw: Random
    stations: list[Station] = field(default_factory=list)
    classes: list[Jobs] = field(default_factory=list)
    hops: dict[tuple[int, int], Hops] = field(default_factory=dict)
    extra: Entry = field(default_factory=dict)

    def document(self) -> Entry:
        """The model file."""
        by_name: Entry = {"name": "drawn", "stations": self._stations(), **self._crowd()}
        routes = routes_by_class(self.hops, [job.name for job in self.classes])
        return by_name | ({"routes": routes} if routes else {}) | self.extra

    def _stations(self) -> Entry:
        return {f"s{k}": self._station(station) for k, station in enumerate(self.stations)}

    def _station(self, station: Station) -> Entry:
        if {"rates", "service_times"} & set(station.entry):
            return dict(station.entry)
        times = station.place.times
        if len(set(times)) == 1:
            return {**station.entry, "service_time": times[0]}
        named = zip(self.classes, times, strict=True)
        return {**station.entry, "service_time": {job.name: time for job, time in named}}

    def _crowd(self) -> Entry:
        if len(self.classes) == 1:
            return {"parameters": numbers(self.classes[0])}
        return {"classes": {job.name: numbers(job) for job in self.classes}}

    def finished(self, kind: str) -> Drawn:
        """The network drawn."""
        places = tuple(station.place for station in self.stations)
        network = Network(places, tuple(self.classes), dict(self.hops))
        return Drawn(kind, tomli_w.dumps(self.document()), lambda: solve_network(network))


def numbers(job: Jobs) -> Entry:
    """A class's own numbers as a model file has them."""
    if job.is_open:
        return {"arrival_rate": job.rate}
    return {"population": job.population, "think_time": job.think_time}


def routes_by_class(hops: Mapping[tuple[int, int], Hops], names: list[str]) -> list[Entry]:
    """Routes as model files have them: without a class where all have the same."""
    stations = sorted({k for k, _ in hops})
    listed = []
    for k in stations:
        rows = [hops[k, c] for c in range(len(names))]
        plain = [sorted((t is None, t or 0, p) for p, t, _ in row) for row in rows]
        stays = all(d == c for c, row in enumerate(rows) for _, _, d in row)
        alike = stays and all(row == plain[0] for row in plain)
        for c, row in enumerate(rows[:1] if alike else rows):
            for share, target, becomes in row:
                if target is None:
                    continue
                route: Entry = {"from": f"s{k}", "to": f"s{target}", "probability": share}
                if not alike:
                    route["class"] = names[c]
                if becomes != c:
                    route["becomes"] = names[becomes]
                listed.append(route)
    return listed


def crowd(draw: Random, size: Size, opened: float = 0.35) -> list[Jobs]:
    """Two classes or more, some of them open."""
    rows = []
    for name in "abcd"[: draw.choice((2, 2, *range(3, size.classes + 1)))]:
        if draw.random() < opened:
            rows.append(Jobs(name, size.rate))
        else:
            think = draw.choice((0.0, 0.5, 2.0))
            rows.append(Jobs(name, None, draw.randint(1, size.jobs), think))
    return rows


def times(draw: Random, classes: int, alike: bool = False) -> tuple[float, ...]:
    """Mean service times by class."""
    if alike:
        return (draw.choice(TIMES),) * classes
    return tuple(draw.choice(TIMES) for _ in range(classes))


def shared(draw: Random, classes: int) -> Station:
    """A station that keeps a product form, whatever the classes."""
    kind = draw.choice(("Delay", "MM1", "MMm", "Parallel"))
    needed = times(draw, classes)
    entry: Entry = {"kind": kind}
    if classes > 1 and kind != "Delay":
        entry["discipline"] = "ps"
    if kind == "Delay":
        return Station(entry, Sharing(needed, servers=float("inf")))
    if kind == "MM1":
        return Station(entry, Sharing(needed))
    entry["servers"] = servers = draw.randint(2, 3)
    return Station(entry, (Apart if kind == "Parallel" else Sharing)(needed, servers=servers))


def varying(draw: Random) -> Station:
    """A station that serves at a rate for each number present."""
    rates = [round(draw.uniform(2.0, 20.0), 2) for _ in range(draw.randint(1, 3))]

    def speed(n: int) -> float:
        return rates[min(n, len(rates)) - 1]

    return Station({"kind": "LoadDependent", "rates": rates}, Sharing((1.0,), speed=speed))


def shares(draw: Random, count: int) -> Shares:
    """On to the next station, sometimes back; the last one leaves."""
    by_name: Shares = {}
    for k in range(count):
        onward = k + 1 if k + 1 < count else None
        back = draw.choice((0.0, 0.0, 0.3, 0.5))
        by_name[k] = [(1 - back, onward)] + ([(back, draw.randint(0, k))] if back else [])
    return by_name


def same_for_all(ways: Shares, classes: int) -> dict[tuple[int, int], Hops]:
    """The ways of every class."""
    return {(k, c): [(p, t, c) for p, t in row] for k, row in ways.items() for c in range(classes)}
