"""Networks of other tools as headway's models: kinds of station, parameters, names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from headway.errors import GraphError, ModelFileError
from headway.models.importing.foreign.naming import plain_names
from headway.models.importing.foreign.network import (
    ForeignClass,
    ForeignNetwork,
    ForeignStation,
    Serves,
)
from headway.models.importing.orders import check_times, ranks
from headway.models.language.parameters import Parameter
from headway.models.language.units import ONE, Unit, unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.numerals import four_digits
from headway.queueing.network.blocking import Blocking
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import station_kind
from headway.records import dataclass

_SECONDS, _RATE = unit("s"), unit("op/s")


@dataclass(frozen=True)
class Imported:
    """A model of another tool's file.

    Parameters
    ----------
    model
        The headway model.
    network
        The contents of the file.
    stations, classes
        Names in the model, by names in the file.
    """

    model: Model
    network: ForeignNetwork
    stations: Mapping[str, str]
    classes: Mapping[str, str]


def imported(network: ForeignNetwork, source: str) -> Imported:
    """Build a model from the contents of a file.

    Parameters
    ----------
    network, source
        The contents of the file, and its name for messages.

    Raises
    ------
    ModelFileError
        For stations that headway has no kind for; says why.
    """
    stations = plain_names(s.name for s in network.stations)
    classes = plain_names(c.name for c in network.classes)
    names = Names(network, stations, classes)
    _check_arrivals(network, source)
    try:
        graph = _graph(network, names, source)
        model = Model.of(graph)
        circulating = network.classes[0].population
        if network.classless and circulating is not None:
            model = model.closed(circulating)
        given = {p.name: p for p in names.parameters()}
        parameters = {n: given.get(n, p) for n, p in model.parameters.items()}
        model = replace(
            model,
            parameters=parameters,
            doc=_doc(network),
            assumptions=_assumptions(network, names),
        )
    except GraphError as error:
        msg = f"{source}: {error}"
        raise ModelFileError(msg) from None
    return Imported(model, network, stations, classes)


@dataclass(frozen=True)
class Names:
    """Names in the model of stations, classes and their numbers."""

    network: ForeignNetwork
    stations: Mapping[str, str]
    classes: Mapping[str, str]

    @property
    def regions(self) -> Mapping[str, str]:
        """Names of regions; they differ from those of stations and classes."""
        taken = [*self.stations.values(), *self.classes.values()]
        plain = plain_names([*taken, *(f"{r.name} " for r in self.network.regions)])
        return {r.name: plain[f"{r.name} "] for r in self.network.regions}

    def time(self, station: ForeignStation, job_class: str) -> str:
        """The parameter for the service time of a class."""
        if len({times.mean for times in station.times.values()}) == 1:
            return f"{self.stations[station.name]}_service_time"
        return f"{self.stations[station.name]}_{self.classes[job_class]}_service_time"

    def servers(self, station: ForeignStation) -> str:
        """The parameter for the number of servers."""
        return f"{self.stations[station.name]}_servers"

    def jobs(self, job_class: ForeignClass) -> str:
        """The parameter for the arrival rate or population of a class."""
        what = "arrival_rate" if job_class.arrivals else "population"
        if self.network.classless:
            return what
        return f"{self.classes[job_class.name]}_{what}"

    def parameters(self) -> Iterator[Parameter]:
        """Every parameter with its value."""
        for job_class in self.network.classes:
            if job_class.arrivals is None and job_class.population is None:
                continue
            if self.network.classless and job_class.population is not None:
                continue
            open_rate = job_class.arrivals and 1 / job_class.arrivals.mean
            value = float(open_rate or job_class.population or 0)
            shown = _RATE if job_class.arrivals else ONE
            yield _parameter(self.jobs(job_class), value, shown, f"of {job_class.name}")
        for station in self.network.stations:
            if station.serves is Serves.VARYING:
                continue
            for job_class_name, times in station.times.items():
                name = self.time(station, job_class_name)
                yield _parameter(name, times.mean, _SECONDS, f"at {station.name}")
            if station.servers > 1:
                yield _parameter(self.servers(station), station.servers, ONE, f"at {station.name}")


def _parameter(name: str, value: float, shown: Unit, doc: str) -> Parameter:
    return Parameter(name, value, shown, minimum=0.0, doc=doc)


def _graph(network: ForeignNetwork, names: Names, source: str) -> ModelGraph:
    given = dict.fromkeys(parameter.name for parameter in names.parameters())
    graph = ModelGraph(network.name).declare(*given)
    for station in network.stations:
        graph = _with_station(graph, network, station, names, source)
    for (start, end), share in network.routes.items():
        graph = graph.route(names.stations[start], names.stations[end], share)
    for name, share in network.entries.items():
        rate = f"{share!r} * arrival_rate" if network.classless else share
        graph = graph.arrive(names.stations[name], rate)
    for region in network.regions:
        members = [names.stations[name] for name in region.stations]
        graph = graph.region(names.regions[region.name], members, float(region.limit))
    for job_class in () if network.classless else network.classes:
        graph = _with_class(graph, network, job_class, names)
    for ((c, start), (becomes, end)), share in network.class_routes.items():
        turned = names.classes[becomes] if becomes != c else ""
        ends = names.stations[start], names.stations[end]
        graph = graph.route(*ends, share, names.classes[c], turned)
    return graph


def _with_class(
    graph: ModelGraph, network: ForeignNetwork, job_class: ForeignClass, names: Names
) -> ModelGraph:
    """Add a class; where jobs change class, also the stations where it enters."""
    name, jobs = names.classes[job_class.name], names.jobs(job_class)
    entries = network.class_entries.get(job_class.name, {})
    shares = {names.stations[station]: share for station, share in entries.items()}
    by_turns = any(station.order.by_priority for station in network.stations)
    turn = ranks(c.priority for c in network.classes)[job_class.priority] if by_turns else None
    if job_class.population is not None:
        begins = names.stations[job_class.reference] if network.routes else None
        first = next(iter(shares), begins)
        return graph.job_class(name, population=jobs, priority=turn, reference=first)
    rate = jobs if job_class.arrivals else 0.0
    spread = job_class.arrivals.scv if job_class.arrivals else 1.0
    scv = spread if _is_general(network, job_class) else None
    return graph.job_class(name, rate, priority=turn, arrives=shares or None, arrival_scv=scv)


def _with_station(
    graph: ModelGraph, network: ForeignNetwork, imported: ForeignStation, names: Names, source: str
) -> ModelGraph:
    """Add a station, with visits by class where there are no routes."""
    if imported.branches:
        branches = [names.stations[branch] for branch in imported.branches]
        shared = None if network.entries else network.of_all(imported.name)
        return graph.fork(names.stations[imported.name], branches, imported.needed, shared)
    place = f"{source}: {imported.name}"
    _check_served(network, imported, place)
    kind = _kind(network, imported, names, place)
    by_class = _times_by_class(network, imported, names)
    lone = _is_lone(network, imported)
    order = check_times(imported, _come(network, imported), place, lone=lone)
    spreads = _spreads(imported, names) if kind.can.spread else None
    return graph.station(
        names.stations[imported.name],
        kind,
        _visits_of(network, imported, names, by_class),
        by_class,
        order,
        scvs=spreads,
        blocking=Blocking.AFTER_SERVICE if imported.blocking else Blocking.LOST,
    )


def _check_served(network: ForeignNetwork, imported: ForeignStation, place: str) -> None:
    """Refuse visits of classes that have no service time there."""
    for each in network.classes:
        if network.visits.get((imported.name, each.name)) and each.name not in imported.times:
            msg = (
                f"{place}: class {each.name} visits this station but has no service time there; "
                "give one"
            )
            raise ModelFileError(msg)


def _times_by_class(
    network: ForeignNetwork, imported: ForeignStation, names: Names
) -> dict[str, str] | None:
    """Service times by class, where they differ, or some classes have none."""
    times = {names.classes[c]: names.time(imported, c) for c in imported.times}
    alike = len(set(times.values())) <= 1 and len(times) >= len(network.classes)
    one = len(network.classes) == 1 or imported.serves is Serves.VARYING
    return None if alike or one else times


def _visits_of(
    network: ForeignNetwork,
    imported: ForeignStation,
    names: Names,
    times: Mapping[str, str] | None,
) -> dict[str, float] | float | None:
    """Mean visits of classes that are served there, or of all; None where routes tell them."""
    if network.entries or network.class_entries or network.routes:
        return None
    if network.classless:
        return network.of_all(imported.name)
    visits = {
        names.classes[c.name]: network.visits.get((imported.name, c.name), 0.0)
        for c in network.classes
    }
    return {c: v for c, v in visits.items() if times is None or c in times}


def _come(network: ForeignNetwork, imported: ForeignStation) -> list[str]:
    """Classes that visit a station, as whole jobs or as parts of forked ones."""
    parts = any(imported.name in station.branches for station in network.stations)
    return [c.name for c in network.classes if parts or network.visits.get((imported.name, c.name))]


def _is_lone(network: ForeignNetwork, imported: ForeignStation) -> bool:
    """Whether a station is the only queue, and each open class visits it once and never changes."""
    queues = [s.name for s in network.stations if s.serves is not Serves.AT_ONCE]
    closed = any(c.population is not None for c in network.classes)
    once = all(network.visits.get((imported.name, c.name), 0.0) <= 1 for c in network.classes)
    return queues == [imported.name] and once and not closed and not network.class_entries


def _spreads(imported: ForeignStation, names: Names) -> dict[str, float] | None:
    """Squared coefficients of variation by class, where they differ."""
    scvs = {names.classes[c]: imported.times[c].scv for c in imported.times}
    return scvs if len(set(scvs.values())) > 1 else None


def _kind(network: ForeignNetwork, imported: ForeignStation, names: Names, place: str) -> Station:
    """Return a station of the kind that serves as the file says.

    Raises
    ------
    ModelFileError
        If headway has no such kind; says why.
    """
    if imported.serves is Serves.VARYING:
        return _made("LoadDependent", rates=list(imported.rates))
    time = names.time(imported, next(iter(imported.times))) if imported.times else 0.0
    if imported.serves is Serves.AT_ONCE:
        return _made("Delay", service_time=time)
    several = {} if imported.servers == 1 else {"servers": names.servers(imported)}
    arrivals = network.classes[0].arrivals
    if arrivals is not None and arrivals.scv != 1 and _is_alone(network):
        scv = next(iter(imported.times.values())).scv
        servers = names.servers(imported) if several else 1
        return _made("GGm", service_time=time, servers=servers, arrival_scv=arrivals.scv, scv=scv)
    scvs = {imported.times[c].scv for c in _come(network, imported) if c in imported.times}
    if imported.places is not None:
        _check_room(network, imported, scvs, place)
        return _made(
            "MMmK" if several else "MM1K", service_time=time, places=imported.places, **several
        )
    nothing = imported.servers == 1 and not any(t.mean for t in imported.times.values())
    if scvs <= {1.0} or imported.order.newest_first or nothing:
        return _made("MMm" if several else "MM1", service_time=time, **several)
    _check_general(network, imported, place)
    return _made("MGm" if several else "MG1", service_time=time, scv=max(scvs), **several)


def _made(kind: str, **numbers: object) -> Station:  # numbers of any kind, as station files do
    return station_kind(kind)(**numbers)


def _check_room(
    network: ForeignNetwork, imported: ForeignStation, scvs: set[float], place: str
) -> None:
    """Refuse limited room for jobs of several classes, or for closed ones."""
    arrive = network.classes[0].arrivals is not None
    is_one = len(network.classes) == 1 and (arrive or imported.blocking)
    back = network.routes.get((imported.name, imported.name), 0.0)
    if (
        is_one
        and scvs <= {1.0}
        and imported.order.in_turn
        and not back
        and imported.servers <= (imported.places or 0)
    ):
        return
    who = "one class" if imported.blocking else "one open class"
    msg = (
        f"{place}: a limit of {imported.places} jobs is supported only for {who}, served in "
        "order of arrival with exponential times, by no more servers than places, and not sent "
        "straight back"
    )
    raise ModelFileError(msg)


def _check_general(network: ForeignNetwork, imported: ForeignStation, place: str) -> None:
    """Refuse times that are not exponential where only exponential ones have a solution."""
    what = "service times that are not exponential"
    if network.routes.get((imported.name, imported.name)):
        msg = (
            f"{place}: {what} are not supported where jobs go straight back to the end of the "
            "same queue"
        )
        raise ModelFileError(msg)


def _check_arrivals(network: ForeignNetwork, source: str) -> None:
    """Refuse arrivals that are not Poisson before forks, through which nothing propagates them."""
    for job_class in network.classes:
        if not _is_general(network, job_class) or not network.classless:
            continue
        scv = four_digits(job_class.arrivals.scv if job_class.arrivals else 1.0)
        msg = (
            f"{source}: class {job_class.name}: arrivals that are not Poisson (scv {scv}) are not "
            "supported in networks with forks; use exponential interarrival times"
        )
        raise ModelFileError(msg)


def _is_general(network: ForeignNetwork, job_class: ForeignClass) -> bool:
    """Whether a class has arrivals that are not Poisson and go through a network."""
    arrivals = job_class.arrivals
    return arrivals is not None and arrivals.scv != 1 and not _is_alone(network)


def _is_alone(network: ForeignNetwork) -> bool:
    """Whether one open class visits one queue once, in order of arrival and without a limit."""
    if not len(network.stations) == len(network.classes) == 1:
        return False
    station = network.stations[0]
    in_turn = station.order.in_turn and station.places is None
    plain = station.serves is Serves.QUEUE and in_turn
    enters = network.entries.get(station.name, 0.0) == 1 and not network.routes
    return plain and enters


def _doc(network: ForeignNetwork) -> str:
    return f"imported from a {network.kind} file"


def _assumptions(network: ForeignNetwork, names: Names) -> str:
    """The notes of a file, and the names that differ from the file's."""
    both = {**names.stations, **names.classes}
    called = [f"{new} is called {old!r}" for old, new in both.items() if old != new]
    notes = [*network.notes, *(["in the file, " + ", ".join(called)] if called else [])]
    return "; ".join(notes)
