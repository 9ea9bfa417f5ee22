"""The needs of methods, each with the words in which a refusal says that it is not met.

A need is declared once, and named in the row of every method that has it.
"""

from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from headway.queueing.methods.method import Need, Solvable, Subject
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import (
    comers,
    comes_once,
    named,
    ranked,
    unequal,
    without_form,
)
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.listed.kinds import product_form_kinds

FEW = 10_000
"""Population up to which pools are solved exactly even if an approximation is asked for.

It only affects speed: such a convolution takes a fraction of a second.
"""

MOST_LOCAL = 4_000
"""Most states of one station that is solved state by state; affects speed only."""

MOST_REQUESTED = 5_000
"""Most states of a whole network that is solved when asked for: some seconds a point."""


MANY_STATES = (
    "method chain enumerates all states: it needs closed classes with routes, services "
    f"that take time, and {MOST_REQUESTED} states at most; use method auto"
)
"""The refusal of a network without a whole chain, or with too large a one."""


def _closed(network: Network) -> str:
    return "" if network.has_closed else "no class is closed; use method open"


def _open(network: Network) -> str:
    if not network.has_closed:
        return ""
    name = next(c.name for c in network.classes if not c.is_open)
    whose = f"class {name}" if name else "the network"
    return f"{whose} is closed; use a method for closed classes"


def _kinds(network: Network) -> str:
    if all(can.product_form is not None or can.mixed for can in network.abilities):
        return ""
    for name, station in zip(network.names, network.kinds, strict=False):
        if station.can.product_form is None and not station.can.mixed:
            where = f"{name}: " if name else ""
            return (
                f"{where}{station.label} has no closed product form; "
                f"use {', '.join(product_form_kinds(unequal=station.can.unequal))}, "
                "or simulate the model"
            )
    return ""


def _served(network: Network) -> str:
    """Refuse closed jobs that return at once to a last-come-first-served queue with other jobs.

    Such a job is back on top as soon as it has left, also if all stations on its way serve the last
    arrival first, and the job that it interrupts is never served: the result depends on the start.
    """
    if not any(order.newest_first for order in network.disciplines):
        return ""
    last = np.array([s.discipline.newest_first for s in network.stations]) & ~network.is_delay
    if not last.any() or ranked(network).any():
        return ""
    come = np.asarray(((network.rates + network.population)[:, None] * network.demand) > 0)
    away = np.asarray(network.think_time > 0) | come[:, ~last].any(axis=1)
    for k in np.flatnonzero(last):
        stays = come[:, k] & ~away & ~network.is_open[:, None]
        if (stays & (come[:, k].sum(axis=0) > 1)).any():
            name = network.classes[int(stays.any(axis=1).argmax())].name
            return (
                f"{network.stations[k].name}: class {name} returns at once and has priority, "
                "so the jobs it interrupts are never served; give it a think time"
            )
    return ""


def _alike_at_speeds(network: Network) -> str:
    if not network.speeds:
        return ""
    first = ranked(network)
    if first.any():
        closed = network.has_closed
        msg = (
            f"{named(network, first)[0]}: headway cannot combine priorities with speeds that "
            "depend on the number present; use one of them"
        )
        return msg if closed else ""
    here = unequal(network).any(axis=1) & network.is_varying
    if not here.any():
        return ""
    return (
        f"{network.stations[int(here.argmax())].name}: first come first served, its speed by "
        'number present needs one service time for all classes; use discipline "ps"'
    )


def _sizes_known(network: Network) -> str:
    """Refuse disciplines that depend on service times, unless their law is exact."""
    if not any(order.by_size for order in network.disciplines):
        return ""
    by_size = np.array([s.discipline.by_size for s in network.stations]) & ranked(network)
    known = by_size.any() and not network.has_closed and exact_by_priority(network)
    for k in np.flatnonzero(by_size):
        if not known or (network.servers[k] != 1).any():
            return f"{network.names[k]}: {network.stations[k].discipline.needs}"
    return ""


def _measured(network: Network) -> str:
    """Refuse to approximate a discipline for which no error was measured."""
    if all(order.measured for order in network.disciplines):
        return ""
    for k in np.flatnonzero(without_form(network).any(axis=1)):
        discipline = network.stations[k].discipline
        if not discipline.measured:
            return (
                f"{network.names[k]}: discipline {discipline} ({discipline.unlike}) has no "
                "approximation whose error was measured; simulate it"
            )
    return ""


def _exponential_in_turn(network: Network) -> str:
    """Refuse non-exponential times if the discipline's laws are known for exponential ones only.

    For open and closed classes together in order of arrival, no approximation has been measured.
    For priorities, the laws of open classes at one single server are exact.
    """
    if network.scv is None:
        return ""
    arrivals = np.array([s.is_spread and s.arrival_scv is not None for s in network.stations])
    spread = (network.scv != 1).any(axis=(0, 2))
    if ranked(network).any():
        return _exponential_by_priority(network, arrivals, spread)
    here = spread | arrivals
    if not (here.any() and network.has_open and network.has_closed):
        return ""
    return (
        f"{network.stations[int(here.argmax())].name}: open and closed classes together, first "
        'come first served, need exponential times; use discipline "ps" or simulate'
    )


def _exponential_by_priority(
    network: Network, arrivals: NDArray[np.bool_], spread: NDArray[np.bool_]
) -> str:
    if not (arrivals.any() or spread.any()):
        return ""
    single = bool((network.servers[spread] == 1).all())
    if single and not arrivals.any() and not network.has_closed and exact_by_priority(network):
        return ""
    return (
        f"{named(network, ranked(network))[0]}: priorities with non-exponential times need "
        "open classes that visit one single server once; simulate other networks"
    )


def exact_by_priority(network: Network) -> bool:
    """Whether the laws of open classes with priorities are exact.

    They are if Poisson streams visit the only station with waiting once, and it has one server or
    all classes have the same mean service time.
    """
    busy = ~network.is_delay & comers(network).any(axis=(0, 2))
    if busy.sum() > 1 or not comes_once(network)[busy].all():
        return False
    for k in np.flatnonzero(busy):
        times = network.service_times[comers(network)[:, k].any(axis=1), k]
        single = bool((network.servers[k] == network.queues[k]).all())
        if not (single or (times == times[:1]).all()):
            return False
    return True


def _product_form(network: Network) -> str:
    first = ranked(network)
    if first.any():
        return (
            f"{named(network, first)[0]}: closed classes with priorities have an exact solution "
            f"only when there are few states (at most {MOST_LOCAL:,} at one queue, or "
            f"{MOST_REQUESTED:,} in all); use method auto"
        )
    unlike = unequal(network).any(axis=1)
    if not unlike.any():
        return ""
    name = network.stations[int(unlike.argmax())].name
    return (
        f"{name}: closed classes with different service times, first come first served, have "
        'no product form; use method linearizer, discipline "ps", or one service time'
    )


def _single_servers(network: Network) -> str:
    slow = network.is_crowd
    if network.kinds:
        slow = slow & ~network.is_roomy
    if not slow.any():
        return ""
    where = network.names[int(slow.argmax())]
    return f"{where}: its speed depends on the number present; use method convolution".lstrip(": ")


def _pools_of_one_class(network: Network) -> str:
    if network.kinds:
        for name, station in zip(network.names, network.kinds, strict=True):
            if station.can.product_form is ServiceKind.VARYING:
                where = f"{name}: " if name else ""
                return (
                    f"{where}no approximate method supports load-dependent rates; use method exact"
                )
    return ""


def _speeds_of_servers(network: Network) -> str:
    if not network.speeds:
        return ""
    unlike = unequal(network).any(axis=1)
    if not unlike.any():
        name = network.names[int(network.is_varying.argmax())]
        return f"{name}: speeds by number present are solved exactly only; use method convolution"
    name, other = (network.names[int(k.argmax())] for k in (network.is_varying, unlike))
    return (
        f"{name}: speeds by number present are solved exactly only, and {other}, first come "
        'first served with different service times, is not; use discipline "ps" there'
    )


def _many_populations(network: Network) -> str:
    if not network.is_crowd.any() or unequal(network).any():
        return ""
    if ranked(network).any():
        return ""
    sizes = [int(n) + 1 for n in network.population[~network.is_open].max(axis=1)]
    if prod(sizes) > FEW:
        return ""
    return f"{prod(sizes):,} populations are so few that they are convolved exactly"


def _unlike_in_turn(network: Network) -> str:
    if not network.kinds and (ranked(network).any() or unequal(network).all(axis=1).any()):
        return ""
    return "no station serves classes of different times in turn"


def _exponential(network: Network) -> str:
    if network.scv is None or not (network.scv != 1).any():
        arrivals = any(s.is_spread and s.arrival_scv is not None for s in network.stations)
        if not arrivals:
            return ""
    return "some times are not exponential; use method linearizer, or simulate"


def _clients_wait(network: Network) -> str:
    if network.clients is None and network.oldest is None:
        return ""
    return "clients give up, which method {asked} does not allow for; use method auto, or simulate"


def _unforked(network: Network) -> str:
    if not network.forks:
        return ""
    name = next(n for n, s in zip(network.names, network.kinds, strict=True) if s.can.forks)
    return f"{name}: a closed network with a fork has its own approximation; " + (
        "do not set method {asked}"
    )


def _forked(network: Network) -> str:
    return "" if network.forks else "nothing forks; use method auto"


def _windowed(network: Network) -> str:
    windows = network.blocking is not None and network.blocking.windows
    return "" if windows else "there is no region; use method decomposition"


def _unwindowed(network: Network) -> str:
    windows = network.blocking is not None and network.blocking.windows
    return "there is a region; use method flow equivalence" if windows else ""


def _states(network: Network) -> str:
    """Refuse unknown routes, services of no time, and varying speeds, which no chain here has.

    Also refuse disciplines without states. If all jobs visit one queue only, routes do not matter.
    """
    for name, station in zip(network.names, network.stations, strict=False):
        if not station.discipline.states and station.kind is not ServiceKind.DELAY:
            return (
                f"{name}: headway has no Markov chain for discipline "
                f"{station.discipline}; use method auto, or simulate it"
            )
    come = (network.may_be[:, None] > 0) & (network.visits > 0)
    timeless = (come & (network.service_times <= 0) & ~network.is_delay[:, None]).any()
    queues = ~network.is_delay & comers(network).any(axis=(0, 2))
    routed = network.ways is not None and not network.has_open
    if not network.speeds and (routed or queues.sum() <= 1) and not timeless:
        return ""
    return MANY_STATES


CLOSED = Need("a closed class", _closed, far=True)
OPEN = Need("open classes only", _open, far=True)
CLOSED_KINDS = Need("kinds of station with a closed product form", _kinds, common=True)
SERVED = Need("jobs that are all served in the end", _served, common=True, by_class=True)
ALIKE_AT_SPEEDS = Need(
    "one service time where speeds depend on the jobs present",
    _alike_at_speeds,
    common=True,
    by_class=True,
)
EXPONENTIAL_IN_TURN = Need(
    "exponential times where turns decide", _exponential_in_turn, common=True, by_class=True
)
EXPONENTIAL = Need("exponential times", _exponential)
PRODUCT_FORM = Need("a product form", _product_form, by_class=True)
SINGLE_SERVERS = Need("single servers and delays", _single_servers)
POOLS_OF_ONE_CLASS = Need("speeds that are those of m servers", _pools_of_one_class, firm=True)
SPEEDS_OF_SERVERS = Need("speeds that are those of m servers", _speeds_of_servers, by_class=True)
MANY_POPULATIONS = Need(
    "many populations where stations have several servers", _many_populations, by_class=True
)
UNLIKE_IN_TURN = Need("stations that serve classes of different times in turn", _unlike_in_turn)

UNFORKED = Need("jobs that are in one place at a time", _unforked, far=True, common=True)
FORKED = Need("a fork", _forked, far=True)
MEASURED = Need("disciplines whose approximation was measured", _measured, by_class=True)
WINDOWED = Need("a region", _windowed)
UNWINDOWED = Need("stations that block, no region", _unwindowed)
STATES = Need("routes, services that take time, and few states", _states)

SIZES_KNOWN = Need(
    "turns by service time at one single server alone", _sizes_known, common=True, by_class=True
)


def of_classes(*needs: Need) -> tuple[Need, ...]:
    """Needs of networks of classes, in place of which networks with blocking have others."""

    def beside(need: Need) -> Need:
        def missing(network: Network) -> str:
            return need.of(network) if network.subject in _OF_CLASSES else ""

        return replace(need, missing=missing)

    return tuple(map(beside, needs))


def of_blocking(need: Need) -> Need:
    """A need of networks with blocking, in place of which networks of classes have others."""

    def missing(network: Network) -> str:
        return need.of(network) if network.subject is Subject.BLOCKING else ""

    return replace(need, missing=missing)


def of_layers(need: Need) -> Need:
    """A need of layered systems, in place of which networks have others."""

    def missing(system: Solvable) -> str:
        return need.of(system) if system.subject is Subject.LAYERED else ""

    return replace(need, missing=missing)


_OF_CLASSES = (Subject.CLASSES, Subject.ONE_CLASS)


CLIENTS_WAIT = Need("clients that wait for their answers", _clients_wait, far=True, common=True)

VALID = (CLIENTS_WAIT, SERVED, SIZES_KNOWN, ALIKE_AT_SPEEDS, EXPONENTIAL_IN_TURN)
"""The needs of every method for classes."""
