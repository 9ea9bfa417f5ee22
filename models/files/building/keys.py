"""The keys of components, which depend on their kind, with descriptions from its docstring."""

import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields
from functools import lru_cache
from typing import Any, get_origin

from headway.models.files.building.shapes import (
    Fault,
    Json,
    Keys,
    KeyTable,
    Plain,
    Schema,
    Several,
    TableKey,
    TextSchema,
)
from headway.models.language.algorithms import Algorithm
from headway.queueing.disciplines.table import DISCIPLINES
from headway.queueing.network.blocking import Blocking
from headway.queueing.stations.abilities import QueueChoice
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import LIMITED, REPLICATED

FILE_KEYS = {"places": "capacity"}
"""Numbers of stations with other names in model files than in Python."""

BY_CLASS = ("service_time", "scv")
"""Numbers of stations that may differ by class."""

VISITS = TableKey(
    Several(listed=False), "Mean visits per job, in place of routes; or a table by class."
)

COPIES = TableKey(Plain(), "Equal copies of the station, each with its own queue; 1 by default.")

OLDEST = TableKey(
    Plain(), "Age of a request beyond which it is dropped, unserved, when its turn comes."
)

ROUTE = TableKey(
    TextSchema(tuple(QueueChoice)), "How a job chooses among the queues; random by default."
)

SHED = "shed"
EXAMPLE = "when queue > 40"
RULE = re.compile(r"\s*when\s+queue\s*(>=?)\s*([^\s<>=].*)")
"""A rule of shedding: the sign, and how many wait."""


class Shedding(Schema):
    """The rule by which a station refuses arrivals: ``when queue > 40``, a number or a formula."""

    def __call__(self, value: Any, keys: Keys) -> str:
        """Read the rule."""
        if not isinstance(value, str) or not RULE.fullmatch(value):
            msg = f'must be a rule such as "{EXAMPLE}", of the number of jobs that wait'
            raise Fault(msg, keys)
        return value

    def described(self) -> Json:
        """Describe the text."""
        return {"type": "string", "pattern": "^ *when +queue *>=? *[^ <>=]"}


SHEDS = TableKey(
    Shedding(),
    f"{EXAMPLE}: arrivals that find more jobs waiting are refused at once; a number or a formula.",
)

_LIST = Several(one=False, by_class=False)
_ALIKE = re.compile(r"As for `(\w+)`")


def station_keys(kind: type[Station], disciplines: Iterable[str] = DISCIPLINES) -> KeyTable:
    """The keys that a kind of station has in a model file, besides its kind.

    Parameters
    ----------
    kind
        A frozen dataclass.
    disciplines
        Names of the disciplines that it may have; by default headway's own.

    Examples
    --------
    >>> from headway.queueing import MM1K, Parallel
    >>> list(station_keys(MM1K))
    ['service_time', 'capacity', 'visits', 'discipline', 'blocking', 'drop_older_than']
    >>> list(station_keys(Parallel))[-2:]
    ['drop_older_than', 'route']
    """
    return _station_keys(kind, tuple(disciplines))


@lru_cache(maxsize=256)
def _station_keys(kind: type[Station], disciplines: tuple[str, ...]) -> KeyTable:
    docs = field_docs(kind)
    own = {
        FILE_KEYS.get(field.name, field.name): TableKey(
            _shape(field), docs.get(field.name, ""), needed=field.default is MISSING
        )
        for field in fields(kind)  # type: ignore[arg-type]
    }
    by_name = kind.can.shared or (kind.can.loses and "service_time" in own)
    if by_name and "service_time" not in own:  # kinds that define it by other numbers
        words = "The service time of a job that is alone at the station, by class."
        own["service_time"] = TableKey(Several(one=False, listed=False), words)
    copied = {"replicas": COPIES} if kind.__name__ in REPLICATED else {}
    chosen = {"route": ROUTE} if copied or kind.chosen_as else {}
    return own | {
        "visits": VISITS,
        "discipline": TableKey(
            TextSchema(disciplines), "The order in which the queue is served; fcfs by default."
        ),
        "blocking": TableKey(
            TextSchema(tuple(Blocking)),
            "What happens to jobs that find the station full; lost by default.",
        ),
        "drop_older_than": OLDEST,
        **({SHED: SHEDS} if kind.__name__ in LIMITED else {}),
        **copied,
        **chosen,
    }


def _shape(field: "Field[Any]") -> Several:
    """The forms that a number may have, by the type of its field."""
    by_class = field.name in BY_CLASS
    if isinstance(field.type, str) or field.type is Any:
        return Several(by_class=by_class)
    many = get_origin(field.type) is Sequence
    return Several(one=not many, listed=many, by_class=by_class)


def algorithm_keys(algorithm: Algorithm, kind: type) -> KeyTable:
    """The keys that a component with an algorithm has in a model file, besides its kind.

    Parameters
    ----------
    algorithm
        The algorithm of the component's table.
    kind
        One of its classes.

    Examples
    --------
    >>> from headway.models.language.algorithms import ALGORITHMS
    >>> pipelines = ALGORITHMS["pipelines"]
    >>> list(algorithm_keys(pipelines, pipelines.kind()))
    ['occupancy', 'gap_per_byte', 'transfer', 'packet', 'stages']
    """
    docs, needed = field_docs(kind), algorithm.needed(kind)
    from_file = bool(algorithm.file) and algorithm.word_of(kind) == algorithm.file
    own = {
        key: TableKey(
            _LIST if key in algorithm.lists else Plain(),
            docs.get(key, ""),
            needed=key in needed and not (from_file and key in algorithm.lists),
        )
        for key in algorithm.keys(kind)
    }
    if algorithm.labels:
        own[algorithm.labels] = TableKey(_LIST, "The names of the stages, in order.")
    if from_file:
        own[algorithm.file] = TableKey(
            TextSchema(), "A CSV file in the same folder with the lists."
        )
    return own


def summary(kind: type) -> str:
    """The first line of a class's docstring.

    Examples
    --------
    >>> from headway.queueing import Delay
    >>> summary(Delay)
    'A delay: every job has its own server, so no job waits: R = S.'
    """
    return (kind.__doc__ or "").partition("\n")[0]


def field_docs(kind: type) -> dict[str, str]:
    """Descriptions of a class's parameters, from its docstring.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> field_docs(MM1)
    {'service_time': 'Mean service time S [s], 0 or more.'}
    """
    text = inspect.cleandoc(kind.__doc__ or "")
    _, _, section = text.partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    docs: dict[str, str] = {}
    for names, words in re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", section, re.MULTILINE):
        doc = " ".join(words.split())
        docs |= {name: _doc(kind, name, doc) for name in names.split(", ")}
    return docs


def _doc(kind: type, name: str, words: str) -> str:
    """The description of a parameter, also if it is in another class."""
    alike = _ALIKE.match(words)
    if alike is None:
        return words
    other = getattr(inspect.getmodule(kind), alike[1])
    return field_docs(other)[name] + words[alike.end() :].lstrip(".")
