"""Servers with a queue each, one of which a job chooses by its length, or in turn.

Each server is busy for the same share of time, U = lambda S / m, as if chosen at random. Waits
depend on all queues together: for more than two queues no formula is known.

Source: Mitzenmacher, IEEE Transactions on Parallel and Distributed Systems 12(10), 2001 (the power
of two choices).
"""

from typing import ClassVar, NoReturn

from headway.errors import GraphError, InvalidParameter, nearest
from headway.kinds import Quantity
from headway.queueing.stations.abilities import SERVERS, Abilities, QueueChoice
from headway.queueing.stations.base import Servers, Station
from headway.records import dataclass


def queue_choice(word: str, kind: type[Station]) -> QueueChoice:
    """How jobs choose among the queues of a kind of station.

    Raises
    ------
    InvalidParameter
        For an unknown word.
    GraphError
        For a kind with a single queue.

    Examples
    --------
    >>> from headway.queueing import Parallel
    >>> queue_choice("shortest", Parallel).name
    'SHORTEST'
    """
    if word not in set(QueueChoice):
        words = ", ".join(QueueChoice)
        msg = f"unknown route {word!r}{nearest(word, list(QueueChoice))}; it must be one of {words}"
        raise InvalidParameter(msg)
    if kind.chosen_as is None and word != QueueChoice.RANDOM:
        msg = "route chooses among several queues; add replicas = 2, or more, to an MM1"
        raise GraphError(msg)
    return QueueChoice(word)


@dataclass(frozen=True)
class ChosenParallel(Servers):
    """m servers, each with its own queue, chosen in another way than at random.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.
    name
        What refusals call it.

    Raises
    ------
    InvalidParameter
        For a service time that is negative or not finite, or servers that are not 1, 2, 3...

    Examples
    --------
    >>> ChosenParallel(service_time=0.5, servers=4).utilisation(4.0)
    0.5
    """

    can: ClassVar[Abilities] = Abilities(counts=SERVERS)
    lawless: ClassVar[str] = (
        "queues that are not chosen at random have no formula; use --method simulation, "
        'or route = "random"'
    )
    name: str = ""

    @property
    def label(self) -> str:
        """Its name in messages."""
        return "a station whose queues are not chosen at random"

    def waiting_time(self, arrival_rate: Quantity) -> NoReturn:  # noqa: ARG002 - of no rate
        """Refuse: the wait is not known."""
        msg = f"{self.name}: {self.lawless}".removeprefix(": ")
        raise GraphError(msg)
