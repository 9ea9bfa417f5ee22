"""Random small models as the text of model files: every kind of station, open, closed, mixed."""

from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import tomli_w

from headway.queueing.stations.listed.kinds import STATIONS, station_kind
from tests.support.random_language import with_more_settings

_TIMES = ("1 ms", "5 ms", "20 ms", "0.3 s")
_RATES = (0.1, 0.7, 3.0, 20.0)
_ADDED = ("batch_time", "request_time", "wake_up")
_COUNTS = ("servers", "capacity", "crowd", "largest_batch", "branches", "needed")
_FIELDS = (
    "service_time",
    "scv",
    "arrival_scv",
    "rates",
    "service_times",
    "growth",
    *_COUNTS,
    *_ADDED,
)
_SAYS_MORE = 3


@dataclass(frozen=True)
class RandomModel:
    """A model file's text, and the parameter that is its load."""

    text: str
    load: str


def random_model(seed: int) -> RandomModel:
    """Write the model of a seed: the same on every machine.

    Every third says more, by draws of its own: the others stay as they are when the language grows.
    """
    writer = _Writer(Random(seed))
    document = writer.document()
    if seed % _SAYS_MORE == 1:
        document = with_more_settings(document, Random(f"more {seed}"))
    return RandomModel(tomli_w.dumps(document), writer.load)


class _Writer:
    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.parameters: dict[str, object] = {}
        self.classes: dict[str, dict[str, object]] = {}
        self.load = "arrival_rate"

    def document(self) -> dict[str, Any]:
        draw, document = self.draw, {"name": "random"}
        count = draw.choices((0, 1, 2, 3), (5, 1, 3, 1))[0]
        self._job_classes(count)
        names = [f"s{k}" for k in range(draw.randint(1, 3))]
        with_link = draw.random() < 0.3
        if with_link:
            document["links"] = {"eth": {"platform": draw.choice(("now", "paragon"))}}
        visits = draw.random() < 0.4
        stations = {name: self._station(name, visits, with_link) for name in names}
        routes = [] if visits else self._routes(names)
        outputs = {}
        if draw.random() < 0.4:
            outputs["inside"] = {"formula": "throughput * response_time"}
        if draw.random() < 0.2 and not self.classes:
            outputs["sum_of_times"] = {
                "formula": " + ".join(f"{n}.response_time" for n in names),
                "unit": "ms",
            }
        document |= {"parameters": self.parameters, "stations": stations}
        if routes:
            document["routes"] = routes
        if not self.classes and not visits and draw.random() < 0.2:
            self._arrivals(document, names)
        if self.classes:
            document["classes"] = self.classes
        if outputs:
            document["outputs"] = outputs
        return document

    def _arrivals(self, document: dict, names: list[str]) -> None:
        if self.load != "arrival_rate":
            return
        document["arrivals"] = dict.fromkeys(names[:2], "arrival_rate * 0.5")
        if self.draw.random() < 0.5:
            self.parameters["rate_2"] = "1 op/s"
            document["arrivals"][names[-1]] = "rate_2"

    def _job_classes(self, count: int) -> None:
        draw = self.draw
        closed = draw.random() < 0.35
        if not count:
            if closed:
                self.load = "population"
                self.parameters["population"] = draw.randint(0, 12)
                self.parameters["think_time"] = draw.choice(("0 s", "50 ms", "2 s"))
            else:
                self.parameters["arrival_rate"] = f"{draw.choice(_RATES)} op/s"
            return
        for k in range(count):
            name = "abc"[k]
            if draw.random() < 0.5:
                self.classes[name] = {"population": self._count(f"users_{name}", 0, 4)}
                if draw.random() < 0.5:
                    self.classes[name]["think_time"] = draw.choice(_TIMES)
            else:
                rate = f"{draw.choice(_RATES) / count:.3g} op/s"
                self.classes[name] = {"arrival_rate": self._given(f"rate_{name}", rate)}
        first = self.classes["a"]
        key = "population" if "population" in first else "arrival_rate"
        self.load = "load"
        self.parameters["load"] = draw.randint(1, 4) if key == "population" else "0.5 op/s"
        first[key] = "load"

    def _given(self, name: str, value: object) -> object:
        """A number as it is, or by a parameter of its own."""
        if self.draw.random() < 0.5:
            return value
        self.parameters[name] = value
        return name

    def _count(self, name: str, low: int, high: int) -> object:
        return self._given(name, self.draw.randint(low, high))

    def _station(self, name: str, visits: bool, with_link: bool) -> dict[str, object]:
        draw = self.draw
        kinds = [k for k in STATIONS if self._allowed(k)]
        kind = draw.choice(kinds)
        keys = [key for key in _FIELDS if key in _keys(kind)]
        entry: dict[str, object] = {"kind": kind}
        for key in keys:
            entry[key] = self._number(name, key, with_link)
        if "capacity" in keys and "servers" in keys:
            entry["servers"], entry["capacity"] = 2, self._count(f"k_{name}", 2, 6)
        if "needed" in keys:
            entry["branches"] = 5
        if kind == "Quota":
            entry["quota"], entry["period"] = draw.choice((0.3, 0.8, 1)), draw.choice(_TIMES)
        if isinstance(entry.get("service_time"), dict) and "population" in str(self.classes):
            # In order of arrival, answers jump where times become equal and the solution exact.
            entry["discipline"] = "ps"
        if visits:
            entry["visits"] = self._visits(name)
        return entry

    def _allowed(self, kind: str) -> bool:
        can = station_kind(kind).can
        if len(self.classes) > 1:
            return can.shared or self.draw.random() < 0.03
        closed = self.load == "population" or any("population" in c for c in self.classes.values())
        return can.product_form is not None or not closed or self.draw.random() < 0.05

    def _number(self, name: str, key: str, with_link: bool) -> object:
        draw = self.draw
        if key == "rates":
            return [self._given(f"r{k}_{name}", f"{draw.randint(1, 90)} op/s") for k in range(3)]
        if key == "service_times":
            times = [self._time(name, with_link) for _ in range(2)]
            return [next(iter(t.values())) if isinstance(t, dict) else t for t in times]
        if key in _ADDED:
            return self._given(f"{key}_{name}", draw.choice(_TIMES))
        if key in _COUNTS:
            return self._count(f"{key[0]}_{name}", 1, 5)
        if key in ("scv", "arrival_scv", "growth"):
            return self._given(f"{key}_{name}", draw.choice((0, 0.3, 1, 4)))
        return self._time(name, with_link)

    def _time(self, name: str, with_link: bool) -> object:
        draw = self.draw
        if len(self.classes) > 1 and draw.random() < 0.4:
            return {c: self._given(f"t_{c}_{name}", draw.choice(_TIMES)) for c in self.classes}
        time = self._given(f"t_{name}", draw.choice(_TIMES))
        if draw.random() < 0.15 and with_link:
            self.parameters[f"base_{name}"] = time if time not in self.parameters else "1 ms"
            return f"base_{name} + eth.latency + 2 * eth.overhead"
        if draw.random() < 0.12 and not self.classes:
            self.parameters[f"base_{name}"] = time if time not in self.parameters else "1 ms"
            self.parameters[f"slope_{name}"] = "10 us*s"
            return f"base_{name} + slope_{name} * throughput"
        return time

    def _visits(self, name: str) -> object:
        draw = self.draw
        if len(self.classes) and draw.random() < 0.4:
            return {
                c: self._given(f"v_{c}_{name}", draw.choice((0, 0.5, 1, 3))) for c in self.classes
            }
        return self._given(f"v_{name}", draw.choice((0, 0.3, 1, 2, 7)))

    def _routes(self, names: list[str]) -> list[dict[str, object]]:
        draw, routes = self.draw, []
        for before, after in pairwise(names):
            share = self._given(f"p_{after}", draw.choice((1.0, 0.6, 0.25)))
            routes.append({"from": before, "to": after, "probability": share})
        if draw.random() < 0.4:
            back = self._given("p_back", draw.choice((0.0, 0.2, 0.5)))
            routes.append({"from": names[-1], "to": names[0], "probability": back})
        return routes


def _keys(kind: str) -> set[str]:
    from dataclasses import fields

    named = {"places": "capacity"}
    return {named.get(f.name, f.name) for f in fields(station_kind(kind))}  # type: ignore[arg-type]
