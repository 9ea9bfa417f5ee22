"""A station with a finite number of sources in a model file: the closed network it stands for."""

from collections.abc import Mapping

from headway.models.files.building.places import KeyLines
from headway.models.files.building.schema import ModelEntry, Number
from headway.models.files.building.shapes import KeyTable, Plain, Several, TableKey
from headway.queueing.stations.listed.kinds import WRITTEN

KIND = "FiniteSource"
CLASS = "sources"
_BY_CLASS = "service_time"
SOURCE_KEYS: KeyTable = {
    name: TableKey(Several(listed=False) if name == _BY_CLASS else Plain(), doc, needed=True)
    for name, doc in WRITTEN[KIND].numbers.items()
}
"""Keys of such a station, besides its kind."""


def with_sources(entry: ModelEntry, place: KeyLines) -> ModelEntry:
    """The entries with a pool and a closed class, for a station with a number of sources.

    Each source asks, waits for the answer, and thinks: M/M/m//N is the closed network of N jobs
    that think and then go to m servers, so everything known of the latter applies to the former.

    Parameters
    ----------
    entry, place
        The entries of a model file, and their places.

    Raises
    ------
    ModelFileError
        For other stations or arrivals in the same file, other numbers than its own, or too few.
    """
    names = [name for name, table in entry.stations.items() if table.get("kind") == KIND]
    if not names:
        return entry
    name = names[0]
    _check_alone(name, entry, place)
    table = entry.stations[name]
    _check_keys(name, table, place)
    pool = {"kind": "MMm", "service_time": table["service_time"], "servers": table["servers"]}
    sources = {"population": table["sources"], "think_time": table["think_time"]}
    return entry._replace(stations={name: pool}, classes={CLASS: sources})


def _check_alone(name: str, entry: ModelEntry, place: KeyLines) -> None:
    others = [other for other in entry.stations if other != name]
    classes = [f"class {c}" for c in entry.classes]
    more = [*others, *classes, *(["routes"] if entry.routes else []), *entry.regions]
    if more:
        msg = (
            f"{name}: a {KIND} must be the whole model, but there is {more[0]} too; write a closed "
            "network: population, think_time, and an MMm for this station"
        )
        raise place.error(msg, "stations", name)
    if entry.arrivals or "arrival_rate" in entry.parameters:
        msg = (
            f"{name}: a {KIND} has no arrivals from outside; delete the arrival rate, and give "
            "think_time, how long a source pauses"
        )
        raise place.error(msg, "stations", name)


def _check_keys(name: str, table: Mapping[str, Number], place: KeyLines) -> None:
    for key in table:
        if key not in (*SOURCE_KEYS, "kind"):
            msg = (
                f"{name} is a {KIND} and has no key {key!r}; its keys are {', '.join(SOURCE_KEYS)}"
            )
            raise place.error(msg, "stations", name, key)
    for key in SOURCE_KEYS:
        if key not in table:
            msg = f"{KIND} needs {key}"
            raise place.error(msg, "stations", name)
