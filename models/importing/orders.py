"""Whose turn it is at a queue of a JSIMg file, and which times headway has a law for under it."""

from collections.abc import Iterable, Mapping

from headway.errors import ModelFileError
from headway.models.importing.foreign.network import ServiceTimes, Station
from headway.queueing.stations.abilities import Discipline

PREEMPTIVE = "PreemptiveServer"
"""The section of servers that let one job interrupt another."""

HEAD = "HeadStrategy"
"""Last come, first served, but nobody is interrupted."""

STRATEGIES: Mapping[bool, Mapping[str, Discipline]] = {
    False: {
        "TailStrategy": Discipline.FCFS,
        HEAD: Discipline.FCFS,
        "RandStrategy": Discipline.RANDOM,
        "TailStrategyPriority": Discipline.PRIORITY,
    },
    True: {
        "LCFSPRStrategy": Discipline.LAST,
        "FCFSPRStrategyPriority": Discipline.PREEMPTIVE,
    },
}
"""Strategies of queues by what they are here: where nobody is interrupted, and where some are."""


def order_of(kinds: Iterable[str], section: str, place: str) -> tuple[Discipline, bool]:
    """The discipline of a queue.

    Parameters
    ----------
    kinds
        The strategy of each class.
    section
        That of its servers: some let one job interrupt another.
    place
        For messages, such as ``shop.jsimg: Queue 1``.

    Returns
    -------
    The discipline, and whether the last come is next: its means are those in order of arrival
    where `check_times` lets it pass.

    Raises
    ------
    ModelFileError
        For a strategy that headway has no discipline for, or one that differs by class.

    Examples
    --------
    >>> order_of(["RandStrategy"], "Server", "shop.jsimg: Queue 1")[0].value
    'siro'
    """
    interrupts = section == PREEMPTIVE
    known, found = STRATEGIES[interrupts], sorted(set(kinds))
    for kind in found:
        if kind not in known:
            what = "its order, with interruptions" if interrupts else "its order"
            msg = f"{place}: {what} ({kind}): not yet; headway has {', '.join(known)}"
            raise ModelFileError(msg)
    if len(found) > 1:
        msg = f"{place}: classes in several orders ({', '.join(found)}): not yet; give all one"
        raise ModelFileError(msg)
    kind = found[0] if found else next(iter(known))
    return known[kind], kind == HEAD


def check_times(station: Station, come: Iterable[str], place: str, *, lone: bool) -> Discipline:
    """The discipline to solve a station with, whose times have a law under it.

    Whoever is next, the number of jobs of one class is the same as in order of arrival, as long as
    nobody looks at their times; and so it is, in a product form, of classes with one exponential
    time.

    Parameters
    ----------
    station, come
        The station, and classes that come to it.
    place
        For messages.
    lone
        Whether it is the only queue, to which open classes come once: priorities have a law of
        any times there.

    Raises
    ------
    ModelFileError
        For times that have none.
    """
    classes = list(come)
    times = {station.times[c] for c in classes if c in station.times}
    plain = all(each.scv == 1 for each in times)
    alike = len(classes) <= 1 or (plain and len(times) <= 1)
    if station.last_next and not alike:
        what = f"last come, first served, with nobody interrupted ({HEAD})"
        rest = "but for one class, or classes of one exponential time"
        msg = f"{place}: {what}: not yet, {rest}"
        raise ModelFileError(msg)
    if plain or station.order in (Discipline.FCFS, Discipline.SHARING):
        return station.order
    if station.order is Discipline.RANDOM and alike:
        return Discipline.FCFS
    if station.order is Discipline.LAST and station.servers == 1:
        return station.order
    if station.order.by_priority and station.servers == 1 and lone:
        return station.order
    rest = ", but at one server to which open classes come once, the only queue"
    msg = (
        f"{place}: times that are not exponential, {_SAID[station.order]}: not yet"
        f"{rest if station.order.by_priority else ''}"
    )
    raise ModelFileError(msg)


_SAID = {
    Discipline.RANDOM: "served in random order",
    Discipline.PRIORITY: "served by priority",
    Discipline.PREEMPTIVE: "served by priority with interruptions",
    Discipline.LAST: "of which the last come interrupt several servers",
}


def ranks(priorities: Iterable[int]) -> dict[int, int]:
    """Priorities as headway counts them, 1 first, by those of the file, of which the largest is.

    Examples
    --------
    >>> ranks([0, 5, 5, 2])
    {5: 1, 2: 2, 0: 3}
    """
    return {each: k for k, each in enumerate(sorted(set(priorities), reverse=True), 1)}


def hides_returns(station: Station) -> bool:
    """Whether open classes have a law at a queue that holds where each job comes once only."""
    if station.order in (Discipline.SHARING, Discipline.LAST):
        return False
    times = set(station.times.values())
    return len(times) > 1 or (len(station.times) > 1 and station.order.by_priority)


def means_only(station: Station) -> bool:
    """Whether only the means of a station's answers are those of the file."""
    anyhow: set[ServiceTimes] = {t for t in station.times.values() if t.scv != 1}
    by_chance = station.order in (Discipline.RANDOM, Discipline.LAST) and bool(anyhow)
    return station.last_next or by_chance
