"""Disciplines by name, as in model files; the module of a discipline is imported when used."""

from contextlib import suppress
from typing import TYPE_CHECKING

from headway.errors import InvalidParameter, PackageError
from headway.lazy import loaded, offered, outside
from headway.queueing.disciplines.discipline import Discipline, Named

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DISCIPLINES = {
    "ps": "headway.queueing.disciplines.ps:SHARING",
    "fcfs": "headway.queueing.disciplines.fcfs:FCFS",
    "lcfs": "headway.queueing.disciplines.lcfs:LAST",
    "siro": "headway.queueing.disciplines.siro:RANDOM",
    "priority": "headway.queueing.disciplines.priority:PRIORITY",
    "preemptive": "headway.queueing.disciplines.preemptive:PREEMPTIVE",
}
"""The module and constant that define each of headway's own disciplines."""

GROUP = "headway.disciplines"
"""Entry-point group by which other packages add disciplines: ``NAME = module:NAME``."""


def discipline_names() -> list[str]:
    """Names of all disciplines: headway's own, then those of other packages.

    Examples
    --------
    >>> discipline_names()[:3]
    ['ps', 'fcfs', 'lcfs']
    """
    return [*DISCIPLINES, *(name for name in offered(GROUP) if name not in DISCIPLINES)]


def find_discipline(name: str) -> Discipline:
    """Find a discipline by its name; a discipline itself is returned as it is.

    Raises
    ------
    InvalidParameter
        For an unknown name; the message lists the known ones.
    PackageError
        For a discipline of another package that cannot be used.

    Examples
    --------
    >>> find_discipline("siro").at_random
    True
    """
    return name if isinstance(name, Discipline) else _named(str(name))


def _named(name: str) -> Discipline:
    if name in DISCIPLINES:
        own: Discipline = loaded(DISCIPLINES[name])
        return own
    other: Discipline | None = outside(GROUP, name, _declared)
    if other is None:
        known = ", ".join(discipline_names())
        msg = f"unknown discipline {name!r}; it must be one of {known}"
        raise InvalidParameter(msg)
    return other


def _declared(point: "EntryPoint") -> Discipline:
    """A discipline that another package declares under its own name."""
    declared: object = point.load()
    if not isinstance(declared, Discipline):
        msg = f"{point.value} is not a headway.queueing.Discipline"
        raise PackageError(msg)
    if declared != point.name:
        msg = f"{point.value} is called {declared}; make both the same"
        raise PackageError(msg)
    return declared


def usable_disciplines() -> list[Discipline]:
    """All disciplines, except those of other packages that cannot be used.

    Examples
    --------
    >>> [each for each in usable_disciplines() if each.by_priority][:2]
    [Discipline('priority'), Discipline('preemptive')]
    """
    found = []
    for name in discipline_names():
        with suppress(PackageError):
            found.append(find_discipline(name))
    return found


Named.find = find_discipline
Named.known = usable_disciplines
Named.constants = {place.partition(":")[2]: name for name, place in DISCIPLINES.items()}

DEFAULT = find_discipline("fcfs")
"""The discipline of a station that names none."""
