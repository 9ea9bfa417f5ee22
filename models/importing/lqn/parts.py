"""The contents of an LQNX file: the parts of each element, and its attributes.

A misspelt or missing attribute would silently take its default, and an unknown part would be lost,
so both are refused. Source: ``lqn-core.xsd`` and ``lqn.xsd`` of LQNS.
"""

from collections.abc import Callable, Mapping
from xml.etree.ElementTree import Element

from headway.errors import HeadwayError, nearest, quoted
from headway.records import dataclass

Wrong = Callable[[str, str], HeadwayError]
"""Makes the error of something at a place."""


@dataclass(frozen=True)
class _Kind:
    """An element: its required and optional attributes, and the kinds of its parts by tag."""

    needs: tuple[str, ...]
    may: tuple[str, ...]
    parts: Mapping[str, str]


_PASSED = "passed over"
"""Elements whose contents do not matter."""

_INSTEAD = {
    "lqx": "put what its program sets into <parameters>, such as $x = 1, in place of it",
    "convergence-collection": "leave it out, and give its variables the values that they take",
}
"""What to do about parts, if it is more than to delete them."""

_DOES = "host-demand-mean host-demand-cvsq think-time max-service-time call-order"
_CALLS = {"synch-call": "call", "asynch-call": "call"}
_AROUND = "solver-params", "plot-control", "run-control", "pragma", "spex", "parameters"


def _kind(needs: str = "", may: str = "", **parts: str) -> _Kind:
    named = {tag.replace("_", "-"): kind for tag, kind in parts.items()}
    return _Kind(tuple(needs.split()), tuple(may.split()), named)


_KINDS = {
    "lqn-model": _kind(
        "",
        "name description lqn-schema-version lqncore-schema-version xml-debug",
        processor="processor",
        **dict.fromkeys(_AROUND, _PASSED),
    ),
    "processor": _kind(
        "name", "multiplicity speed-factor scheduling replication quantum", task="task"
    ),
    "task": _kind(
        "name",
        "multiplicity replication initially scheduling think-time priority queue-length "
        "activity-graph",
        entry="entry",
        task_activities="graph",
        fan_out="fan-out",
        fan_in="fan-in",
        service=_PASSED,
    ),
    "fan-out": _kind("dest value"),
    "fan-in": _kind("source value"),
    "entry": _kind(
        "name type",
        "open-arrival-rate priority semaphore rwlock",
        forwarding="forwarding",
        entry_phase_activities="phases",
    ),
    "forwarding": _kind("dest prob"),
    "phases": _kind(activity="phase"),
    "phase": _kind("name phase", _DOES, **_CALLS),
    "graph": _kind(activity="activity", precedence="precedence", reply_entry="reply-entry"),
    "activity": _kind("name", f"{_DOES} bound-to-entry", **_CALLS),
    "call": _kind("dest calls-mean"),
    "precedence": _kind(
        pre="named",
        pre_OR="named",
        pre_AND="join",
        post="named",
        post_AND="ways",
        post_OR="ways",
        post_LOOP="loops",
    ),
    "named": _kind(activity="name"),
    "join": _kind("", "quorum", activity="name"),
    "ways": _kind(activity="way"),
    "loops": _kind("", "end", activity="loop"),
    "name": _kind("name"),
    "way": _kind("name", "prob"),
    "loop": _kind("name count"),
    "reply-entry": _kind("name", "", reply_activity="name"),
}


def check_parts(root: Element, wrong: Wrong) -> None:
    """Refuse parts and attributes that are unknown, missing, or repeated.

    Results, and requests for results, are passed over.

    Parameters
    ----------
    root
        An element ``lqn-model``.
    wrong
        Makes the error of something at a place.
    """
    _check(root, "lqn-model", "lqn-model", wrong)
    for task in root.iter("task"):
        _check_task(task, wrong)


def _check_task(task: Element, wrong: Wrong) -> None:
    """Refuse two graphs, and repeated names of phases."""
    place, known = f"task {task.get('name', '')}", set()
    if len(task.findall("task-activities")) > 1:
        raise wrong(place, "it has two graphs of activities; put all into one")
    for one in task.iterfind("entry/entry-phase-activities/activity"):
        name = one.get("name", "")
        if name in known:
            raise wrong(place, f"activity {name} is defined twice; rename one")
        known.add(name)


def _check(element: Element, kind: str, place: str, wrong: Wrong) -> None:
    row = _KINDS[kind]
    _check_attributes(element, row, place, wrong)
    for part in element:
        if _is_result(part.tag):
            continue
        inside = row.parts.get(part.tag)
        if inside is None:
            instead = _INSTEAD.get(part.tag, "leave it out")
            raise wrong(place, f"<{part.tag}> is not supported; {instead}")
        if inside != _PASSED:
            _check(part, inside, _place(part, place), wrong)


def _check_attributes(element: Element, row: _Kind, place: str, wrong: Wrong) -> None:
    known = (*row.needs, *row.may)
    for name in row.needs:
        if not element.get(name, "").strip():
            raise wrong(place, f"it has no {name}; add it")
    for name in element.attrib:
        if name not in known and not name.startswith("{"):
            raise wrong(place, f"headway does not read {quoted(name)}{nearest(name, known)}")


def _is_result(tag: str) -> bool:
    return tag.startswith(("result-", "results-")) or tag.endswith(("histogram", "-distribution"))


def _place(element: Element, outside: str) -> str:
    """The place of an element: its tag and name; for one without a name, those of its parent."""
    if element.tag in ("processor", "task", "entry"):
        return f"{element.tag} {element.get('name', '')}".strip()
    own = element.get("name") or element.get("dest") or element.get("source") or ""
    return f"{outside}: {element.tag} {own}".strip()
