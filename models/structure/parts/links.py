"""A link's numbers as parameters: those that are given rather than calculated can be set.

The overhead of a link is the mean of the sender's and the receiver's. If both are given, the
overhead can still be set: it then replaces both, until one of them is set separately.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from headway.errors import GraphError, UnknownParameter, nearest
from headway.kinds import Amount, check_count
from headway.models.language.formula import Formula, formula, of_number
from headway.models.language.parameters import Parameter
from headway.models.language.units import ONE, unit
from headway.models.structure.parts.components import Component

if TYPE_CHECKING:
    from headway.loggp.machine.parameters import LogGP

LINK_PARTS = ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte", "processors")

Links: TypeAlias = Mapping[str, Component]
Parameters: TypeAlias = Mapping[str, Parameter]

_SIDES = ("send_overhead", "receive_overhead")
_BOTH = "overhead"
_TIME = unit("us")
_KNOWN = {
    "latency": Parameter("latency", None, _TIME, 0.0, doc="L: one-way network time"),
    _BOTH: Parameter(
        _BOTH, None, _TIME, 0.0, doc="o: processor time to send or to receive a message"
    ),
    "send_overhead": Parameter("", None, _TIME, 0.0, doc="o_s: processor time to send a message"),
    "receive_overhead": Parameter(
        "", None, _TIME, 0.0, doc="o_r: processor time to receive a message"
    ),
    "gap": Parameter("gap", None, _TIME, 0.0, doc="g: shortest time between messages"),
    "gap_per_byte": Parameter("", None, unit("ns/B"), 0.0, doc="G: time per byte of a message"),
    "processors": Parameter("processors", None, ONE, 1.0, doc="P: processors on the link"),
}

LINK_KEYS = tuple(_KNOWN)
"""Numbers of a link that can be given and set, in the order in which they are listed."""

LINK_DOCS = {part: known.doc for part, known in _KNOWN.items()}
"""The meaning of each."""

LINK_UNITS = {part: known.unit for part, known in _KNOWN.items()}
"""The unit in which each is shown."""


def by_sides(values: Mapping[str, Amount]) -> dict[str, Amount]:
    """Numbers of a link with an overhead for either side, if one is given for both.

    Raises
    ------
    GraphError
        For an overhead and one of its sides.

    Examples
    --------
    >>> by_sides({"overhead": 3e-6, "gap": 6e-6})
    {'gap': 6e-06, 'send_overhead': 3e-06, 'receive_overhead': 3e-06}
    """
    sides = {name: value for name, value in values.items() if name != _BOTH}
    if _BOTH not in values:
        return sides
    if taken := [side for side in _SIDES if side in values]:
        msg = (
            f"overhead and {taken[0]} are both given; give overhead alone, or one value "
            "for each side"
        )
        raise GraphError(msg)
    return sides | dict.fromkeys(_SIDES, values[_BOTH])


def link_machine(name: str, machine: "LogGP") -> "LogGP":
    """Convert a link's machine to the papers' convention for latency.

    Raises
    ------
    GraphError
        For another convention of latency together with a formula, whose value is not yet known.
    """
    from headway.loggp.machine.conventions import in_papers
    from headway.loggp.machine.parameters import Convention

    texts = [part for part in LINK_PARTS if isinstance(getattr(machine, part), str)]
    if texts and machine.convention is not Convention.PAPERS:
        msg = (
            f"{name}: a latency in convention {machine.convention} is converted when the "
            f"graph is made, so all of its numbers must be given; {texts[0]} is the formula "
            f"{getattr(machine, texts[0])!r}: write latency in convention papers"
        )
        raise GraphError(msg)
    return in_papers(machine)


def platform_of(machine: "LogGP") -> str:
    """The name of a published machine; empty for any other.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> from headway.loggp.machine.platforms import PLATFORMS
    >>> platform_of(PLATFORMS["now"]), platform_of(LogGP(5e-6, 1e-6, 1e-6, 6e-6, 0.0))
    ('now', '')
    """
    from headway.loggp.machine.platforms import PLATFORMS

    return next((name for name, known in PLATFORMS.items() if known is machine), "")


def link_parameters(links: Links) -> dict[str, Parameter]:
    """The numbers of links that are given, as parameters with the graph's values.

    Examples
    --------
    >>> from headway.loggp.machine.platforms import PLATFORMS
    >>> from headway.models import ModelGraph
    >>> graph = ModelGraph("one").link("lan", PLATFORMS["now"])
    >>> part = link_parameters(graph.links)["lan.latency"]
    >>> part.shown(part.value), part.source
    ('5 us', 'Berkeley NOW: Martin 1999, Table 2.1')
    """
    return {
        f"{name}.{part}": replace(
            known,
            name=f"{name}.{part}",
            value=value,
            source=published_source(link, part, value),
        )
        for name, link in links.items()
        for part, known in _KNOWN.items()
        if (value := _given(link, part)) is not None
    }


def _given(link: Component, part: str) -> float | None:
    """A number of a link as a parameter; None if it is a formula."""
    read = link.fields.get(part)
    return read.constant if isinstance(read, Formula) else None


def published_source(link: Component, part: str, value: Amount) -> str:
    """The source of a number of a published machine."""
    from headway.loggp.machine.platforms import PLATFORM_SOURCES, PLATFORMS

    if part == "processors" or not link.platform:
        return ""
    same = getattr(PLATFORMS[link.platform], part) == value
    return PLATFORM_SOURCES[link.platform] if same else ""


def is_published(link: Component, part: str, value: Amount) -> bool:
    """Whether a number of a link follows from its platform's name."""
    from headway.loggp.machine.platforms import PLATFORMS

    known = PLATFORMS.get(link.platform)
    return known is not None and part in LINK_PARTS and bool(getattr(known, part) == value)


def settable(links: Links, parameters: Parameters) -> list[str]:
    """Names that can be set: every parameter, a link's overhead for both sides, and for each side.

    Examples
    --------
    >>> from headway.loggp.machine.platforms import PLATFORMS
    >>> from headway.models import ModelGraph
    >>> graph = ModelGraph("one").link("lan", PLATFORMS["now"])
    >>> settable(graph.links, graph.at().parameters)[-1]
    'lan.overhead'
    """
    both = [f"{name}.{_BOTH}" for name, link in links.items() if _can_join(link)]
    joined = [name for name, link in links.items() if _given(link, _BOTH) is not None]
    return [*parameters, *both, *(f"{name}.{side}" for name in joined for side in _SIDES)]


def exposed(
    model: str,
    links: Links,
    parameters: Parameters,
    names: Sequence[str],
    known: Iterable[str] = (),
) -> tuple[Links, Parameters]:
    """The links and parameters, regrouped so that some names are among them.

    Only overheads need regrouping: one for the sender and one for the receiver, or one for both.

    Parameters
    ----------
    model, links, parameters
        The model's name, its links and its parameters.
    names
        Names to include, such as ``lan.overhead``.
    known
        Other names to suggest for a wrong one.

    Raises
    ------
    UnknownParameter
        For a name that the model does not have, or an overhead together with one of its sides.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> from headway.models import ModelGraph
    >>> machine = LogGP("2 * hop", 1e-6, 1e-6, 6e-6, 0.0)
    >>> graph = ModelGraph("one").declare("hop").link("lan", machine)
    >>> exposed("one", graph.links, graph.at().parameters, ["lan.latency"])
    Traceback (most recent call last):
        ...
    headway.errors.UnknownParameter: lan.latency is the formula '2 * hop' in one; set hop
    """
    for name in names:
        if name not in parameters:
            regrouped = _regrouped(links, parameters, name)
            if regrouped is None:
                there = {*settable(links, parameters), *known}
                raise UnknownParameter(_no_parameter(model, links, name, there))
            links, parameters = regrouped
    _check_apart(names, parameters)
    return links, parameters


def _can_join(link: Component) -> bool:
    return all(_given(link, side) is not None for side in _SIDES)


def _regrouped(links: Links, parameters: Parameters, name: str) -> tuple[Links, Parameters] | None:
    """Use one overhead for both sides, or one for each side, so that a name exists."""
    head, _, part = name.partition(".")
    link = links.get(head)
    if link is not None and part == _BOTH and _can_join(link):
        return _exchanged(links, parameters, head, _SIDES, (_BOTH,))
    if link is not None and part in _SIDES and _given(link, _BOTH) is not None:
        return _exchanged(links, parameters, head, (_BOTH,), _SIDES)
    return None


def _exchanged(
    links: Links, parameters: Parameters, head: str, old: tuple[str, ...], new: tuple[str, ...]
) -> tuple[Links, Parameters]:
    """Replace numbers of a link by new ones with the mean of their values."""
    before = [parameters[f"{head}.{part}"] for part in old]
    number = of_number(_mean([_given(links[head], part) or 0.0 for part in old]))
    fields = {n: f for n, f in links[head].fields.items() if n not in (*old, *_SIDES)}
    made: dict[str, Formula] = dict.fromkeys(new, number)
    sides = dict.fromkeys(_SIDES, formula(f"{head}.{_BOTH}")) if _BOTH in new else {}
    mine = replace(links[head], fields={**fields, **made, **sides})
    fresh = {f"{head}.{part}": _standing_for(before, f"{head}.{part}", part) for part in new}
    kept: dict[str, Parameter] = {}
    for name, parameter in parameters.items():
        kept |= fresh if name == before[0].name else {name: parameter}
    for parameter in before[1:]:
        del kept[parameter.name]
    return {**links, head: mine}, kept


def _standing_for(before: list[Parameter], name: str, part: str) -> Parameter:
    """A parameter in place of others: their mean, within the bounds of all."""
    own = [p.value if p.own is None else p.own for p in before]
    sources = dict.fromkeys(p.source for p in before if p.source)
    return replace(
        _KNOWN[part],
        name=name,
        value=_mean([p.value for p in before]),
        unit=before[0].unit,
        minimum=max(p.minimum for p in before),
        maximum=min(p.maximum for p in before),
        source="; ".join(sources),
        own=None if all(p.own is None for p in before) else _mean(own),
    )


def _mean(values: Sequence[Amount]) -> Amount:
    return values[0] if len(values) == 1 else (values[0] + values[1]) / 2


def _no_parameter(model: str, links: Links, name: str, there: Iterable[str]) -> str:
    """Say that a model has no such parameter, and what is nearest to it, or its formula."""
    head, _, part = name.partition(".")
    fields = links[head].fields if head in links else {}
    for side in _SIDES if part == _BOTH else (part,):
        read = fields.get(side)
        if isinstance(read, Formula) and read.constant is None:
            how = ", ".join(sorted(read.names)) or "a number there"
            return f"{head}.{side} is the formula {read.text!r} in {model}; set {how}"
    if not (known := list(there)):
        return f"{model} has no parameters; name its numbers under [parameters] to set {name!r}"
    return f"{model} has no parameter {name!r}{nearest(name, known)}"


def _check_apart(names: Sequence[str], parameters: Parameters) -> None:
    """Refuse to set an overhead for both sides together with that of one side."""
    lost = next((name for name in names if name not in parameters), None)
    if lost is not None:
        head = lost.partition(".")[0]
        msg = f"{head}.{_BOTH} covers both sides; give it, or {' and '.join(_SIDES)}, not both"
        raise UnknownParameter(msg)


def check_links(links: Links, parameters: Parameters) -> None:
    """Refuse a number of processors that is not an integer.

    Raises
    ------
    InvalidParameter
        With the link's name.
    """
    for name in links:
        processors = parameters.get(f"{name}.processors")
        if processors is not None:
            check_count(processors.name, processors.value)
