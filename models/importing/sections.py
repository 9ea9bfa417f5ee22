"""What a box of a JSIMg file is, by its sections; what headway has not yet is refused by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.distributions import times_of
from headway.models.importing.foreign.network import Serves, ServiceTimes, Station
from headway.models.importing.foreign.numbers import name_of, whole
from headway.models.importing.foreign.parameters import Entry, by_class, entry
from headway.models.importing.orders import PREEMPTIVE, order_of
from headway.queueing.stations.abilities import Discipline

SOURCE, SINK, PASSED, JOIN = "source", "sink", "passed", "join"
"""Boxes where jobs come from and go to, that they pass in no time, and that wait for parts."""

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
"""Sections that are known, and what they make of a box."""

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
"""Parameters of each section that are read, or change no mean; None where all may be left out."""

_SAID = {
    "serverNames": "servers of several types",
    "Impatience": "jobs that leave before they are served",
    "retrialDistributions": "jobs that try again",
}
"""What parameters that are not taken over mean."""

_SEVERAL = {
    "classParallelism": "take several servers at once",
    "numberOfVisits": "are served several times",
}
"""Parameters of servers that are 1 for all classes, and what jobs do where they are more."""

_DROP, _BLOCKED, _WAITING = "drop", "BAS blocking", "waiting queue"
"""What becomes of those who find a station full: lost, kept where they are, or before it."""

_SERVER, _SHARED = "Server", "PSServer"
_SHARING = ("PSStrategy", "serviceWeights")


@dataclass(frozen=True)
class Box:
    """A box: its name, what it is, and its parameters by section and name or kind."""

    name: str
    role: str
    sections: Mapping[str, Mapping[str, Entry]]

    @property
    def place(self) -> str:
        """What messages call it."""
        return f"station {self.name}"

    def find(self, section: str, *names: str) -> Entry | None:
        """A parameter of a section, by one of its names or kinds."""
        return next((e for n, e in self.sections.get(section, {}).items() if n in names), None)


def read_box(element: Element, source: str) -> Box:
    """Read a box of the simulated network.

    Raises
    ------
    ModelFileError
        For one that headway has no station for yet, by name.
    """
    name = name_of(element)
    sections = element.findall("section")
    names = tuple(section.get("className", "") for section in sections)
    for section in names:
        if section in _REFUSED:
            msg = f"{source}: {name} is {_REFUSED[section]} ({section}): not yet"
            raise ModelFileError(msg)
    if names not in _ROLES:
        told = quoted(", ".join(names))
        msg = f"{source}: {name} has sections {told}, which headway does not know: not yet"
        raise ModelFileError(msg)
    read = {s.get("className", ""): _parameters(s, f"{source}: {name}") for s in sections}
    return Box(name, _ROLES[names], read)


def _parameters(section: Element, place: str) -> dict[str, Entry]:
    """Parameters of a section by name or kind; refuses those that could change what it does."""
    kind = section.get("className", "")
    known = _KNOWN[_SERVER] + _SHARING if kind == _SHARED else _KNOWN[kind]  # type: ignore[operator]
    found: dict[str, Entry] = {}
    for element in section.findall("parameter"):
        read = entry(element)
        key = next((n for n in known or () if n in (read.name, read.kind)), None)
        if known is not None and key is None and not (read.is_empty or _is_single(read)):
            told = _SAID.get(read.name, f"its {kind}")
            msg = f"{place}: {told} ({read.name or read.kind}): not yet"
            raise ModelFileError(msg)
        found[key or read.name] = read
    return found


def _is_single(read: Entry) -> bool:
    """Whether it only names one type of server, which serves all."""
    single = ("serverNames", "serversPerServerType", "schedulingPolicy")
    return (read.name in single and len(read.parts) <= 1) or (
        read.name == "serverCompatibilities"
        and len(read.parts) <= 1
        and set(read.values) <= {"true"}
    )


def read_station(box: Box, classes: tuple[str, ...], most: float, source: str) -> Station:
    """Read the station that a box is.

    Parameters
    ----------
    box, classes
        The box, and all the classes of jobs.
    most
        Jobs that can ever be there: room for as many is no limit.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For a discipline or a room that headway has not yet, by name.
    """
    place = f"{source}: {box.name}"
    role = Serves(box.role)
    server = next(s for s in box.sections if s not in ("Queue", "Router"))
    order, last_next = _order(box, server, place)
    times = service_times(box, server, classes, place)
    found = box.find(server, "maxJobs")
    servers = 1 if found is None else whole(found.value, f"{place}: maxJobs", 1)
    _check_single(box, server, place)
    made = Station(box.name, role, times, servers, order, last_next=last_next)
    return _with_room(made, box, most, place)


def service_times(
    box: Box, section: str, classes: tuple[str, ...], place: str
) -> dict[str, ServiceTimes]:
    """Times of each class that has any."""
    found = box.find(section, "ServiceStrategy")
    parts = {} if found is None else by_class(found, classes, place)
    read = {c: times_of(part, f"{place}: times of {c}") for c, part in parts.items()}
    return {c: times for c, times in read.items() if times is not None}


def _order(box: Box, server: str, place: str) -> tuple[Discipline, bool]:
    """Whose turn it is, and whether it is the last come's."""
    found, takes = box.find("Queue", "QueuePutStrategy"), box.find("Queue", "FCFSstrategy")
    if box.role == Serves.AT_ONCE:
        return Discipline.FCFS, False
    if takes is not None and takes.kind != "FCFSstrategy":
        msg = f"{place}: its queue ({takes.kind}): not yet; headway has order of arrival"
        raise ModelFileError(msg)
    kinds = [] if found is None else [order.kind for _, order in found.parts]
    if server != _SHARED:
        return order_of(kinds, server, place)
    _check_sharing(box, place)
    if set(kinds) - {"TailStrategy"}:
        msg = f"{place}: shared servers whose order is {min(kinds)}: not yet; give equal sharing"
        raise ModelFileError(msg)
    return Discipline.SHARING, False


def _check_sharing(box: Box, place: str) -> None:
    """Refuse servers that are shared unequally."""
    found = box.find(_SHARED, "PSStrategy")
    for _, strategy in () if found is None else found.parts:
        if strategy.kind != "EPSStrategy":
            msg = f"{place}: unequal sharing ({strategy.kind}): not yet; headway has equal sharing"
            raise ModelFileError(msg)


def _check_single(box: Box, server: str, place: str) -> None:
    """Refuse jobs that take several servers, or are served several times."""
    for name, what in _SEVERAL.items():
        found = box.find(server, name)
        if found is not None and set(found.values) - {"1"}:
            msg = f"{place}: jobs that {what} ({name}): not yet"
            raise ModelFileError(msg)


def _with_room(station: Station, box: Box, most: float, place: str) -> Station:
    """A station with the room that it has; none where it is never full, or others wait outside."""
    found = box.find("Queue", "size")
    places = -1 if found is None else whole(found.value, f"{place}: size", -1)
    if places < 0 or places >= most:
        return station
    if box.role == Serves.AT_ONCE:
        msg = f"{place}: a delay with room for {places} only: not yet"
        raise ModelFileError(msg)
    drops = box.find("Queue", "dropStrategies")
    rules = {strategy.value or "" for _, strategy in (() if drops is None else drops.parts)}
    in_order = station.order is Discipline.FCFS and not station.last_next
    if rules == {_WAITING} and in_order and station.servers <= places:
        return replace(station, waits_outside=True)
    if not rules <= {_DROP} and rules != {_BLOCKED}:
        told = ", ".join(map(quoted, sorted(rules)))
        msg = f"{place}: a full room with {told}: not yet; drop and BAS blocking are"
        raise ModelFileError(msg)
    return replace(station, places=places, blocking=rules == {_BLOCKED})
