"""JMVA files: product-form networks, with visits by class."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.importing.foreign.network import (
    Expected,
    ForeignClass,
    ForeignNetwork,
    ForeignStation,
    Serves,
    ServiceTimes,
)
from headway.models.importing.foreign.numbers import name_of, number, positive, unique, whole
from headway.queueing.disciplines.discipline import Discipline

Visits: TypeAlias = dict[tuple[str, str], float]

_SAME = 1e-9
"""Service times with a smaller relative difference count as equal."""

_SERVES = {
    "delaystation": Serves.AT_ONCE,
    "listation": Serves.QUEUE,
    "ldstation": Serves.VARYING,
}


def read_jmva(root: Element, name: str, source: str) -> ForeignNetwork:
    """Read the root of a JMVA file.

    Parameters
    ----------
    root, name
        Its element ``model``, and what to call the model.
    source
        The file's name, for messages.

    Raises
    ------
    ModelFileError
        For missing parts, and those that headway does not support.

    Examples
    --------
    >>> from headway.models.importing.safe_xml import parse_xml
    >>> text = b'''<model><parameters>
    ... <classes><closedclass name="jobs" population="3"/></classes>
    ... <stations><listation name="cpu"><servicetimes>
    ... <servicetime customerclass="jobs">0.5</servicetime></servicetimes>
    ... <visits><visit customerclass="jobs">2</visit></visits></listation></stations>
    ... </parameters></model>'''
    >>> network = read_jmva(parse_xml(text, "one.jmva"), "one", "one.jmva")
    >>> network.stations[0].times["jobs"].mean, network.visits["cpu", "jobs"]
    (0.5, 2.0)
    """
    classes = _classes(root, source)
    known = {job_class.name for job_class in classes}
    elements = [*root.findall("parameters/stations/*")]
    unique(map(name_of, elements), "stations", source)
    stations = tuple(_station(element, known, source) for element in elements)
    if not stations:
        msg = f"{source}: has no stations; list them in parameters/stations"
        raise ModelFileError(msg)
    visits = {key: v for element in elements for key, v in _visits(element, known, source).items()}
    return ForeignNetwork(
        name,
        "JMVA",
        tuple(_ordered(station, len(known)) for station in stations),
        classes,
        visits,
        expected=tuple(_expected(root, source)),
        notes=_notes(root),
    )


def _classes(root: Element, source: str) -> tuple[ForeignClass, ...]:
    elements = [*root.findall("parameters/classes/*")]
    unique(map(name_of, elements), "classes", source)
    references = {
        name_of(e): e.get("refStation", "") for e in root.findall("parameters/ReferenceStation/*")
    }
    if not elements:
        msg = f"{source}: has no classes of jobs; list them in parameters/classes"
        raise ModelFileError(msg)
    return tuple(_class(e, references.get(name_of(e), ""), source) for e in elements)


def _class(element: Element, reference: str, source: str) -> ForeignClass:
    name = name_of(element)
    place = f"{source}: class {name}"
    if element.tag == "closedclass":
        population = whole(element.get("population"), f"{place}: population")
        return ForeignClass(name, None, population, reference)
    if element.tag == "openclass":
        rate = positive(element.get("rate"), f"{place}: rate")
        return ForeignClass(name, ServiceTimes(1 / rate), None, reference)
    msg = f"{place}: unknown element {quoted(element.tag)}; use openclass or closedclass"
    raise ModelFileError(msg)


def _station(element: Element, known: set[str], source: str) -> ForeignStation:
    name = name_of(element)
    place = f"{source}: station {name}"
    serves = _SERVES.get(element.tag)
    if serves is None:
        kinds = ", ".join(_SERVES)
        msg = f"{place}: {quoted(element.tag)} is not supported; use one of {kinds}"
        raise ModelFileError(msg)
    for path in ("servicetimes", "visits"):
        _check_parts(element, path, place)
    texts = dict(_by_class(element, "servicetimes/servicetime", known, place))
    if serves is Serves.VARYING:
        return _varying(name, texts, place)
    times = {
        c: ServiceTimes(number(text, f"{place}: service time of {c}")) for c, text in texts.items()
    }
    servers = whole(element.get("servers", "1"), f"{place}: servers", 1)
    return ForeignStation(name, serves, times, servers if serves is Serves.QUEUE else 1)


def _check_parts(element: Element, path: str, place: str) -> None:
    """Refuse elements within a list by class that are not its entries, or are within these."""
    entry = path.removesuffix("s")
    for part in element.findall(f"{path}/*"):
        wrong = part.tag if part.tag != entry else next((child.tag for child in part), "")
        if wrong:
            where = path if part.tag != entry else entry
            msg = (
                f"{place}: {where} contains an element {quoted(wrong)}; {path} lists {entry} "
                "elements with a number each"
            )
            raise ModelFileError(msg)


def _varying(name: str, texts: dict[str, str], place: str) -> ForeignStation:
    """A station with a service time for each number of jobs present."""
    lists = {c: _list(text, f"{place}: service time of {c}") for c, text in texts.items()}
    if len(lists) == 1:
        job_class, times = next(iter(lists.items()))
        rates = tuple(1 / time for time in times)
        return ForeignStation(
            name, Serves.VARYING, {job_class: ServiceTimes(times[0])}, rates=rates
        )
    if not lists:
        msg = f"{place} has no service times; list them in servicetimes, an entry for each class"
        raise ModelFileError(msg)
    counts = {_servers(times) for times in lists.values()}
    if len(counts) != 1 or None in counts:
        why = (
            f"serves {len(lists)} classes, with service times that depend on the load in "
            "another way than parallel servers"
        )
        msg = f"{place} {why}; headway's LoadDependent serves one class only"
        raise ModelFileError(msg)
    first = {c: ServiceTimes(times[0]) for c, times in lists.items()}
    return ForeignStation(name, Serves.QUEUE, first, counts.pop() or 1)


def _list(text: str, place: str) -> list[float]:
    parts = [part for part in text.split(";") if part.strip()]
    if not parts:
        msg = f"{place} is missing; give one for each number of jobs, 0.5;0.3;0.2"
        raise ModelFileError(msg)
    return [positive(part, f"{place} with {n} jobs") for n, part in enumerate(parts, 1)]


def _servers(times: list[float]) -> int | None:
    """Number m of servers with service times S / min(n, m) for n jobs; None if there is none."""
    count = round(times[0] / times[-1])
    if any(abs(t * min(n, count) / times[0] - 1) > _SAME for n, t in enumerate(times, 1)):
        return None
    return count


def _by_class(
    element: Element, path: str, known: set[str], place: str
) -> Iterator[tuple[str, str]]:
    """Texts by class; refuses classes that do not exist or are given twice."""
    earlier: set[str] = set()
    for part in element.findall(path):
        job_class = (part.get("customerclass") or "").strip()
        if job_class not in known or job_class in earlier:
            why = "is given twice" if job_class in earlier else "does not exist"
            msg = f"{place}: {path.partition('/')[0]}: class {quoted(job_class)} {why}"
            raise ModelFileError(msg)
        earlier.add(job_class)
        yield job_class, part.text or ""


def _visits(element: Element, known: set[str], source: str) -> Visits:
    name = name_of(element)
    place = f"{source}: station {name}"
    texts = _by_class(element, "visits/visit", known, place)
    return {(name, c): number(text, f"{place}: visits of {c}") for c, text in texts}


def _ordered(station: ForeignStation, classes: int) -> ForeignStation:
    """JMVA's stations have a product form: classes with different mean times share the servers."""
    unlike = len({times.mean for times in station.times.values()}) > 1
    if not (unlike and classes > 1 and station.serves is Serves.QUEUE):
        return station
    return replace(station, order=Discipline("ps"))


def _expected(root: Element, source: str) -> Iterator[Expected]:
    """Results of the first algorithm in the file."""
    algorithm = root.find("solutions/algorithm")
    for at in () if algorithm is None else algorithm.findall("stationresults"):
        for by in at.findall("classresults"):
            for measure in by.findall("measure"):
                kind = measure.get("measureType", "")
                station, job_class = at.get("station", ""), by.get("customerclass", "")
                if measure.get("successful", "true") == "true":
                    place = f"{source}: solutions: {kind} of {station}"
                    value = number(measure.get("meanValue"), place)
                    yield Expected(kind, station, job_class, value)


def _notes(root: Element) -> tuple[str, ...]:
    notes = []
    if root.find("whatIf") is not None:
        notes.append("the what-if analysis of the file is left out; vary parameters with --set")
    return tuple(notes)
