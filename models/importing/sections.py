"""Recognise boxes of JSIMg files by their sections; refuse unsupported ones by name."""

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.distributions import times_of
from headway.models.importing.foreign.network import ForeignStation, Serves, ServiceTimes
from headway.models.importing.foreign.numbers import name_of, whole
from headway.models.importing.foreign.parameters import ForeignParameter, by_class, entry
from headway.models.importing.orders import PREEMPTIVE, order_of
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.table import DEFAULT
from headway.records import dataclass

SOURCE, SINK, PASSED, JOIN = "source", "sink", "passed", "join"
"""Sources, sinks, boxes that take no time, and joins."""

_ROLES = {
    ("RandomSource", "ServiceTunnel", "Router"): SOURCE,
    ("JobSink",): SINK,
    ("Queue", "ServiceTunnel", "Router"): PASSED,
    ("Queue", "LogTunnel", "Router"): PASSED,
    ("Queue", "ClassSwitch", "Router"): PASSED,
    ("Queue", "Delay", "Router"): Serves.AT_ONCE,
    ("Queue", "Server", "Router"): Serves.QUEUE,
    ("Queue", "PSServer", "Router"): Serves.QUEUE,
    ("Queue", PREEMPTIVE, "Router"): Serves.QUEUE,
    ("Queue", "ServiceTunnel", "Fork"): Serves.FORK,
    ("Join", "ServiceTunnel", "Router"): JOIN,
}

_REFUSED = {
    "Storage": "a Place of a Petri net",
    "Linkage": "a Place of a Petri net",
    "Enabling": "a Transition of a Petri net",
    "Timing": "a Transition of a Petri net",
    "Firing": "a Transition of a Petri net",
    "Semaphore": "a semaphore",
    "Scaler": "a scaler",
    "PollingServer": "polling",
}
"""Sections that headway does not support, and what they are."""

_KNOWN = {
    "Queue": ("size", "dropStrategies", "FCFSstrategy", "QueuePutStrategy"),
    "Delay": ("ServiceStrategy",),
    "Server": ("maxJobs", "numberOfVisits", "ServiceStrategy", "classParallelism"),
    PREEMPTIVE: ("maxJobs", "numberOfVisits", "ServiceStrategy", "classParallelism"),
    "ServiceTunnel": (),
    "LogTunnel": None,
    "ClassSwitch": ("matrix",),
    "RandomSource": ("ServiceStrategy",),
    "Router": ("RoutingStrategy",),
    "JobSink": (),
    "Fork": ("jobsPerLink", "block", "isSimplifiedFork", "ForkStrategy"),
    "Join": ("JoinStrategy",),
}
"""Parameters of each section that are read or change no mean; None if all may be ignored."""

_MEANINGS = {
    "serverNames": "servers of several types",
    "Impatience": "jobs that leave before they are served",
    "retrialDistributions": "jobs that retry",
}
"""Meaning of parameters that are not supported."""

_SEVERAL = {
    "classParallelism": "occupy several servers at once",
    "numberOfVisits": "are served several times",
}
"""Server parameters that must be 1 for all classes, and what larger values mean."""

_DROP, _BLOCKED, _WAITING = "drop", "BAS blocking", "waiting queue"
"""What happens to jobs that find a station full: lost, kept behind, or made to wait outside."""

_SERVER, _SHARED = "Server", "PSServer"
_SHARING = ("PSStrategy", "serviceWeights")


@dataclass(frozen=True)
class Section:
    """A box: its name, what it is, and its parameters by section and name or kind."""

    name: str
    role: str
    sections: Mapping[str, Mapping[str, ForeignParameter]]

    @property
    def place(self) -> str:
        """Its name in messages."""
        return f"station {self.name}"

    def find(self, section: str, *names: str) -> ForeignParameter | None:
        """A parameter of a section, by one of several names or kinds."""
        return next((e for n, e in self.sections.get(section, {}).items() if n in names), None)


def read_box(element: Element, source: str) -> Section:
    """Read a box of the simulated network.

    Raises
    ------
    ModelFileError
        For a box that headway has no station for; names it.
    """
    name = name_of(element)
    sections = element.findall("section")
    names = tuple(section.get("className", "") for section in sections)
    for section in names:
        if section in _REFUSED:
            msg = f"{source}: {name}: {_REFUSED[section]} ({section}) is not supported"
            raise ModelFileError(msg)
    if names not in _ROLES:
        listed = quoted(", ".join(names))
        msg = f"{source}: {name}: sections {listed} are not supported"
        raise ModelFileError(msg)
    read = {s.get("className", ""): _parameters(s, f"{source}: {name}") for s in sections}
    return Section(name, _ROLES[names], read)


def _parameters(section: Element, place: str) -> dict[str, ForeignParameter]:
    """Parameters of a section by name or kind; refuses unknown ones that could matter."""
    kind = section.get("className", "")
    known = _KNOWN[_SERVER] + _SHARING if kind == _SHARED else _KNOWN[kind]  # type: ignore[operator]
    parameters: dict[str, ForeignParameter] = {}
    for element in section.findall("parameter"):
        read = entry(element)
        key = next((n for n in known or () if n in (read.name, read.kind)), None)
        if known is not None and key is None and not (read.is_empty or _is_single(read)):
            meaning = _MEANINGS.get(read.name, f"its {kind}")
            msg = f"{place}: {meaning} ({read.name or read.kind}): not supported"
            raise ModelFileError(msg)
        parameters[key or read.name] = read
    return parameters


def _is_single(read: ForeignParameter) -> bool:
    """Whether it only names a single type of server, which serves all classes."""
    single = ("serverNames", "serversPerServerType", "schedulingPolicy")
    return (read.name in single and len(read.parts) <= 1) or (
        read.name == "serverCompatibilities"
        and len(read.parts) <= 1
        and set(read.values) <= {"true"}
    )


def read_station(
    box: Section, classes: tuple[str, ...], most: float, source: str
) -> ForeignStation:
    """Read a box as a station.

    Parameters
    ----------
    box, classes
        The box, and all the classes of jobs.
    most
        Most jobs that can ever be present: room for as many is no limit.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For a discipline or a capacity that headway does not support; names it.
    """
    place = f"{source}: {box.name}"
    role = Serves(box.role)
    server = next(s for s in box.sections if s not in ("Queue", "Router"))
    order, last_next = _order(box, server, place)
    times = service_times(box, server, classes, place)
    limit = box.find(server, "maxJobs")
    servers = 1 if limit is None else whole(limit.value, f"{place}: maxJobs", 1)
    _check_single(box, server, place)
    made = ForeignStation(box.name, role, times, servers, order, last_next=last_next)
    return _with_room(made, box, most, place)


def service_times(
    box: Section, section: str, classes: tuple[str, ...], place: str
) -> dict[str, ServiceTimes]:
    """Service times of each class that has any."""
    strategies = box.find(section, "ServiceStrategy")
    parts = {} if strategies is None else by_class(strategies, classes, place)
    read = {c: times_of(part, f"{place}: times of {c}") for c, part in parts.items()}
    return {c: times for c, times in read.items() if times is not None}


def _order(box: Section, server: str, place: str) -> tuple[Discipline, bool]:
    """The discipline, and whether it is last come, first served without preemption."""
    orders, takes = box.find("Queue", "QueuePutStrategy"), box.find("Queue", "FCFSstrategy")
    if box.role == Serves.AT_ONCE:
        return DEFAULT, False
    if takes is not None and takes.kind != "FCFSstrategy":
        msg = f"{place}: queue {takes.kind} is not supported; use FCFSstrategy"
        raise ModelFileError(msg)
    kinds = [] if orders is None else [order.kind for _, order in orders.parts]
    if server != _SHARED:
        return order_of(kinds, server, place)
    _check_sharing(box, place)
    if set(kinds) - {"TailStrategy"}:
        msg = (
            f"{place}: shared servers with order {min(kinds)} are not supported; use equal sharing"
        )
        raise ModelFileError(msg)
    return Discipline("ps"), False


def _check_sharing(box: Section, place: str) -> None:
    """Refuse unequal sharing."""
    strategies = box.find(_SHARED, "PSStrategy")
    for _, strategy in () if strategies is None else strategies.parts:
        if strategy.kind != "EPSStrategy":
            msg = f"{place}: unequal sharing ({strategy.kind}) is not supported; use equal sharing"
            raise ModelFileError(msg)


def _check_single(box: Section, server: str, place: str) -> None:
    """Refuse jobs that occupy several servers, or are served several times."""
    for name, what in _SEVERAL.items():
        parameter = box.find(server, name)
        if parameter is not None and set(parameter.values) - {"1"}:
            msg = f"{place}: jobs that {what} ({name}) are not supported"
            raise ModelFileError(msg)


def _with_room(station: ForeignStation, box: Section, most: float, place: str) -> ForeignStation:
    """A station with its capacity; None if it is never full, or further jobs wait outside."""
    limit = box.find("Queue", "size")
    places = -1 if limit is None else whole(limit.value, f"{place}: size", -1)
    if places < 0 or places >= most:
        return station
    if box.role == Serves.AT_ONCE:
        msg = f"{place}: a delay with a limit of {places} jobs is not supported; remove the limit"
        raise ModelFileError(msg)
    drops = box.find("Queue", "dropStrategies")
    rules = {strategy.value or "" for _, strategy in (() if drops is None else drops.parts)}
    if rules == {_WAITING} and station.in_turn and station.servers <= places:
        return replace(station, waits_outside=True)
    if not rules <= {_DROP} and rules != {_BLOCKED}:
        listed = ", ".join(map(quoted, sorted(rules)))
        msg = f"{place}: a limited queue with {listed} is not supported; use drop or BAS blocking"
        raise ModelFileError(msg)
    return replace(station, places=places, blocking=rules == {_BLOCKED})
