"""Whether retries bring a server down: a model's states, and the loads at which it tips over."""

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.language.units import Unit
from headway.models.solving.clients import network_with_clients
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.models.tables.shown import Answer
from headway.queueing.flows.clients import Clients
from headway.queueing.methods.choice import choose
from headway.queueing.retries.methods import timed_queues
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import Tipping, curve, tipping
from headway.records import dataclass


@dataclass(frozen=True)
class Retries(Answer):
    """States of a queue whose clients retry, and where it tips over.

    Parameters
    ----------
    model
        The model's name.
    unit
        Unit of rates.
    queue, clients
        The queue that tips over, and how its clients retry.
    tipping
        The states found at its load.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> graph = ModelGraph("server").station("server", MMm(0.008, 4))
    >>> graph = graph.impatient({"timeout": 0.1, "retries": 3})
    >>> found = retries(graph.at(arrival_rate=400.0))
    >>> [state.stability.value for state in found.tipping.states]
    ['stable', 'unstable', 'stable']
    """

    model: str
    unit: Unit
    queue: TimedQueue
    clients: Clients
    tipping: Tipping

    @property
    def curve(self) -> tuple[FloatArray, FloatArray]:
        """Rates of attempts, and the loads at which they are stationary: both [1/s], by point.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MMm
        >>> graph = ModelGraph("server").station("server", MMm(0.008, 4))
        >>> graph = graph.impatient({"timeout": 0.1, "retries": 3})
        >>> attempts, loads = retries(graph.at(arrival_rate=400.0)).curve
        >>> round(attempts[-1]), round(loads[-1])
        (6000, 1500)
        """
        return curve(self.queue, self.clients)

    def __repr__(self) -> str:
        return f"Retries({self.model}, {len(self.tipping.states)} states)"


def retries(model: Model) -> Retries:
    """Find the states of a model whose clients retry after a timeout, and where it tips over.

    Parameters
    ----------
    model
        A model at one operating point, solved by method ``attempts``.

    Raises
    ------
    GraphError
        For a model that method ``attempts`` does not solve, or several operating points.
    """
    if int(np.prod(points_shape(model.inputs))) != 1:
        msg = f"{model.name}: give one value to each parameter; the figure is over the load"
        raise GraphError(msg)
    if model.network_kind is not NetworkKind.CLIENTS:
        msg = (
            f"{model.name}: its clients wait for ever; give its arrivals a timeout and retries, as "
            'timeout = "1 s" and retries = 3'
        )
        raise GraphError(msg)
    network = network_with_clients(model)
    next(choose(network, "attempts"))  # refuses what the method does not solve
    ((queue, clients, load),) = timed_queues(network)
    if not load > 0:
        msg = f"{model.name}: no requests arrive; give it an arrival rate above 0"
        raise GraphError(msg)
    unit = model.meaning("throughput").unit
    return Retries(model.name, unit, queue, clients, tipping(queue, clients, load))
