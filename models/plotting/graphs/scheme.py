"""The contents of a picture of a graph: boxes with words, and arrows between them."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from headway.models.language.scales import Scale
from headway.models.language.units import ONE
from headway.models.plotting.graphs.sources import sources_of
from headway.models.showing.parts.numbers import kind_text, number_text, number_texts, numbers_of
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.networks import to_networkx
from headway.records import dataclass

_SATURATED = 0.995
_LABEL = 18  # letters per line beside an arrow
_MOST_NUMBERS = 3  # most numbers of a station that are written into its box


class Sort(Enum):
    """The kind of thing that a box stands for."""

    STATION = "station"
    LINK = "link"
    FORMULA = "formula"
    SOURCE = "source"


@dataclass(frozen=True)
class PictureBox:
    """A box of the picture, or the words for where jobs come from.

    Parameters
    ----------
    words
        Its words, line by line.
    sort
        The kind of thing that it stands for.
    is_full
        Whether it is a saturated station.
    """

    words: str
    sort: Sort
    is_full: bool = False


@dataclass(frozen=True)
class Edge:
    """An arrow: a route of jobs, or from a number to the formula that uses it.

    Parameters
    ----------
    source, target
        Names of the two boxes.
    label
        The label of the arrow.
    is_route
        Whether jobs move along it.
    is_both
        Whether jobs move along it in both directions.
    """

    source: str
    target: str
    label: str = ""
    is_route: bool = True
    is_both: bool = False


@dataclass(frozen=True)
class Scheme:
    """Boxes by name, the arrows between them, and names of boxes that share a frame."""

    parts: Mapping[str, PictureBox]
    edges: tuple[Edge, ...]
    frames: tuple[tuple[str, ...], ...] = ()

    def named(self, *sorts: Sort) -> list[str]:
        """Names of the boxes of some kinds."""
        return [name for name, part in self.parts.items() if part.sort in sorts]


def scheme_of(
    graph: ModelGraph,
    utilisations: Mapping[str, float],
    terminals: str | None,
    wide: int,
    scale: Scale,
    values: Mapping[str, str] | None = None,
) -> Scheme:
    """The contents of the picture of a graph.

    Parameters
    ----------
    graph
        A graph with stations.
    utilisations
        Utilisation of each station, 0 to 1, where it is known.
    terminals
        What is known of a closed population; None if jobs arrive from outside.
    wide
        Letters per line of a box.
    scale
        The units of the picture.
    values
        Values, as text, of the parameters that have a single one: a number that is the parameter of
        its own name, such as a service time ``service_time``, is shown by its value.
    """
    parts, edges, known = {}, [], values or {}
    for source in sources_of(graph, terminals, scale):
        parts[source.name] = PictureBox(_wrapped(source.words, wide), Sort.SOURCE)
        edges += [
            Edge(source.name, at, share, is_both=at in source.back)
            for at, share in source.entries.items()
        ]
        edges += [Edge(at, source.name) for at in source.back if at not in source.entries]
    for name, component in graph.stations.items():
        parts[name] = _station(graph, name, utilisations.get(name, 0.0), wide, scale, known)
        edges += _fork(graph, name, component.branches)
    for name, link in graph.links.items():
        words = f"{name}\n{link.kind.__name__}\n{_numbers(link, wide, scale, known)}".rstrip()
        parts[name] = PictureBox(words, Sort.LINK)
    for name, formula in graph.bindings.items():
        words = f"{name} =\n{_wrapped(formula.text, wide)}"
        parts[f"{name} (formula)"] = PictureBox(words, Sort.FORMULA)
    between = [edge for edge in _between(graph, parts) if not _is_joined(graph, edge)]
    frames = tuple(region.stations for region in graph.regions.values())
    return Scheme(parts, (*edges, *between), frames)


def _fork(graph: ModelGraph, name: str, branches: Sequence[str]) -> Iterator[Edge]:
    """Arrows of a fork: to its branches, and from each branch to where its parts are joined."""
    after = [one.target for one in graph.routes if one.source == name and one.target != name]
    for branch in branches:
        yield Edge(name, branch, "part")
        beyond = (one for one in after if one != branch and not graph.routes.between(branch, one))
        yield from (Edge(branch, one, "joined") for one in beyond)


def _is_joined(graph: ModelGraph, edge: Edge) -> bool:
    """Whether an arrow leads from a fork, whose branches have arrows of their own."""
    station = graph.stations.get(edge.source)
    return edge.is_route and station is not None and bool(station.branches)


def _between(graph: ModelGraph, parts: Mapping[str, PictureBox]) -> Iterator[Edge]:
    """Arrows between the parts of a graph, except those from a station to itself."""
    for source, target, marks in to_networkx(graph).edges(data=True):
        if source in parts and target in parts and source != target:
            text = str(marks.get("probability", ""))
            label = "" if text == "1" else _wrapped(text, _LABEL)
            yield Edge(source, target, label, marks["sort"] == "route")


def _station(
    graph: ModelGraph,
    name: str,
    busy: float,
    wide: int,
    scale: Scale,
    values: Mapping[str, str],
) -> PictureBox:
    component, full = graph.stations[name], busy > _SATURATED
    share = "always busy" if full else f"busy {busy:.0%}" if busy else ""
    lines = [name, kind_text(component), share, _numbers(component, wide, scale, values)]
    lines += [
        _wrapped(f"in {region} (limit: {number_text(each.limit, ONE, scale)})", wide)
        for region, each in graph.regions.items()
        if name in each.stations
    ]
    back = graph.routes.between(name, name)
    if back:
        text = f"\N{ANTICLOCKWISE OPEN CIRCLE ARROW} returns: {back.probability.text}"
        lines.append(_wrapped(text, wide))
    return PictureBox("\n".join(filter(None, lines)), Sort.STATION, full)


def _numbers(component: Component, wide: int, scale: Scale, values: Mapping[str, str]) -> str:
    """A component's numbers; those of its kind too, if they are few."""
    lines = []
    for name, reads in numbers_of(component):
        if name not in component.fields or len(component.fields) <= _MOST_NUMBERS:
            texts = ", ".join(number_texts(component, name, reads, scale, values))
            lines.append(f"{_words(name)}: {texts}")
    return "\n".join(_wrapped(line, wide) for line in lines)


def _words(name: str) -> str:
    """A number's name in words; with the name of its class, if it has one."""
    number, _, job_class = name.rstrip("]").partition("[")
    return f"{number.replace('_', ' ')} {job_class}".rstrip()


def _wrapped(text: str, wide: int) -> str:
    return "\n".join(
        textwrap.fill(
            " ".join(_parted(word, wide) for word in line.split(" ")),
            wide, break_long_words=False, break_on_hyphens=False,
        )
        for line in text.split("\n")
    )  # fmt: skip


def _parted(word: str, wide: int) -> str:
    """A word longer than a line, with a space after the last bracket that fits on a line.

    The two parts together do not fit on one line, so the space always becomes a line break.
    """
    if len(word) <= wide:
        return word
    cut = max(word.rfind("(", 0, wide), word.find("(")) + 1
    if cut in (0, len(word)):
        return word
    return f"{word[:cut]} {_parted(word[cut:], wide)}"
