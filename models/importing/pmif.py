"""PMIF files: queueing networks in the performance model interchange format.

Source: Smith, Lladó and Puigjaner, "Performance Model Interchange Format (PMIF 2)", Performance
Evaluation 67(7), 2010, for the meaning of elements and attributes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from headway.errors import ModelFileError, quoted
from headway.kinds import FloatArray
from headway.models.importing.foreign.network import (
    ForeignClass,
    ForeignNetwork,
    ForeignStation,
    Serves,
    ServiceTimes,
)
from headway.models.importing.foreign.numbers import name_of, number, positive, unique, whole
from headway.models.importing.jsim import routed
from headway.models.importing.sections import SINK, SOURCE, Section
from headway.numerals import digits
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.table import DEFAULT

_POLICIES = {
    "IS": (Serves.AT_ONCE, DEFAULT),
    **{
        each.pmif: (Serves.QUEUE, each)
        for each in sorted(Discipline, key=lambda one: one != DEFAULT)
        if each.pmif
    },
}
_UNITS = {"day": 86_400.0, "hr": 3_600.0, "min": 60.0, "sec": 1.0, "ms": 1e-3}
_SAME = 1e-3
"""Largest relative difference between visits that are given twice."""

_KNOWN = {
    "Server": {"Name", "Quantity", "SchedulingPolicy"},
    "WorkUnitServer": {"Name", "Quantity", "SchedulingPolicy", "ServiceTime", "TimeUnits"},
    "SourceNode": {"Name"},
    "SinkNode": {"Name"},
    "Arc": {"FromNode", "ToNode", "Description"},
    "ClosedWorkload": {"WorkloadName", "NumberOfJobs", "ThinkTime", "TimeUnits", "ThinkDevice"},
    "OpenWorkload": {"WorkloadName", "ArrivalRate", "TimeUnits", "ArrivesAt", "DepartsAt"},
    "DemandServiceRequest": {
        "WorkloadName", "ServerID", "ServiceDemand", "NumberOfVisits", "TimeUnits",
    },
    "TimeServiceRequest": {
        "WorkloadName", "ServerID", "ServiceTime", "NumberOfVisits", "TimeUnits",
    },
    "WorkUnitServiceRequest": {"WorkloadName", "ServerID", "NumberOfVisits"},
    "Transit": {"To", "Probability"},
}  # fmt: skip
"""Supported elements and their attributes."""

_PARTS = {"Node", "Workload", "ServiceRequest"}


def read_pmif(root: Element, name: str, source: str) -> ForeignNetwork:
    """Read the root of a PMIF file.

    Parameters
    ----------
    root, name
        Its element ``QueueingNetworkModel``, and what to call the model.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For missing parts, and those that headway does not support; names them.
    """
    elements = [element for element in root.iter() if element is not root]
    for element in elements:
        _check_known(element, source)
    nodes = [e for e in elements if e.tag.endswith(("Server", "Node")) and e.tag != "Node"]
    unique((_name(e) for e in nodes), "nodes", source)
    workloads = [e for e in elements if e.tag.endswith("Workload") and e.tag != "Workload"]
    unique((e.get("WorkloadName", "") for e in workloads), "workloads", source)
    if not (nodes and workloads):
        msg = f"{source}: has no {'workloads' if nodes else 'servers'}; give it one"
        raise ModelFileError(msg)
    boxes = {_name(e): Section(_name(e), _role(e, source), {}) for e in nodes}
    requests = _requests(elements, boxes, workloads, source)
    classes = tuple(_class(e, boxes, source) for e in workloads)
    matrices = {
        c.name: _matrix(c, e, requests, boxes, source)
        for c, e in zip(classes, workloads, strict=True)
    }
    bare = ForeignNetwork(name, "PMIF", (), classes, {}, notes=_notes(elements, source))
    network = routed(bare, boxes, matrices, source)
    stations = _stations(nodes, workloads, requests, network.visits, source)
    return routed(replace(bare, stations=stations), boxes, matrices, source)


Requests = Mapping[tuple[str, str], Element]
"""Service requests by server and class."""


def _name(element: Element) -> str:
    return (element.get("Name") or name_of(element)).strip()


def _check_known(element: Element, source: str) -> None:
    """Refuse elements and attributes of other versions, such as forks."""
    if element.tag in _PARTS:
        return
    odd = [key for key in element.attrib if key not in _KNOWN.get(element.tag, ())]
    if element.tag not in _KNOWN or odd:
        owner = f" of a {quoted(element.tag)}" if odd and element.tag in _KNOWN else ""
        msg = f"{source}: {quoted(odd[0] if owner else element.tag)}{owner} is not supported"
        raise ModelFileError(msg)


def _role(element: Element, source: str) -> str:
    if element.tag in ("SourceNode", "SinkNode"):
        return SOURCE if element.tag == "SourceNode" else SINK
    return _policy(element, source)[0]


def _policy(element: Element, source: str) -> tuple[Serves, Discipline]:
    policy = element.get("SchedulingPolicy", "")
    if policy not in _POLICIES:
        known = ", ".join(_POLICIES)
        place = f"{source}: {_name(element)}: SchedulingPolicy"
        msg = f"{place} {quoted(policy)} is not supported; use one of {known}"
        raise ModelFileError(msg)
    return _POLICIES[policy]


def _seconds(element: Element, source: str) -> float:
    """The time unit of an element [s]; seconds if all elements leave it out."""
    unit = element.get("TimeUnits", "sec").lower()
    if unit not in _UNITS:
        known = ", ".join(_UNITS)
        msg = f"{source}: unknown TimeUnits {quoted(unit)} of a {element.tag}; use one of {known}"
        raise ModelFileError(msg)
    return _UNITS[unit]


def _notes(elements: list[Element], source: str) -> tuple[str, ...]:
    """A note on times without units; refuses a mixture of times with and without."""
    timed = [e for e in elements if "TimeUnits" in _KNOWN.get(e.tag, ())]
    missing = [e for e in timed if "TimeUnits" not in e.attrib]
    if missing and len(missing) < len(timed):
        msg = (
            f"{source}: a {missing[0].tag} has no TimeUnits but other elements have; give all "
            "of them"
        )
        raise ModelFileError(msg)
    return ("times without units are read as seconds",) if missing else ()


def _requests(
    elements: list[Element], boxes: Mapping[str, Section], workloads: list[Element], source: str
) -> Requests:
    """Service requests by server and class, each once."""
    known = {e.get("WorkloadName", "") for e in workloads}
    requests: dict[tuple[str, str], Element] = {}
    for element in (e for e in elements if e.tag.endswith("ServiceRequest")):
        if element.tag in _PARTS:
            continue
        server, job_class = element.get("ServerID", ""), element.get("WorkloadName", "")
        there = server in boxes and boxes[server].role in set(Serves)
        if not there or job_class not in known or (server, job_class) in requests:
            why = (
                "appear together twice" if (server, job_class) in requests else "do not both exist"
            )
            msg = f"{source}: {element.tag}: {quoted(server)} and {quoted(job_class)} {why}"
            raise ModelFileError(msg)
        requests[server, job_class] = element
    return requests


def _class(element: Element, boxes: Mapping[str, Section], source: str) -> ForeignClass:
    name = element.get("WorkloadName", "")
    place = f"{source}: workload {name}"
    is_open = element.tag == "OpenWorkload"
    key = "ArrivesAt" if is_open else "ThinkDevice"
    begins = element.get(key, "")
    roles = {SOURCE} if is_open else set(Serves)
    if begins not in boxes or boxes[begins].role not in roles:
        msg = (
            f"{place}: {key} is {quoted(begins)}, which is not a "
            f"{'source' if is_open else 'server'}"
        )
        raise ModelFileError(msg)
    if not is_open:
        jobs = whole(element.get("NumberOfJobs"), f"{place}: NumberOfJobs")
        return ForeignClass(name, None, jobs, begins)
    rate = positive(element.get("ArrivalRate"), f"{place}: ArrivalRate")
    return ForeignClass(name, ServiceTimes(_seconds(element, source) / rate), None, begins)


def _matrix(
    job_class: ForeignClass,
    workload: Element,
    requests: Requests,
    boxes: Mapping[str, Section],
    source: str,
) -> FloatArray:
    """Routing probabilities of a class, from the transits of its workload and requests."""
    position = {name: k for k, name in enumerate(boxes)}
    matrix = np.zeros((len(boxes), len(boxes)))
    starts = {server: e for (server, c), e in requests.items() if c == job_class.name}
    for start, element in {**starts, job_class.reference: workload}.items():
        for end, share in _transits(element, f"{source}: {job_class.name} from {start}"):
            if end not in position:
                msg = (
                    f"{source}: {job_class.name} goes from {start} to {quoted(end)}, which "
                    "does not exist"
                )
                raise ModelFileError(msg)
            matrix[position[start], position[end]] += share
    return matrix


def _transits(element: Element, place: str) -> Iterator[tuple[str, float]]:
    """Routing probabilities by destination; they sum to 1."""
    transits = [(e.get("To", ""), number(e.get("Probability"), place)) for e in element]
    total = sum(share for _, share in transits)
    if abs(total - 1) > 1e-6:
        msg = (
            f"{place}: the probabilities of its transits sum to {digits(total)}; they must sum to 1"
        )
        raise ModelFileError(msg)
    yield from ((end, share / total) for end, share in transits)


def _stations(
    nodes: list[Element],
    workloads: list[Element],
    requests: Requests,
    visits: Mapping[tuple[str, str], float],
    source: str,
) -> tuple[ForeignStation, ...]:
    """Servers with their times by class, including think times."""
    stations = []
    for node in (e for e in nodes if e.tag.endswith("Server")):
        name, place = _name(node), f"{source}: {_name(node)}"
        times: dict[str, ServiceTimes] = {}
        for workload in workloads:
            job_class = workload.get("WorkloadName", "")
            request = requests.get((name, job_class))
            if workload.get("ThinkDevice") == name:
                if request is not None:
                    why = "both thinks and is served there; use two servers"
                    msg = f"{place}: {job_class} {why}"
                    raise ModelFileError(msg)
                think = number(workload.get("ThinkTime"), f"{place}: ThinkTime")
                times[job_class] = ServiceTimes(think * _seconds(workload, source))
            elif request is not None:
                time = _time(request, node, visits[name, job_class], f"{place}: {job_class}")
                times[job_class] = ServiceTimes(time)
        serves, order = _policy(node, source)
        servers = whole(node.get("Quantity", "1"), f"{place}: Quantity", 1)
        stations.append(
            ForeignStation(name, serves, times, servers if serves is Serves.QUEUE else 1, order)
        )
    return tuple(stations)


def _time(request: Element, node: Element, visits: float, place: str) -> float:
    """Service time per visit [s]; a service demand is divided by the visits."""
    stated = request.get("NumberOfVisits")
    if (
        stated is not None
        and abs(number(stated, f"{place}: NumberOfVisits") - visits) > _SAME * visits
    ):
        msg = (
            f"{place}: NumberOfVisits is {quoted(stated)}, but the transits give {digits(visits)}; "
            "correct one of them"
        )
        raise ModelFileError(msg)
    by_unit = request.tag == "WorkUnitServiceRequest"
    if by_unit != (node.tag == "WorkUnitServer"):
        msg = (
            f"{place}: a {request.tag} does not go with a {node.tag}; use "
            "WorkUnitServiceRequest with WorkUnitServer only"
        )
        raise ModelFileError(msg)
    timed = node if by_unit else request
    key = "ServiceDemand" if request.tag == "DemandServiceRequest" else "ServiceTime"
    amount = number(timed.get(key), f"{place}: {key}") * _seconds(timed, place)
    return amount / visits if key == "ServiceDemand" and visits else amount
