"""The kinds of small networks that are drawn; each takes a source of chance."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

import tomli_w

from tests.brute.drawing import (
    SMALL,
    Drawn,
    Entry,
    Shares,
    Size,
    Sketch,
    Station,
    crowd,
    routes_by_class,
    same_for_all,
    shared,
    shares,
    times,
    varying,
)
from tests.brute.forked import Forked, solve_forked
from tests.brute.held_up import Blocking, Crowd, Region, solve_blocking, solve_region
from tests.brute.network import Hops, Jobs
from tests.brute.orders import HeadOfLine, Line, Lottery, Place, Preemptive, Sharing, Stack, Unequal

Maker: TypeAlias = Callable[[str, Random, Size], Drawn]

_ORDERS: dict[str, Any] = {
    "ps": Sharing,
    "fcfs": Line,
    "lcfs": Stack,
    "siro": Lottery,
    "priority": HeadOfLine,
    "preemptive": Preemptive,
}


def drawn(seed: int, size: Size = SMALL) -> Drawn:
    """Draw the network of a seed: the same on every machine; kinds take turns."""
    kinds = list(KINDS)
    kind = kinds[seed % len(kinds)]
    return KINDS[kind](kind, Random(seed), size)


def _one_closed(kind: str, draw: Random, size: Size) -> Drawn:
    jobs = [Jobs("all", None, draw.randint(1, size.jobs + 2), draw.choice((0.0, 0.5, 2.0)))]
    return _plain(kind, draw, jobs, size)


def _one_open(kind: str, draw: Random, size: Size) -> Drawn:
    return _plain(kind, draw, [Jobs("all", 1.5 * size.rate)], size)


def _plain(kind: str, draw: Random, jobs: list[Jobs], size: Size) -> Drawn:
    made = [
        varying(draw) if draw.random() < 0.2 else shared(draw, 1) for _ in range(size.several(draw))
    ]
    hops = same_for_all(shares(draw, len(made)), 1)
    return Sketch(draw, made, jobs, hops).finished(kind)


def _classes(kind: str, draw: Random, size: Size) -> Drawn:
    jobs = crowd(draw, size)
    made = [shared(draw, len(jobs)) for _ in range(size.several(draw))]
    return Sketch(draw, made, jobs, same_for_all(shares(draw, len(made)), len(jobs))).finished(kind)


def _routed(kind: str, draw: Random, size: Size) -> Drawn:
    """Every class by routes of its own, entering where it will; closed ones come back there."""
    sketch = _with_classes(draw, crowd(draw, size), size)
    places = len(sketch.stations)
    by_name, back = {}, []
    for c, job in enumerate(sketch.classes):
        enters = draw.randrange(places)
        sketch.classes[c] = replace(job, enters={enters: 1.0})
        by_name[job.name] = f"s{enters}"
        if not job.is_open:
            back.append((c, enters))
        ways = shares(draw, places)
        sketch.hops |= {(k, c): [(p, t, c) for p, t in row] for k, row in ways.items()}
    for c, enters in back:  # in the file as a matrix that nothing leaves
        for k in range(places):
            sketch.hops[k, c] = _merged(
                [(p, enters if t is None else t, d) for p, t, d in sketch.hops[k, c]]
            )
    _entering(sketch, by_name)
    sketch.extra["routes"] = routes_by_class(sketch.hops, [job.name for job in sketch.classes])
    for c, enters in back:  # in the chain a round ends there
        for k in range(places):
            sketch.hops[k, c] = [
                (p, None if t == enters else t, d) for p, t, d in sketch.hops[k, c]
            ]
    return sketch.finished(kind)


def _merged(hops: Hops) -> Hops:
    """Ways to one station and class added up."""
    by_name: dict[tuple[int | None, int], float] = {}
    for share, target, becomes in hops:
        by_name[target, becomes] = by_name.get((target, becomes), 0.0) + share
    return [(share, target, becomes) for (target, becomes), share in by_name.items()]


def _entering(sketch: Sketch, settings: dict[str, str]) -> Sketch:
    """Say where classes enter, in the words of a model file."""
    document = sketch.document()
    for job in sketch.classes:
        key = "arrives" if job.is_open else "reference"
        document["classes"][job.name][key] = settings[job.name]
    sketch.extra = {"classes": document["classes"]}
    return sketch


def _with_classes(draw: Random, jobs: list[Jobs], size: Size) -> Sketch:
    made = [shared(draw, len(jobs)) for _ in range(size.several(draw, 2))]
    return Sketch(draw, made, jobs)


def _switched(kind: str, draw: Random, size: Size) -> Drawn:
    """Open jobs that turn into another class and leave as it."""
    sketch = _with_classes(draw, [Jobs("a", size.rate), Jobs("b", size.rate / 2)], size)
    _switching(sketch, shares(draw, len(sketch.stations)))
    return sketch.finished(kind)


def _circling(kind: str, draw: Random, size: Size) -> Drawn:
    """Closed jobs that turn into one another, by a matrix that nothing leaves."""
    numbers = draw.randint(1, size.jobs), draw.randint(0, size.jobs - 1)
    jobs = [Jobs(name, None, number) for name, number in zip("ab", numbers, strict=True)]
    sketch = _with_classes(draw, jobs, size)
    ways = shares(draw, len(sketch.stations))
    ways = {k: [(p, 0 if t is None else t) for p, t in row] for k, row in ways.items()}
    _switching(sketch, ways)
    return sketch.finished(kind)


def _in_order(kind: str, draw: Random, size: Size) -> Drawn:
    """Closed jobs that turn into one another, at stations in order of arrival."""
    numbers = draw.randint(1, size.jobs), draw.randint(0, size.jobs - 1)
    jobs = [Jobs(name, None, number) for name, number in zip("ab", numbers, strict=True)]
    made = [_station(draw, "fcfs", 2) for _ in range(size.several(draw, 2))]
    sketch = Sketch(draw, made, jobs)
    ways = shares(draw, len(made))
    _switching(sketch, {k: [(p, t or 0) for p, t in row] for k, row in ways.items()})
    return sketch.finished(kind)


def _switching(sketch: Sketch, ways: Shares) -> None:
    """The same ways for both classes, the first turning into the second here and there."""
    for k, row in ways.items():
        for c in (0, 1):
            rows: Hops = []
            for share, target in row:
                turn = 0.0 if target is None else sketch.draw.choice((0.0, 0.3, 1.0))
                parts = ((c, 1 - turn), (1 - c, turn))
                rows += [(share * part, target, becomes) for becomes, part in parts if part]
            sketch.hops[k, c] = _merged(rows)
    sketch.hops[0, 0] = _both(sketch.hops[0, 0])


def _both(hops: Hops) -> Hops:
    """Let half of a hop that stays inside turn, so that both classes are one chain."""
    place = next((i for i, (_, t, d) in enumerate(hops) if t is not None and d == 0), None)
    if place is None or any(d == 1 and t is not None for _, t, d in hops):
        return hops
    share, target, _ = hops[place]
    return [*hops[:place], (share / 2, target, 0), (share / 2, target, 1), *hops[place + 1 :]]


def _ordered(discipline: str) -> Maker:
    """Classes with times of their own at stations of one order of service."""

    def make(kind: str, draw: Random, size: Size) -> Drawn:
        jobs = crowd(draw, replace(size, jobs=max(size.jobs - 1, 1)), opened=0.3)
        made = [
            _station(draw, discipline, len(jobs)) for _ in range(draw.randint(1, size.stations - 1))
        ]
        hops = same_for_all(shares(draw, len(made)), len(jobs))
        sketch = Sketch(draw, made, jobs, hops)
        ranks = made[0].place.ranks
        if ranks:
            classes = sketch.document()["classes"]
            for job, rank in zip(jobs, ranks, strict=True):
                classes[job.name]["priority"] = rank
            sketch.extra = {"classes": classes}
            sketch.stations = [_ranked(station, ranks) for station in made]
        return sketch.finished(kind)

    return make


def _ranked(station: Station, ranks: tuple[int, ...]) -> Station:
    return Station(station.entry, replace(station.place, ranks=ranks))


def _station(draw: Random, discipline: str, classes: int) -> Station:
    servers = draw.choice((1, 1, 2))
    entry: Entry = {"kind": "MM1" if servers == 1 else "MMm", "discipline": discipline}
    if servers > 1:
        entry["servers"] = servers
    ranks = tuple(draw.randint(1, 2) for _ in range(classes))
    ranked = discipline in ("priority", "preemptive")
    place: Place = _ORDERS[discipline](
        times(draw, classes, alike=draw.random() < 0.3),
        servers=servers,
        ranks=ranks if ranked else (),
    )
    return Station(entry, place)


def _with_varying(kind: str, draw: Random, size: Size) -> Drawn:
    """Classes that share a station whose rate depends on how many are there."""
    jobs = crowd(draw, size)
    one = varying(draw)
    place = replace(one.place, times=(1.0,) * len(jobs))
    made = [Station(one.entry, place), shared(draw, len(jobs))]
    return Sketch(draw, made, jobs, same_for_all(shares(draw, 2), len(jobs))).finished(kind)


def _unlike(kind: str, draw: Random, size: Size) -> Drawn:
    """One class, open or closed, at servers of unequal speed."""
    needed, blindly = times(draw, draw.randint(2, 3)), draw.random() < 0.5
    name = "UnequalServers" if blindly else "FastestFirst"
    entry = {"kind": name, "service_times": list(needed)}
    made = [Station(entry, Unequal(needed, blindly=blindly))]
    made += [shared(draw, 1) for _ in range(draw.randint(0, size.stations - 2))]
    job = Jobs("all", None, draw.randint(1, size.jobs + 2), draw.choice((0.0, 0.5)))
    jobs = [job if draw.random() < 0.5 else Jobs("all", 1.5 * size.rate)]
    return Sketch(draw, made, jobs, same_for_all(shares(draw, len(made)), 1)).finished(kind)


def _roomy(kind: str, draw: Random, size: Size) -> Drawn:
    """Open classes at one station with little room."""
    jobs = [Jobs(name, draw.choice((1.0, 3.0))) for name in "ab"]
    servers = draw.randint(1, 2)
    room = servers + draw.randint(0, 3)
    needed = times(draw, 2, alike=draw.random() < 0.5)
    entry = {"kind": "MMmK", "servers": servers, "capacity": room}
    station = Station(entry, Line(needed, servers=servers, room=room))
    return Sketch(draw, [station], jobs, same_for_all({0: [(1.0, None)]}, 2)).finished(kind)


def _blocked(blocking: str) -> Maker:
    def make(kind: str, draw: Random, size: Size) -> Drawn:
        count = size.several(draw, 2)
        rooms = tuple(draw.randint(1, 3) for _ in range(count))
        closed = draw.random() < 0.5
        ways: Shares = {k: [(1.0, k + 1)] for k in range(count - 1)}
        ways[count - 1] = [(1.0, 0 if closed else None)]
        needed = times(draw, count)
        jobs = draw.randint(1, sum(rooms) - 1)
        some = Crowd(population=jobs) if closed else Crowd(draw.choice((1.0, 4.0)))
        network = Blocking(needed, rooms, ways, some, repeats=blocking == "repetitive")
        stations = {
            f"s{k}": {"kind": "MM1K", "service_time": s, "capacity": room, "blocking": blocking}
            for k, (s, room) in enumerate(zip(needed, rooms, strict=True))
        }
        document = _alone(stations, ways, some)
        return Drawn(kind, tomli_w.dumps(document), lambda: solve_blocking(network))

    return make


def _alone(stations: Entry, ways: Shares, some: Crowd) -> Entry:
    """A model file of one class."""
    routes = [
        {"from": f"s{k}", "to": f"s{target}", "probability": share}
        for k, row in ways.items()
        for share, target in row
        if target is not None
    ]
    given: Entry = {"arrival_rate": some.rate} if some.rate else {"population": some.population}
    if some.population and some.think_time:
        given["think_time"] = some.think_time
    return {"name": "drawn", "parameters": given, "stations": stations, "routes": routes}


def _limited(kind: str, draw: Random, size: Size) -> Drawn:
    """Two or three stations of which some share a limit."""
    count = size.several(draw, 2)
    servers = tuple(draw.choice((1, 1, 2, float("inf"))) for _ in range(count))
    ways = shares(draw, count)
    closed = draw.random() < 0.5
    some = (
        Crowd(population=draw.randint(2, size.jobs + 2), think_time=0.5)
        if closed
        else Crowd(1.0, cap=12)
    )
    needed = times(draw, count)
    inside = frozenset(range(draw.randint(0, 1), count))
    limit = draw.randint(1, 3)
    network = Region(needed, servers, ways, some, inside, limit)
    stations = {f"s{k}": _named(s, m) for k, (s, m) in enumerate(zip(needed, servers, strict=True))}
    document = _alone(stations, ways, some)
    document["regions"] = {"few": {"stations": [f"s{k}" for k in sorted(inside)], "limit": limit}}
    return Drawn(kind, tomli_w.dumps(document), lambda: solve_region(network))


def _named(time: float, servers: float) -> Entry:
    kind = {1: "MM1", float("inf"): "Delay"}.get(servers, "MMm")
    return {"kind": kind, "service_time": time} | ({"servers": servers} if kind == "MMm" else {})


def _forked(kind: str, draw: Random, size: Size) -> Drawn:
    """A fork to two or three stations, open or closed."""
    count = size.several(draw, 2)
    needed = times(draw, count, alike=draw.random() < 0.4)
    closed = draw.random() < 0.4
    wanted = count if closed else draw.randint(1, count)
    if closed:
        network = Forked(needed, wanted, population=draw.randint(1, 2 * size.jobs), think_time=0.5)
    else:
        network = Forked(needed, wanted, rate=draw.choice((0.5, 1.5)), cap=13)
    stations = {"door": {"kind": "Delay", "service_time": 0.0}}
    stations |= {f"s{k}": _named(time, 1) for k, time in enumerate(needed)}
    some = Crowd(network.rate, network.population, network.think_time)
    document = _alone(stations, {}, some)
    branches = [f"s{k}" for k in range(count)]
    document["routes"] = [{"from": "door", "parallel": branches, "needed": wanted}]
    return Drawn(kind, tomli_w.dumps(document), lambda: solve_forked(network))


KINDS: dict[str, Maker] = {
    "one class, closed": _one_closed,
    "one class, open": _one_open,
    "classes": _classes,
    "routes by class": _routed,
    "switching, open": _switched,
    "switching, closed": _circling,
    "switching, fcfs": _in_order,
    **{f"classes, {name}": _ordered(name) for name in _ORDERS},
    "classes, varying speed": _with_varying,
    "unequal servers": _unlike,
    "classes, little room": _roomy,
    "blocking after service": _blocked("after service"),
    "repetitive service": _blocked("repetitive"),
    "region": _limited,
    "fork and join": _forked,
}
