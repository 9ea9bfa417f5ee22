"""JSIMg files: simulation models, from which headway imports networks of queues."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from headway.errors import ModelFileError, quoted
from headway.kinds import FloatArray
from headway.models.importing.foreign.network import (
    Expected,
    ForeignClass,
    ForeignNetwork,
    ForeignStation,
    Serves,
    ServiceTimes,
    Shares,
)
from headway.models.importing.foreign.numbers import name_of, number, unique, whole
from headway.models.importing.forks import check_branches, folded
from headway.models.importing.orders import hides_returns, means_only
from headway.models.importing.regions import read_regions
from headway.models.importing.rooms import check_blocking_rooms
from headway.models.importing.routing import (
    SWITCH,
    Links,
    between,
    shares,
    switched,
    switches,
    visits_from,
)
from headway.models.importing.sections import (
    PASSED,
    SINK,
    SOURCE,
    Section,
    read_box,
    read_station,
    service_times,
)

_KNOWN = ("userClass", "node", "measure", "connection", "preload", "blockingRegion")
_NEVER = 1e-12
"""Smaller probabilities are rounding errors."""

_ENDLESS = 1e9
"""More visits than this mean a loop that no job leaves."""


def read_jsim(root: Element, name: str, source: str) -> ForeignNetwork:
    """Read the root of a JSIMg file.

    Parameters
    ----------
    root, name
        Its element ``archive`` or ``sim``, and what to call the model.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For errors in the file, and for what headway does not support; names it.
    """
    model = root if root.tag == "sim" else root.find("sim")
    if model is None:
        msg = f"{source}: has no element 'sim', which contains the model of a JSIMg file"
        raise ModelFileError(msg)
    _check_elements(model, source)
    elements = model.findall("node")
    unique(map(name_of, elements), "stations", source)
    boxes = {name_of(element): read_box(element, source) for element in elements}
    classes = _classes(model, boxes, source)
    links = _links(model, boxes, source)
    return _network(ForeignNetwork(name, "JSIMg", (), classes, {}), boxes, links, root, source)


def _network(
    bare: ForeignNetwork, boxes: Mapping[str, Section], links: Links, root: Element, source: str
) -> ForeignNetwork:
    """Everything beyond the classes and their names."""
    names = tuple(c.name for c in bare.classes)
    stations = _stations(boxes, bare.classes, source)
    boxes, links, forks = folded(boxes, links, bare.classes, source)
    stations = (*stations, *forks)
    check_branches(stations, source)
    check_blocking_rooms(stations, boxes, links, bare.classes, source)
    expected = tuple(_expected(root, source))
    regions = read_regions(root, stations, bare.classes, source)
    notes = _notes(stations)
    bare = replace(bare, stations=stations, expected=expected, notes=notes, regions=regions)
    if switches(boxes) or _need_routes(bare.classes):
        return switched(bare, boxes, links, source)
    matrices = {c.name: _matrix(boxes, links, c, names, source) for c in bare.classes}
    return routed(bare, boxes, matrices, source)


def _need_routes(classes: tuple[ForeignClass, ...]) -> bool:
    """Whether visits do not suffice: several classes, and arrivals that are not Poisson."""
    general = any(each.arrivals is not None and each.arrivals.scv != 1 for each in classes)
    return general and len(classes) > 1


def routed(
    bare: ForeignNetwork,
    boxes: Mapping[str, Section],
    matrices: Mapping[str, FloatArray],
    source: str,
) -> ForeignNetwork:
    """Give a network the visits of its classes, and the routes of a single class.

    Parameters
    ----------
    bare
        Its stations and classes.
    boxes
        Stations, sources and sinks by name.
    matrices
        Probabilities by class to go from each box to each, in their order.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For jobs that never leave or return, or repeated visits that mean visits do not show.
    """
    visits: dict[tuple[str, str], float] = {}
    for each in bare.classes:
        visits |= _visits(boxes, each, matrices[each.name], source)
    _check_orders(bare.stations, bare.classes, visits, boxes, matrices, source)
    can_block = bool(bare.regions) or any(station.blocking for station in bare.stations)
    entries, routes = _ways(boxes, bare.classes, matrices, can_block=can_block)
    return replace(bare, visits=visits, entries=entries, routes=routes)


def _check_elements(model: Element, source: str) -> None:
    """Refuse unknown parts of a model, such as those of a newer version."""
    for element in model:
        if element.tag not in _KNOWN:
            msg = (
                f"{source}: {quoted(element.tag)} belongs to a newer version of JMT than "
                "headway supports"
            )
            raise ModelFileError(msg)


def _classes(model: Element, boxes: Mapping[str, Section], source: str) -> tuple[ForeignClass, ...]:
    elements = model.findall("userClass")
    unique(map(name_of, elements), "classes", source)
    if not elements:
        msg = f"{source}: has no classes of jobs; give at least one"
        raise ModelFileError(msg)
    names = tuple(map(name_of, elements))
    return tuple(_class(element, names, boxes, source) for element in elements)


def _class(
    element: Element, names: tuple[str, ...], boxes: Mapping[str, Section], source: str
) -> ForeignClass:
    name, reference = name_of(element), element.get("referenceSource", "")
    place = f"{source}: class {name}"
    first = whole(element.get("priority", "0"), f"{place}: priority", -1_000_000)
    made = reference == SWITCH and element.get("type") == "open" and switches(boxes)
    if made:
        return ForeignClass(name, None, None, priority=first)
    if reference not in boxes:
        msg = f"{place}: its reference station {quoted(reference)} does not exist"
        raise ModelFileError(msg)
    sources = [box for box in boxes.values() if box.role == SOURCE]
    arrivals = {
        box.name: times[name]
        for box in sources
        if name in (times := service_times(box, "RandomSource", names, f"{source}: {box.name}"))
    }
    if element.get("type") == "closed":
        population = whole(element.get("customers"), f"{place}: customers")
        return ForeignClass(name, None, population, reference, first)
    if element.get("type") != "open" or set(arrivals) != {reference}:
        msg = f"{place}: must be closed, or open with arrivals only at its reference station"
        raise ModelFileError(msg)
    return ForeignClass(name, arrivals[reference], None, reference, first)


def _links(model: Element, boxes: Mapping[str, Section], source: str) -> dict[str, list[str]]:
    links: dict[str, list[str]] = {}
    for element in model.findall("connection"):
        ends = element.get("source", ""), element.get("target", "")
        for end in ends:
            if end not in boxes:
                way = f"a connection leads from {quoted(ends[0])} to {quoted(ends[1])}"
                msg = f"{source}: {way}, but there is no {quoted(end)}"
                raise ModelFileError(msg)
        targets = links.setdefault(ends[0], [])
        if ends[1] not in targets:
            targets.append(ends[1])
    return links


def _stations(
    boxes: Mapping[str, Section], classes: tuple[ForeignClass, ...], source: str
) -> tuple[ForeignStation, ...]:
    names = tuple(c.name for c in classes)
    most = sum(float("inf") if c.population is None else c.population for c in classes)
    for box in boxes.values():
        size = box.find("Queue", "size") if box.role in (PASSED, Serves.FORK) else None
        if size is not None and whole(size.value, f"{source}: {box.name}: size", -1) >= 0:
            msg = (
                f"{source}: {box.name}: a limit on the number of jobs is not supported here; "
                "remove it"
            )
            raise ModelFileError(msg)
    kept = [box for box in boxes.values() if box.role in set(Serves) - {Serves.FORK}]
    return tuple(read_station(box, names, most, source) for box in kept)


def _matrix(
    boxes: Mapping[str, Section],
    links: Links,
    job_class: ForeignClass,
    names: tuple[str, ...],
    source: str,
) -> FloatArray:
    """Probabilities of a class between the boxes that take time, and sources and sinks."""
    try:
        return between(boxes, shares(boxes, links, job_class, names, source))
    except np.linalg.LinAlgError:
        raise _never_ending(job_class, source) from None


def _never_ending(job_class: ForeignClass, source: str) -> ModelFileError:
    return ModelFileError(
        f"{source}: class {job_class.name}: its jobs never return to {job_class.reference}, or "
        "never leave; correct its routing"
    )


def _visits(
    boxes: Mapping[str, Section], job_class: ForeignClass, matrix: FloatArray, source: str
) -> dict[tuple[str, str], float]:
    """Mean visits by station: between two to the reference station, or until a job leaves."""
    names = list(boxes)
    start = names.index(job_class.reference)
    if boxes[job_class.reference].role == PASSED:
        msg = (
            f"{source}: class {job_class.name}: {job_class.reference} cannot be its reference "
            "station; use a queue or delay"
        )
        raise ModelFileError(msg)
    try:
        visits = visits_from(start, matrix)
    except np.linalg.LinAlgError:
        raise _never_ending(job_class, source) from None
    ends = matrix[:, start] if job_class.population is not None else _gone(boxes, matrix)
    if not (np.all((visits >= -1e-9) & (visits < _ENDLESS)) and abs(visits @ ends - 1) < 1e-6):
        raise _never_ending(job_class, source)
    return {
        (name, job_class.name): float(max(v, 0.0))
        for name, v in zip(names, visits, strict=True)
        if boxes[name].role in set(Serves)
    }


def _gone(boxes: Mapping[str, Section], matrix: FloatArray) -> FloatArray:
    """Probability of leaving the network from each box, through a sink."""
    sinks = np.array([box.role == SINK for box in boxes.values()])
    gone: FloatArray = matrix[:, sinks].sum(axis=1)
    return gone


def _check_orders(
    stations: tuple[ForeignStation, ...],
    classes: tuple[ForeignClass, ...],
    visits: Mapping[tuple[str, str], float],
    boxes: Mapping[str, Section],
    matrices: Mapping[str, FloatArray],
    source: str,
) -> None:
    """Refuse repeated visits to a queue in order of arrival that mean visits do not show.

    Open classes with different times at one queue have an exact mean if each job comes once; mean
    visits of at most 1 do not distinguish jobs that come twice from jobs that never come.
    """
    names = list(boxes)
    for station in stations:
        if station.serves is not Serves.QUEUE or not hides_returns(station):
            continue
        at = names.index(station.name)
        for each in classes:
            if not (each.arrivals and 0 < visits[station.name, each.name] <= 1):
                continue
            back = visits_from(at, matrices[each.name]) @ matrices[each.name][:, at]
            if back > _NEVER:
                some = f"some jobs of {each.name} visit it repeatedly and others never"
                why = "and it treats classes differently"
                msg = f"{source}: {station.name}: {some}, {why}; this is not supported"
                raise ModelFileError(msg)


def _ways(
    boxes: Mapping[str, Section],
    classes: tuple[ForeignClass, ...],
    matrices: Mapping[str, FloatArray],
    *,
    can_block: bool,
) -> tuple[dict[str, float], Shares]:
    """Arrivals and routes between stations, of a single class that is open or can be blocked."""
    closed = any(c.population is not None for c in classes)
    if len(classes) != 1 or (closed and not can_block):
        return {}, {}
    matrix, names = matrices[classes[0].name], list(boxes)
    kept = [k for k, box in enumerate(boxes.values()) if box.role in set(Serves)]
    start = names.index(classes[0].reference)
    shares_in = {names[k]: float(matrix[start, k]) for k in kept if matrix[start, k] > 0}
    routes = {
        (names[i], names[k]): float(matrix[i, k]) for i in kept for k in kept if matrix[i, k] > 0
    }
    return {} if closed else shares_in, routes


def _expected(root: Element, source: str) -> Iterator[Expected]:
    """Simulation results in the file, with the station and class of each measure."""
    measures = {
        name_of(m): m for m in root.iter("measure") if m.get("type", "").strip("0123456789")
    }
    for result in root.findall("results/measure"):
        measure = measures.get(name_of(result))
        if measure is None or result.get("state") == "3":  # 3: no samples
            continue
        value = number(result.get("finalValue"), f"{source}: results: {name_of(result)}")
        samples = result.findall("sample")
        bounds = [samples[-1].get(end) for end in ("lowerBound", "upperBound")] if samples else []
        low, high = (_bound(text) for text in bounds) if bounds else (None, None)
        at, of = measure.get("referenceNode", ""), measure.get("referenceUserClass", "")
        yield Expected(measure.get("type", ""), at, of, value, low, high)


def _bound(text: str | None) -> float | None:
    return None if text is None else number(text, "results: an end of an interval", -float("inf"))


def _notes(stations: tuple[ForeignStation, ...]) -> tuple[str, ...]:
    """Notes on stations for which only the means agree with the file."""
    varying = _varying(stations)
    times = [f"means at {varying} hold for any distribution; percentiles assume constant times"]
    nearly = ", ".join(s.name for s in stations if means_only(s))
    turns = f"only the means at {nearly} agree with the order in the file; percentiles do not"
    outside = ", ".join(s.name for s in stations if s.waits_outside)
    room = f"jobs that wait outside {outside} for room count as being there"
    kept = ((times[0], varying), (turns, nearly), (room, outside))
    return tuple(note for note, who in kept if who)


def _varying(stations: tuple[ForeignStation, ...]) -> str:
    """Delay stations whose times are not constant."""
    varying = [
        s.name
        for s in stations
        if s.serves is Serves.AT_ONCE
        and any(t != ServiceTimes(t.mean, 0.0) for t in s.times.values())
    ]
    return ", ".join(varying)
