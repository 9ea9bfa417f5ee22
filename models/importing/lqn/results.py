"""Results in LQNX files: what another solver or a simulation found, with its intervals."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from headway.kinds import number_of
from headway.models.importing.foreign.network import Expected
from headway.models.structure.model import Model

_MEASURES = {
    ("processors", "utilization"): "busy",
    ("tasks", "throughput"): "throughput",
    ("tasks", "utilization"): "busy",
    ("entries", "throughput"): "throughput",
    ("entries", "utilization"): "busy",
    ("entries", "phase1-service-time"): "service_time",
    ("entries", "phase2-service-time"): "second_phase",
    ("entries", "open-wait-time"): "waiting_time",
}
"""headway's names of results; utilisations in these files count servers and threads."""

_TIMES = ("service_time", "second_phase")
_BY_PHASE = {"1": "service_time", "2": "second_phase"}


@dataclass(frozen=True)
class LayeredFile:
    """A file of layered services.

    Parameters
    ----------
    model
        The headway model.
    expected
        Results in the file: of a part by its kind and name (``job_class`` and ``station``).
    unread
        Names of results that headway has no number for.
    """

    model: Model
    expected: tuple[Expected, ...] = ()
    unread: tuple[str, ...] = ()


def results_of(root: Element) -> tuple[tuple[Expected, ...], tuple[str, ...]]:
    """The results in a file, and the names of those that are passed over.

    Examples
    --------
    >>> from headway.models.importing.safe_xml import parse_xml
    >>> text = b'''<lqn-model><processor name="cpu"><result-processor utilization="0.5">
    ... <result-conf-95 utilization="0.01"/></result-processor></processor></lqn-model>'''
    >>> (found,), _ = results_of(parse_xml(text, "one.lqnx"))
    >>> found.station, found.measure, found.value, found.low
    ('cpu', 'busy', 0.5, 0.49)
    """
    found: list[Expected] = []
    unread: dict[str, None] = {}
    for element, kind, timed in _parts(root):
        name = element.get("name", "")
        for key, measure, value, width in _results(element, kind):
            if not measure or (measure in _TIMES and not timed):
                unread[key] = None
            elif not _known(found, kind, name, measure):
                ends = (None, None) if width is None else (value - width, value + width)
                found.append(Expected(measure, name, kind, value, *ends))
    return tuple(found), tuple(unread)


def _parts(root: Element) -> Iterator[tuple[Element, str, bool]]:
    """Elements with results, what their parts are called in answers, and whether times compare.

    Clients have no phases: theirs are one time.
    """
    for processor in root.iter("processor"):
        yield processor, "processors", True
        for task in processor.iter("task"):
            yield task, "tasks", True
            for entry in task.findall("entry"):
                phases = entry.findall("entry-phase-activities/activity")
                yield entry, "entries", task.get("scheduling") != "ref" or len(phases) < 2


def _known(found: list[Expected], kind: str, name: str, measure: str) -> bool:
    return any((e.job_class, e.station, e.measure) == (kind, name, measure) for e in found)


def _results(element: Element, kind: str) -> Iterator[tuple[str, str, float, float | None]]:
    """Results of a part: their names in the file and here, values, and half widths."""
    for result in element.findall(f"result-{element.tag}"):
        for key, value, width in _numbers(result):
            yield key, _MEASURES.get((kind, key), ""), value, width
    for activity in element.findall("entry-phase-activities/activity"):
        measure = _BY_PHASE.get(activity.get("phase", "1"), "")
        for result in activity.findall("result-activity"):
            for key, value, width in _numbers(result):
                yield key, measure if key == "service-time" else "", value, width


def _numbers(result: Element) -> Iterator[tuple[str, float, float | None]]:
    widths = result.find("result-conf-95")
    for key, text in result.attrib.items():
        value = number_of(text)
        if value is not None:
            width = None if widths is None else number_of(widths.get(key, ""))
            yield key, value, width
