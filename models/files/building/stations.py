"""Stations of a model file, and who comes to them: classes, routes and arrivals."""

from dataclasses import MISSING, fields

from headway.models.files.building.entries import FILE_KEYS, Entries
from headway.models.files.building.expressions import expression, units_of
from headway.models.files.building.forks import FORK, branches_of
from headway.models.language.units import ONE, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.structure import CLASS_KEYS, CLASS_PLACES
from headway.queueing.stations.abilities import Discipline
from headway.queueing.stations.listed.kinds import station_kind

_BY_CLASS = ("service_time", "scv")
_PYTHON_KEYS = {file: python for python, file in FILE_KEYS.items()}


class Stations(Entries):
    """Adds stations to a graph, and routes, arrivals and classes of jobs."""

    def station(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a station."""
        table = {_PYTHON_KEYS.get(k, k): v for k, v in self.entry.stations[name].items()}
        kind, visits = str(table.pop("kind", "")), table.pop("visits", None)
        if kind == FORK:
            return self._fork(graph, name)
        with self.place("stations", name, "kind"):
            made = station_kind(kind)
        blocking = str(table.pop("blocking", ""))
        discipline = str(table.pop("discipline", Discipline.FCFS.value))
        known = {field.name: field for field in fields(made)}  # type: ignore[arg-type]
        keys = [*known, "discipline", "blocking"]
        by_name = made.can.shared or (made.can.loses and "service_time" in known)
        if by_name and isinstance(table.get("service_time"), dict):
            keys.append("service_time")  # alone: also of kinds that say it by other numbers
        self.check_keys("stations", name, table, keys)
        needed = [key for key in known if known[key].default is MISSING]
        missing = [FILE_KEYS.get(key, key) for key in needed if key not in table]
        if missing:
            msg = f"{kind} needs {missing[0]}"
            raise self.place.error(msg, "stations", name)
        values = self.numbers(graph, "stations", name, table, units_of(made))
        by_class = {key: values[key] for key in _BY_CLASS if isinstance(table.get(key), dict)}
        values |= {key: next(iter(each.values()), 0.0) for key, each in by_class.items()}
        read = self.numbers(graph, "stations", name, {} if visits is None else {"visits": visits})
        station = made(**{key: value for key, value in values.items() if key in known})
        times, scvs = (by_class.get(key) for key in _BY_CLASS)
        return graph.station(name, station, read.get("visits"), times, discipline, scvs, blocking)

    def _fork(self, graph: ModelGraph, name: str) -> ModelGraph:
        """Add a fork."""
        table = self.entry.stations[name]
        given = {key: table[key] for key in ("needed", "visits") if key in table}
        read = self.numbers(graph, "stations", name, given)
        return graph.fork(name, branches_of(table), read.get("needed"), read.get("visits"))

    def routes(self, graph: ModelGraph) -> ModelGraph:
        """Add where jobs go."""
        for entry in self.entry.routes:
            with self.place("routes"):
                place = f"route {entry.source} -> {entry.target}: probability"
                share = expression(entry.probability, graph, ONE, place)
                graph = graph.route(
                    entry.source, entry.target, share, entry.job_class, entry.becomes
                )
        return graph.reference(self.entry.reference) if self.entry.reference else graph

    def arrivals(self, graph: ModelGraph) -> ModelGraph:
        """Add where jobs come in."""
        for name, entry in self.entry.arrivals.items():
            with self.place("arrivals", name):
                what = f"arrivals at {name}"
                told = "arrival_rate" if entry.rate is None else entry.rate
                rate = expression(told, graph, unit("op/s"), what)
                scv = None if entry.scv is None else expression(entry.scv, graph, ONE, what)
                graph = graph.arrive(name, rate, scv)
        return graph

    def job_classes(self, graph: ModelGraph) -> ModelGraph:
        """Add classes of jobs."""
        for name, table in self.entry.classes.items():
            self.check_keys("classes", name, table, (*CLASS_KEYS, *CLASS_PLACES))
            named = {key: at for key in CLASS_PLACES if isinstance(at := table.get(key), str)}
            numbers = {key: given for key, given in table.items() if key not in named}
            values = self.numbers(graph, "classes", name, numbers) | named
            with self.place("classes", name):
                each = (values.get(key) for key in (*CLASS_KEYS, *CLASS_PLACES))
                graph = graph.job_class(name, *each)
        return graph
