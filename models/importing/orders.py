"""Queue disciplines of JSIMg files, and the service times that headway supports with each."""

from collections.abc import Iterable, Mapping

from headway.errors import ModelFileError
from headway.models.importing.foreign.network import ForeignStation, ServiceTimes
from headway.queueing.disciplines.discipline import Discipline, ProductForm
from headway.queueing.disciplines.table import DEFAULT

PREEMPTIVE = "PreemptiveServer"
"""The section of servers with preemption."""

HEAD = "HeadStrategy"
"""Last come, first served, without preemption."""

_DEFAULT = DEFAULT
STRATEGIES: Mapping[bool, Mapping[str, Discipline]] = {
    preempts: {
        **({} if preempts else {_DEFAULT.jmt: _DEFAULT, HEAD: _DEFAULT}),
        **{each.jmt: each for each in Discipline if each.jmt and each.interrupts == preempts},
    }
    for preempts in (False, True)
}
"""Disciplines by queue strategy, without and with preemption."""


def order_of(kinds: Iterable[str], section: str, place: str) -> tuple[Discipline, bool]:
    """Return the discipline of a queue.

    Parameters
    ----------
    kinds
        The strategy of each class.
    section
        The section of its servers, which shows whether jobs may be preempted.
    place
        For messages, such as ``shop.jsimg: Queue 1``.

    Returns
    -------
    The discipline, and whether the job that came last is next without preemption: its means are
    those in order of arrival if `check_times` accepts it.

    Raises
    ------
    ModelFileError
        For a strategy that headway has no discipline for, or several by class.

    Examples
    --------
    >>> order_of(["RandStrategy"], "Server", "shop.jsimg: Queue 1")[0]
    Discipline('siro')
    """
    interrupts = section == PREEMPTIVE
    known, strategies = STRATEGIES[interrupts], sorted(set(kinds))
    for kind in strategies:
        if kind not in known:
            what = "preemptive queue strategy" if interrupts else "queue strategy"
            msg = f"{place}: {what} {kind} is not supported; use one of {', '.join(known)}"
            raise ModelFileError(msg)
    if len(strategies) > 1:
        msg = (
            f"{place}: several queue strategies by class ({', '.join(strategies)}) are not "
            "supported; use one for all classes"
        )
        raise ModelFileError(msg)
    kind = strategies[0] if strategies else next(iter(known))
    return known[kind], kind == HEAD


def check_times(
    station: ForeignStation, visitors: Iterable[str], place: str, *, lone: bool
) -> Discipline:
    """Return the discipline with which to solve a station, if its service times allow a solution.

    With a single class, the number of jobs has the same distribution in any order that ignores
    their times as in order of arrival; in a product form this also holds for classes with the same
    exponential time.

    Parameters
    ----------
    station, visitors
        The station, and the classes that visit it.
    place
        For messages.
    lone
        Whether it is the only queue and open classes visit it once: priorities then allow any
        distribution of times.

    Raises
    ------
    ModelFileError
        For times without a solution.
    """
    classes = list(visitors)
    times = {station.times[c] for c in classes if c in station.times}
    plain = all(each.scv == 1 for each in times)
    alike = len(classes) <= 1 or (plain and len(times) <= 1)
    if station.last_next and not alike:
        what = f"last come, first served, without preemption ({HEAD})"
        rest = "supported only for one class, or for classes with the same exponential time"
        msg = f"{place}: {what} is {rest}"
        raise ModelFileError(msg)
    order = station.order
    form = order.form if station.servers == 1 else order.pool_form
    if plain or order.in_turn or form is ProductForm.ANY:
        return order
    if order.at_random and alike:
        return DEFAULT
    if order.by_priority and station.servers == 1 and lone:
        return order
    rest = ", except at one server that is the only queue and that open classes visit once"
    msg = (
        f"{place}: service times that are not exponential are not supported {order.how}"
        f"{' at several servers' if order.slows else ''}{rest if order.by_priority else ''}"
    )
    raise ModelFileError(msg)


def ranks(priorities: Iterable[int]) -> dict[int, int]:
    """Convert the file's priorities (largest first) to headway's (1 first).

    Examples
    --------
    >>> ranks([0, 5, 5, 2])
    {5: 1, 2: 2, 0: 3}
    """
    return {each: k for k, each in enumerate(sorted(set(priorities), reverse=True), 1)}


def hides_returns(station: ForeignStation) -> bool:
    """Whether open classes have a solution at this queue only if each job visits it once."""
    if station.order.slows:
        return False
    times = set(station.times.values())
    return len(times) > 1 or (len(station.times) > 1 and station.order.by_priority)


def means_only(station: ForeignStation) -> bool:
    """Whether only the means at a station agree with the file."""
    anyhow: set[ServiceTimes] = {t for t in station.times.values() if t.scv != 1}
    by_chance = (station.order.at_random or station.order.newest_first) and bool(anyhow)
    return station.last_next or by_chance
