"""Stations of a model file, and the jobs that come to them: classes, routes and arrivals."""

from collections.abc import Mapping
from dataclasses import fields
from math import inf
from typing import TYPE_CHECKING, Any

from headway.errors import nearest
from headway.models.files.building.arrivals import CLIENT, ENDLESS, NOTICES, parts_of
from headway.models.files.building.entries import Entries
from headway.models.files.building.expressions import (
    FIELD_UNITS,
    expression,
    is_unlimited,
    units_of,
)
from headway.models.files.building.forks import FORK, FORK_KEYS, branches_of
from headway.models.files.building.keys import BY_CLASS, FILE_KEYS, station_keys
from headway.models.files.building.schema import CLASS, Scalar
from headway.models.language.frozen import Frozen
from headway.models.language.units import ONE, unit
from headway.models.structure.building.reading import Expression
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.structure import CLASS_KEYS, CLASS_PLACES
from headway.queueing.disciplines.table import DEFAULT
from headway.queueing.stations.abilities import QueueChoice
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import station_kind, station_kinds

if TYPE_CHECKING:
    from headway.queueing.flows.courses import Course

_PYTHON_KEYS = {file: python for python, file in FILE_KEYS.items()}


class Stations(Entries):
    """Adds stations to a graph, and routes, arrivals and classes of jobs."""

    courses: "Mapping[str, Course]" = Frozen({})
    """Arrivals that follow time, by station."""

    def station(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a station."""
        given = dict(self.entry.stations[name])
        kind = str(given.pop("kind", ""))
        if kind == FORK:
            return self._fork(graph, name)
        made = self._kind(name, kind, given)
        table = {_PYTHON_KEYS.get(key, key): entry for key, entry in given.items()}
        visits, blocking = table.pop("visits", None), str(table.pop("blocking", ""))
        oldest = table.pop("drop_older_than", None)
        discipline = str(table.pop("discipline", DEFAULT))
        route = str(table.pop("route", QueueChoice.RANDOM))
        values = self.numbers(graph, "stations", name, table, units_of(made))
        by_class = {key: values[key] for key in BY_CLASS if isinstance(table.get(key), dict)}
        values |= {key: next(iter(each.values()), 0.0) for key, each in by_class.items()}
        more = {"visits": visits, "drop_older_than": oldest}
        read = self.numbers(
            graph, "stations", name, {key: each for key, each in more.items() if each is not None}
        )
        known = {field.name for field in fields(made)}  # type: ignore[arg-type]
        station = made(**{key: value for key, value in values.items() if key in known})
        times, scvs = (by_class.get(key) for key in BY_CLASS)
        copies = values.get("replicas")
        how = (discipline, scvs, blocking, copies, route, read.get("drop_older_than"))
        return graph.station(name, station, read.get("visits"), times, *how)

    def _kind(self, name: str, kind: str, given: Mapping[str, Any]) -> type[Station]:
        """The kind of a station; refuses keys that it does not have or that it lacks."""
        if not kind:
            msg = f"{name} has no kind{nearest('', station_kinds())}"
            raise self.place.error(msg, "stations", name)
        with self.place("stations", name, "kind"):
            made = station_kind(kind)
        keys = station_keys(made)
        for key in (key for key in given if key in CLIENT and key not in keys):
            where = "[classes.NAME]" if self.entry.classes else f"[arrivals] {name} = {{ ... }}"
            msg = f"{name} has no {key!r}: its clients have it; write it in {where}"
            raise self.place.error(msg, "stations", name, key)
        self.check_keys("stations", name, given, keys)
        if missing := [key for key, allowed in keys.items() if allowed.needed and key not in given]:
            msg = f"{kind} needs {missing[0]}"
            raise self.place.error(msg, "stations", name)
        return made

    def _fork(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a fork."""
        table = self.entry.stations[name]
        given = {key: table[key] for key in ("needed", "visits") if key in table}
        self.check_keys("stations", name, given, FORK_KEYS)
        read = self.numbers(graph, "stations", name, given)
        return graph.fork(name, branches_of(table), read.get("needed"), read.get("visits"))

    def routes(self, graph: ModelGraph) -> ModelGraph:
        """Add routes."""
        for entry in self.entry.routes:
            with self.place("routes"):
                place = f"route {entry.source} -> {entry.target}: probability"
                share = expression(entry.probability, graph, ONE, place)
                graph = graph.route(
                    entry.source, entry.target, share, entry.job_class, entry.becomes
                )
        return graph.reference(self.entry.reference) if self.entry.reference else graph

    def arrivals(self, graph: ModelGraph) -> ModelGraph:
        """Add arrivals."""
        for name, entry in self.entry.arrivals.items():
            with self.place("arrivals", name):
                what = f"arrivals at {name}"
                text = "arrival_rate" if entry.rate is None else entry.rate
                rate = expression(text, graph, unit("op/s"), what)
                scv = None if entry.scv is None else expression(entry.scv, graph, ONE, what)
                batch = None if entry.batch is None else self._batch(entry.batch, graph, what)
                graph = graph.arrive(name, rate, scv, batch, self.courses.get(name))
                graph = self._clients(graph, entry.clients, what)
        return graph

    def _clients(
        self, graph: ModelGraph, table: Mapping[str, Any], what: str, job_class: str = ""
    ) -> ModelGraph:
        """Add clients that give up, if a table says anything about them."""
        given = {key: value for key, value in table.items() if key in CLIENT}
        if not given:
            return graph
        notices, numbers = bool(given.pop(NOTICES, False)), {}
        for key, name, text in parts_of(given):
            wanted, endless = FIELD_UNITS.get(name, ONE), name in ENDLESS and is_unlimited(text)
            numbers[name] = inf if endless else expression(text, graph, wanted, f"{what}: {key}")
        graph = graph.impatient(numbers, job_class, server_notices=notices)
        graph.clients[job_class].check_returns(loses=graph.refuses)
        return graph

    def _batch(
        self, entry: Scalar | Mapping[str, Scalar], graph: ModelGraph, what: str
    ) -> Expression | dict[str, Expression]:
        """Sizes of batches: a number, or numbers by size or by word."""
        if isinstance(entry, str | int | float):
            return expression(entry, graph, ONE, what)
        return {key: expression(one, graph, ONE, what) for key, one in entry.items()}

    def job_classes(self, graph: ModelGraph) -> ModelGraph:
        """Add classes of jobs."""
        for name, table in self.entry.classes.items():
            self.check_keys("classes", name, table, CLASS)
            named = {key: at for key in CLASS_PLACES if isinstance(at := table.get(key), str)}
            own = {*named, *CLIENT}
            numbers = {key: given for key, given in table.items() if key not in own}
            values = self.numbers(graph, "classes", name, numbers) | named
            with self.place("classes", name):
                each = (values.get(key) for key in (*CLASS_KEYS, *CLASS_PLACES))
                graph = graph.job_class(name, *each)
                graph = self._clients(graph, table, f"class {name}", name)
        return graph
