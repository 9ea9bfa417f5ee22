"""Forks of a graph: the stations that their parts go to, and how often."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from headway.errors import GraphError, InvalidParameter, nearest
from headway.kinds import Amount, is_symbolic, plain
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.structure import Structure, of_structure
from headway.numerals import digits
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station


def forks(stations: Mapping[str, Component]) -> dict[str, tuple[str, ...]]:
    """The branches of each fork."""
    return {name: part.branches for name, part in stations.items() if part.branches}


@of_structure
def branches_of(graph: Structure) -> frozenset[str]:
    """Stations that serve parts sent by a fork."""
    return frozenset(chain(*forks(graph.stations).values()))


def check_branches(stations: Mapping[str, Component], name: str, branches: Sequence[str]) -> None:
    """Refuse a fork without branches, or with a branch that is not a station.

    Raises
    ------
    GraphError
        With the fork, the branch, and what can be done.
    """
    if not branches:
        msg = f"{name} has no branches; name the stations that work on a request in parallel"
        raise GraphError(msg)
    for branch in branches:
        if branch not in stations:
            msg = f"{name}: there is no station {branch!r}{nearest(branch, stations)}"
            raise GraphError(msg)
        _check_kind(name, branch, stations[branch])
        apart = stations[branch].can.product_form is ServiceKind.PARALLEL
        if branches.count(branch) > 1 and not apart:
            msg = (
                f"{name}: {branch} is named twice; only a station with several queues can take "
                "several parts (Parallel)"
            )
            raise GraphError(msg)


def _check_kind(name: str, branch: str, station: Component) -> None:
    kind = station.label
    if station.branches:
        msg = f"{name}: its branch {branch} is a fork too; nested forks are not supported"
    elif station.can.loses:
        msg = (
            f"{name}: its branch {branch} ({kind}) can lose a part, so the request would "
            "never finish; use a station without loss"
        )
    elif station.can.scv is None:
        msg = (
            f"{name}: its branch {branch} is {kind}, whose response time variance is unknown; "
            "use MM1, MMm, MD1, MG1, MGm, Parallel or Delay"
        )
    elif not station.discipline.in_turn:
        msg = (
            f"{name}: its branch {branch} is {station.discipline}; a branch must serve in "
            "order of arrival (fcfs)"
        )
    else:
        return
    raise GraphError(msg)


def check_forks(
    name: str, stations: Mapping[str, Component], classes: Iterable[str], returning: Iterable[str]
) -> None:
    """Refuse forks that headway cannot solve.

    Raises
    ------
    GraphError
        For classes of jobs, and for branches whose direct returns have a law of their own.
    """
    by_fork = forks(stations)
    if by_fork and tuple(classes):
        msg = (
            f"{name}: {next(iter(by_fork))} is a fork, which supports one class of jobs "
            "only; merge the classes"
        )
        raise GraphError(msg)
    again = set(returning)
    for fork, branches in by_fork.items():
        for branch in (b for b in branches if b in again):
            msg = (
                f"{name}: jobs return directly to {branch} ({stations[branch].kind.__name__}), "
                f"a branch of {fork}; route them through another station"
            )
            raise GraphError(msg)


@of_structure
def queued_behind_forks(graph: Structure) -> bool:
    """Whether requests may wait at some station after a fork; with visits, the order is unknown.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1, Delay, ForkJoin
    >>> disks = ModelGraph("stripe").station("disks", ForkJoin(0.01, 4, 4))
    >>> queued_behind_forks(disks.station("cpu", MM1(0.001)).route("disks", "cpu"))
    True
    >>> queued_behind_forks(disks.station("link", Delay(0.001)).route("disks", "link"))
    False
    """
    stations = graph.stations
    split = {name for name, station in stations.items() if station.can.forks}
    if not split:
        return False
    waits = {name for name, station in stations.items() if station.can.forks or station.can.limits}
    if any(station.visits for station in stations.values()):
        return len(waits - branches_of(graph)) > 1
    onward = graph.routes.onward
    return any(not waits.isdisjoint(onward.get(name, ())) for name in split)


def check_sides(name: str, branches: Sequence[str], stations: Sequence[Station]) -> None:
    """Refuse more parts for a branch than it has parallel queues, each of which takes one part.

    Raises
    ------
    InvalidParameter
        With both numbers.
    """
    for branch, station in zip(branches, stations, strict=True):
        parts, queues = branches.count(branch), station.count
        if parts > 1 and not is_symbolic(queues) and np.any(np.asarray(queues, float) < parts):
            least = float(np.min(np.asarray(queues, float)))
            msg = (
                f"{name}: {branch} is named {parts} times, but has {digits(least)} "
                "servers; add servers"
            )
            raise InvalidParameter(msg)


def with_parts(
    stations: Mapping[str, Component], own: Mapping[str, Amount]
) -> Mapping[str, Amount]:
    """Visits of a job including its parts, from the visits of the job itself.

    Examples
    --------
    >>> from headway.queueing import MM1, Fork
    >>> stations = {"disk": Component(MM1, {}), "both": Component(Fork, {}, branches=("disk",))}
    >>> with_parts(stations, {"disk": 1.0, "both": 0.5})
    {'disk': 1.5, 'both': 0.5}
    """
    forked = forks(stations)
    if not forked:
        return own
    visits = dict(own)
    for fork, branches in forked.items():
        for branch in branches:
            visits[branch] = visits[branch] + own[fork]
    return visits


def others_at(visits: Mapping[str, Amount], fork: str, branch: str) -> Amount:
    """Further arrivals at a branch for each request that forks; none without forks."""
    all_of_them, forked = visits[branch], visits[fork]
    if is_symbolic(all_of_them, forked):
        return all_of_them / forked - 1
    some = np.asarray(forked) > 0
    share = np.where(some, np.asarray(all_of_them) / np.where(some, forked, 1.0) - 1, 0.0)
    return plain(np.maximum(share, 0.0))
