"""Queues that grow without limit in a simulation: those of messages, and of requests from outside.

Who calls waits, so the callers limit a queue of calls; who sends or asks from outside does not.
"""

from collections.abc import Iterable

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.layers.system import LayeredSystem

_GROWN, _MORE = 6.0, 1.5  # deviations of a Poisson count, and ratio, beyond which a queue grows


def piling_up(
    system: LayeredSystem, before: FloatArray, after: FloatArray, begun: FloatArray
) -> str:
    """The entry whose queue grows without limit; empty if none does.

    It grew by more than six standard deviations of the requests that came, as many as there are
    clients left out, and by more than half of its length.

    Parameters
    ----------
    system
        The system that is simulated.
    before, after
        Requests that wait at the beginning and at the end of a time, by entry.
    begun
        Requests that got a thread in this time, by entry.
    """
    clients = sum(float(task.threads) for task in system.tasks.values() if task.clients)
    grown = after - before
    came = np.maximum(begun + grown, 0.0)
    over = (grown > _GROWN * came**0.5 + clients) & (after > _MORE * before)
    free = reached(system, (*_sent_to(system), *asked_from_outside(system)))
    names = [name for name, grows in zip(system.entries, over, strict=True) if grows]
    return next((name for name in names if name in free), "")


def reached(system: LayeredSystem, first: Iterable[str]) -> frozenset[str]:
    """Some entries, and all to which their requests lead."""
    found = set(first)
    for name in system.callers_first:
        if name in found:
            found.update(system.onward(name))
    return frozenset(found)


def asked_from_outside(system: LayeredSystem) -> list[str]:
    """Entries with arrivals."""
    return [name for name, entry in system.entries.items() if np.any(entry.arrival_rate)]


def _sent_to(system: LayeredSystem) -> list[str]:
    return [other for entry in system.entries.values() for other, _ in entry.sends()]
