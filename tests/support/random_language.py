"""What the language can say beyond stations, routes and classes, put into a drawn model file.

Orders of service and priorities, routes by class, forks to unlike stations, regions, blocking,
caches and arrivals of any spread: one or two of them, mostly as they are meant, now and then as
they must be refused.
"""

from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

Document = dict[str, Any]

_PLAIN = ("MM1", "MM1", "MMm", "Delay")
_ORDERS = ("ps", "fcfs", "lcfs", "siro", "priority", "preemptive")
_SHARES = (0.2, 0.5, 0.9)
_POLICIES = ("lru", "fifo", "random")
_SLIP = 0.06
"""Share of choices that are made as they must not be."""


def with_more_settings(document: Document, draw: Random) -> Document:
    """Say one or two more things in a model file's document."""
    if draw.random() < 0.7:
        _make_plain(document, draw)
    useful = [say for say in _SAYINGS if document.get("classes") or say not in _OF_CLASSES]
    for say in draw.sample(useful, draw.choice((1, 1, 2))):
        say(document, draw)
    return document


def _make_plain(document: Document, draw: Random) -> None:
    """Stations of exponential service, so that little is refused for its kind."""
    for name, entry in document["stations"].items():
        time = entry.get("service_time", f"{draw.randint(1, 30)} ms")
        kept = {key: entry[key] for key in ("visits", "discipline") if key in entry}
        plain = {"kind": draw.choice(_PLAIN), "service_time": time}
        document["stations"][name] = plain | kept
        if plain["kind"] == "MMm":
            document["stations"][name]["servers"] = draw.randint(1, 3)


def _orders(document: Document, draw: Random) -> None:
    for entry in document["stations"].values():
        if draw.random() < 0.7:
            entry["discipline"] = draw.choice(_ORDERS)
    for job_class in document["classes"].values():
        if draw.random() > _SLIP:
            job_class["priority"] = draw.choice((1, 1, 2, 3))


def _spreads(document: Document, draw: Random) -> None:
    """Times of any spread, by class."""
    for entry in document["stations"].values():
        if draw.random() < 0.7:
            entry["kind"] = draw.choice(("MG1", "MGm"))
            entry["scv"] = {c: draw.choice((0, 0.5, 1, 4)) for c in document["classes"]}
            entry.setdefault("service_time", "5 ms")
            for key in entry.keys() - {"kind", "scv", "service_time", "visits", "discipline"}:
                del entry[key]
            if entry["kind"] == "MGm":
                entry["servers"] = draw.randint(1, 3)


def _entrances(document: Document, draw: Random) -> None:
    names = list(document["stations"])
    for job_class in document["classes"].values():
        closed = ("population" in job_class) != (draw.random() < _SLIP)
        if closed:
            job_class["reference"] = draw.choice(names)
        elif draw.random() < 0.5:
            job_class["arrives"] = draw.choice(names)
        else:
            job_class["arrives"] = {name: 1 / len(names) for name in names}


def _class_routes(document: Document, draw: Random) -> None:
    """Routes of one class each, which turn jobs into others."""
    names, classes = _routed(document), list(document["classes"])
    for route in document["routes"]:
        if draw.random() < 0.5:
            route["class"] = draw.choice(classes)
            if draw.random() < 0.5:
                route["becomes"] = draw.choice(classes)
    for _ in range(draw.randint(1, 2)):
        route = {"from": draw.choice(names), "to": draw.choice(names)}
        route |= {"probability": draw.choice(_SHARES), "class": draw.choice(classes)}
        document["routes"].append(route | {"becomes": draw.choice(classes)})


def _ring(document: Document, draw: Random) -> None:
    """A closed routing matrix: what leaves the last station begins at the first."""
    names = _routed(document)
    document["routes"] = [
        {"from": name, "to": names[(k + 1) % len(names)]} for k, name in enumerate(names)
    ]
    if draw.random() < 0.4:
        document["reference"] = draw.choice(names)


def _forks(document: Document, draw: Random) -> None:
    names = _routed(document)
    branches = [f"f{k}" for k in range(draw.randint(2, 3))]
    for name in branches:
        time = f"{draw.choice((1, 5, 20))} ms"
        document["stations"][name] = {"kind": draw.choice(_PLAIN[:2]), "service_time": time}
    fork = {"from": names[-1], "parallel": branches}
    document["routes"] = [r for r in document["routes"] if r["from"] != names[-1]] + [fork]
    if draw.random() < 0.4:
        fork["needed"] = draw.randint(0 if draw.random() < _SLIP else 1, len(branches))
    if draw.random() < 0.3 and len(names) > 1:
        document["stations"]["reply"] = {"kind": "MM1", "service_time": "2 ms"}
        fork["to"] = "reply"
    if draw.random() < 0.3:
        fork["probability"] = draw.choice(_SHARES)


def _regions(document: Document, draw: Random) -> None:
    names = list(document["stations"])
    inside = draw.sample(names, draw.randint(1, len(names)))
    limit: object = draw.randint(0 if draw.random() < _SLIP else 1, 6)
    if draw.random() < 0.5:
        document["parameters"]["limit"] = limit
        limit = draw.choice(("limit", "limit + 1"))
    document["regions"] = {"pool": {"stations": inside, "limit": limit}}


def _blocks(document: Document, draw: Random) -> None:
    _routed(document)
    for name, entry in document["stations"].items():
        if draw.random() < 0.6:
            servers = draw.choice((1, 1, 2))
            kind = {"kind": "MM1K"} if servers == 1 else {"kind": "MMmK", "servers": servers}
            time = entry.get("service_time", "5 ms")
            document["stations"][name] = {
                **kind,
                "service_time": time,
                "capacity": draw.randint(servers - (draw.random() < _SLIP), 4),
                "blocking": draw.choice(("after service", "repetitive")),
            }


def _caches(document: Document, draw: Random) -> None:
    size, objects = draw.choice((1, 10, 50)), draw.choice((20, 100))
    cache: Document = {"policy": draw.choice(_POLICIES), "size": size, "objects": objects}
    if draw.random() < 0.3:
        cache["policy"] = draw.choice(("ttl", "ttl-renewed"))
        del cache["size"]
        cache |= {"lifetime": "1.7 s", "rate": draw.choice(("10 /s", "throughput"))}
    if draw.random() < 0.5:
        cache["exponent"] = draw.choice((0, 0.8, 1, 1.3))
    document["caches"] = {"memory": cache}
    if draw.random() < 0.5 and "size" in cache:
        document["parameters"]["held"] = size
        cache["size"] = "held"
    routes = document.get("routes")
    if routes and draw.random() < 0.6:
        routes[0]["probability"] = "memory.miss_ratio"
    else:
        entry = draw.choice(list(document["stations"].values()))
        if "service_time" in entry:
            entry["service_time"] = "2e-3 + 8e-3 * memory.miss_ratio"


def _arrivals(document: Document, draw: Random) -> None:
    """Arrivals whose spread is told."""
    names = _routed(document)
    rate: object = "arrival_rate" if "arrival_rate" in document["parameters"] else "2 op/s"
    entry = {"rate": rate, "scv": draw.choice((0, 0.3, 1, 2.5, 9))}
    if draw.random() < _SLIP:
        entry["scv"] = -1
    document["arrivals"] = {draw.choice(names): entry}
    if draw.random() < 0.3:
        document["arrivals"][names[0]] = "1 op/s"


def _routed(document: Document) -> list[str]:
    """Names of the stations, with routes between them in place of visits."""
    names = list(document["stations"])
    for entry in document["stations"].values():
        entry.pop("visits", None)
    if not document.get("routes"):
        routes = [{"from": a, "to": b} for a, b in pairwise(names)]
        document["routes"] = routes
    return names


_SAYINGS: tuple[Callable[[Document, Random], None], ...] = (
    _orders,
    _spreads,
    _entrances,
    _class_routes,
    _ring,
    _forks,
    _regions,
    _blocks,
    _caches,
    _arrivals,
)
_OF_CLASSES = (_orders, _spreads, _entrances, _class_routes)
