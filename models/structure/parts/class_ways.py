"""Routes of single classes of jobs, where they enter, and where their rounds begin."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.formula import Formula
from headway.models.language.frozen import Kept
from headway.models.structure.parts.components import Route
from headway.models.structure.parts.keys import Key
from headway.records import dataclass

EVERY = ""
"""Stands for every class in routes, and for the reference of a model without classes."""


@dataclass(frozen=True, eq=False)
class ClassRouting(Kept):
    """Routes, arrivals and references of single classes, in addition to the routes of all classes.

    Parameters
    ----------
    routes
        Routes of one class, or on which a class changes into another.
    arrives
        Shares of the stations where an open class enters, by class.
    references
        Station where rounds begin and end, by closed class; that of a closed network without
        classes is under "".
    """

    routes: tuple[Route, ...] = ()
    arrives: Mapping[str, Mapping[str, Formula]] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def by_class(self) -> bool:
        """Whether anything differs by class."""
        return bool(self.routes or self.arrives or set(self.references) - {EVERY})

    def adding(self, route: Route) -> "ClassRouting":
        """The routing with one more route.

        Raises
        ------
        GraphError
            For a route given twice.
        """
        if any(share_by(route) == share_by(known) for known in self.routes):
            msg = (
                f"{words_of(route)} is given twice; give it once, with the sum of the probabilities"
            )
            raise GraphError(msg)
        return replace(self, routes=(*self.routes, route))

    def formulas(self) -> Iterator[tuple[Key[Amount], Formula]]:
        """Every number, with its key."""
        yield from ((share_by(route), route.probability) for route in self.routes)
        for name, shares in self.arrives.items():
            yield from ((entry_by(name, station), f) for station, f in shares.items())


def words_of(route: Route) -> str:
    """What messages call a route of a class.

    Examples
    --------
    >>> from headway.models.language.formula import formula
    >>> words_of(Route("cpu", "disk", formula("1"), "web", "batch"))
    'route cpu -> disk of class web, which becomes batch'
    """
    ends = f"route {route.source} -> {route.target}"
    own = f" of class {route.job_class}" if route.job_class else ""
    return f"{ends}{own}, which becomes {route.becomes}" if route.becomes else f"{ends}{own}"


def share_by(route: Route) -> Key[Amount]:
    """The key of the probability of a route of a class."""
    return Key(words_of(route))


def entry_by(name: str, station: str) -> Key[Amount]:
    """Share of a class that enters at a station."""
    return Key(f"class {name} arrives at {station}")
