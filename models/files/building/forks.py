"""Forks of a model file: parallel routes, and pairs of Fork and Join, as one station each."""

from collections.abc import Mapping
from typing import Any

from headway.models.files.building.keys import VISITS
from headway.models.files.building.places import KeyLines
from headway.models.files.building.schema import ModelEntry, Number, RouteEntry
from headway.models.files.building.shapes import KeyTable, Plain, TableKey, Texts, TextSchema
from headway.queueing.stations.listed.kinds import WRITTEN

FORK, JOIN = "Fork", "Join"
_NUMBERS = WRITTEN[FORK].numbers
_NEEDED = TableKey(Plain(), _NUMBERS["needed"])
FORK_KEYS: KeyTable = {
    "branches": TableKey(Texts("stations"), _NUMBERS["branches"]),
    "needed": _NEEDED,
    "visits": VISITS,
}
"""Keys of a fork, besides its kind."""
JOIN_KEYS: KeyTable = {
    "fork": TableKey(TextSchema(), WRITTEN[JOIN].numbers["fork"], needed=True),
    "needed": _NEEDED,
}
"""Keys of a join, besides its kind."""

_Tables = dict[str, Mapping[str, Number]]


def with_forks(entry: ModelEntry, place: KeyLines) -> ModelEntry:
    """The entries with a station of kind Fork, with named branches, for each fork.

    Parameters
    ----------
    entry, place
        The entries of a model file, and their places.

    Raises
    ------
    ModelFileError
        For a fork without a join, a join without a fork, and branches that jobs leave.
    """
    kinds = {name: table.get("kind") for name, table in entry.stations.items()}
    if not any(route.parallel for route in entry.routes) and not {FORK, JOIN} & set(kinds.values()):
        return entry
    stations, routes = dict(entry.stations), list(entry.routes)
    for name in (n for n, kind in kinds.items() if kind == JOIN):
        routes = _joined(name, stations, routes, place)
    for name in (n for n, kind in kinds.items() if kind == FORK):
        _check_fork(name, stations[name], place)
    return entry._replace(stations=stations, routes=tuple(_unfolded(stations, routes)))


def branches_of(table: Mapping[str, Number]) -> list[str]:
    """Stations to which a station sends parts of a request; none unless it is a fork."""
    names: Any = table.get("branches", []) if table.get("kind") == FORK else []
    return [str(name) for name in names]


def _unfolded(stations: _Tables, routes: list[RouteEntry]) -> list[RouteEntry]:
    """Routes with a fork in place of each route that goes to several stations at once."""
    unfolded = []
    for route in routes:
        if not route.parallel:
            unfolded.append(route)
            continue
        name = _free(f"{route.source}_fork", stations)
        needed: dict[str, Number] = {} if route.needed is None else {"needed": route.needed}
        stations[name] = {"kind": FORK, "branches": list(route.parallel), **needed}
        unfolded.append(RouteEntry(route.source, name, route.probability))
        if route.target:
            unfolded.append(RouteEntry(name, route.target))
    return unfolded


def _free(name: str, stations: _Tables) -> str:
    """A name that no station has."""
    later = (f"{name}_{k}" for k in range(2, len(stations) + 3))
    return next(one for one in (name, *later) if one not in stations)


def _joined(
    join: str, stations: _Tables, routes: list[RouteEntry], place: KeyLines
) -> list[RouteEntry]:
    """Routes without those from a fork to its branches and on to their join, which goes."""
    table = stations.pop(join)
    _check_keys(join, table, JOIN_KEYS, place)
    fork = str(table.get("fork", ""))
    known = stations.get(fork, {})
    if known.get("kind") != FORK:
        cause = f"{fork!r} is not a station of kind Fork" if fork else "its key fork is missing"
        msg = f"{join} is a Join without a Fork: {cause}; set fork to the name of one"
        raise place.error(msg, "stations", join)
    if "branches" in known:
        msg = (
            f"{join} is not needed: {fork} lists its branches, so it also joins them; delete {join}"
        )
        raise place.error(msg, "stations", join)
    if {"needed", "visits"} & known.keys():
        msg = f"{fork} has a Join: put needed there, and give routes instead of visits"
        raise place.error(msg, "stations", fork)
    _check_keys(fork, known, FORK_KEYS, place)
    branches = [route.target for route in routes if route.source == fork]
    _check_ways(fork, join, branches, routes, place)
    needed: dict[str, Number] = {"needed": table["needed"]} if "needed" in table else {}
    stations[fork] = {"kind": FORK, "branches": list(branches), **needed}
    kept = [r for r in routes if r.source != fork and r.target != join]
    return [r._replace(source=fork) if r.source == join else r for r in kept]


def _check_ways(
    fork: str, join: str, branches: list[str], routes: list[RouteEntry], place: KeyLines
) -> None:
    """Refuse a fork without branches, or a branch that leads elsewhere than to the join."""
    if not branches:
        msg = f"{join} has nothing to wait for: no route leaves {fork}; add a route to each branch"
        raise place.error(msg, "stations", join)
    for route in routes:
        if route.source == fork and (route.parallel or route.probability != 1):
            msg = (
                f"route {fork} -> {route.target}: a fork sends to every branch; delete the "
                "probability"
            )
            raise place.error(msg, "routes")
        if route.target == join and route.source not in branches:
            msg = f"{join} waits for {route.source}, but {fork} sends nothing there; add that route"
            raise place.error(msg, "routes")
    for branch in branches:
        onward = [r for r in routes if r.source == branch]
        here = len(onward) == 1 and onward[0].target == join and onward[0].probability == 1
        if not here or onward[0].parallel:
            msg = (
                f"{branch} is a branch of {fork}, so it must lead to {join} only; give it one "
                f"route, to {join}"
            )
            raise place.error(msg, "routes")


def _check_fork(name: str, table: Mapping[str, Number], place: KeyLines) -> None:
    if "branches" not in table:
        msg = (
            f"{name} is a Fork without a Join; add a station of kind Join with fork = '{name}', or "
            "name its branches"
        )
        raise place.error(msg, "stations", name)
    _check_keys(name, table, FORK_KEYS, place)
    named = table["branches"]
    if not (isinstance(named, list) and named and all(isinstance(b, str) for b in named)):
        raise place.error(
            'branches must be a list of station names, such as ["disk1", "disk2"]',
            "stations",
            name,
            "branches",
        )


def _check_keys(name: str, table: Mapping[str, Number], known: KeyTable, place: KeyLines) -> None:
    for key in table:
        if key not in (*known, "kind"):
            msg = (
                f"{name} is a {table['kind']} and has no key {key!r}; its keys are "
                f"{', '.join(known)}"
            )
            raise place.error(msg, "stations", name, key)
