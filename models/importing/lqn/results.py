"""Results in LQNX files: those of another solver or a simulation, with their intervals."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import reduce
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
    ("entries", "phase3-service-time"): "second_phase",
    ("entries", "open-wait-time"): "response_time",
}
"""headway's names of results. Utilisations in these files count servers and threads, and the
waiting time of requests from outside includes their service."""


@dataclass(frozen=True)
class LayeredFile:
    """A file of layered services.

    Parameters
    ----------
    model
        The headway model.
    expected
        Results in the file, by kind and name of the part (``job_class`` and ``station``).
    unread
        Names of results that headway does not have.
    """

    model: Model
    expected: tuple[Expected, ...] = ()
    unread: tuple[str, ...] = ()


def results_of(
    root: Element, met: Collection[str] = ()
) -> tuple[tuple[Expected, ...], tuple[str, ...]]:
    """The results in a file, and the names of those passed over.

    Parameters
    ----------
    root
        An element ``lqn-model``.
    met
        Entries whose requests meet. For these the files count the times that the thread works, for
        any of them; headway counts how long each request has a thread, with its waiting.

    Examples
    --------
    >>> from headway.models.importing.safe_xml import parse_xml
    >>> text = b'''<lqn-model><processor name="cpu"><result-processor utilization="0.5">
    ... <result-conf-95 utilization="0.01"/></result-processor></processor></lqn-model>'''
    >>> (found,), _ = results_of(parse_xml(text, "one.lqnx"))
    >>> found.station, found.measure, found.value, found.low
    ('cpu', 'busy', 0.5, 0.49)
    """
    found: dict[tuple[str, str, str], dict[str, Expected]] = {}
    unread: dict[str, None] = {}
    for element, kind, clients in _parts(root):
        name = element.get("name", "")
        for key, value, width in _results(element):
            measure = _MEASURES.get((kind, key), "")
            apart = kind == "entries" and name in met and measure != "throughput"
            if not measure or apart:
                unread[key] = None
                continue
            if clients and measure == "second_phase":  # they have one time for all phases
                measure = "service_time"
            ends = (None, None) if width is None else (value - width, value + width)
            each = found.setdefault((kind, name, measure), {})
            each.setdefault(key, Expected(measure, name, kind, value, *ends))
    return tuple(reduce(_sum, each.values()) for each in found.values()), tuple(unread)


def _sum(one: Expected, other: Expected) -> Expected:
    """The sum of two times, with an interval that is wide enough."""
    low = None if one.low is None or other.low is None else one.low + other.low
    high = None if one.high is None or other.high is None else one.high + other.high
    return replace(one, value=one.value + other.value, low=low, high=high)


def _parts(root: Element) -> Iterator[tuple[Element, str, bool]]:
    """Elements with results, the names of their parts in answers, and whether they are clients."""
    for processor in root.iter("processor"):
        yield processor, "processors", False
        for task in processor.iter("task"):
            clients = task.get("scheduling") == "ref"
            yield task, "tasks", clients
            yield from ((entry, "entries", clients) for entry in task.findall("entry"))


def _results(element: Element) -> Iterator[tuple[str, float, float | None]]:
    """Results of a part: names (those of its activities as for phases), values, half-widths."""
    for result in element.findall(f"result-{element.tag}"):
        yield from _numbers(result)
    for activity in element.findall("entry-phase-activities/activity"):
        phase = activity.get("phase", "1")
        for result in activity.findall("result-activity"):
            for key, value, width in _numbers(result):
                named = f"phase{phase}-service-time" if key == "service-time" else key
                yield named, value, width


def _numbers(result: Element) -> Iterator[tuple[str, float, float | None]]:
    widths = result.find("result-conf-95")
    for key, text in result.attrib.items():
        value = number_of(text)
        if value is not None:
            width = None if widths is None else number_of(widths.get(key, ""))
            yield key, value, width
