"""Whether retries bring a server down: a model's states, and the loads at which it tips over."""

from collections.abc import Iterator
from math import inf, isfinite, isnan

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
from headway.queueing.retries.lasting import times_measured
from headway.queueing.retries.lives import LASTING_MEASURED, STAYING_MEASURED, simulated
from headway.queueing.retries.methods import timed_queues
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import Tipping, curve, tipping
from headway.records import dataclass

_POISSON = "attempts are treated as a Poisson stream, and bursts as a fluid without randomness"
_SHORT = (
    "with so short a timeout attempts come in bunches, so the good state is worse than this "
    "and tips sooner; headway solve follows each attempt"
)
_UNKNOWN = (
    "how long a state lasts is not known here: too many clients are backing off to be simulated"
)
_AT_LEAST = "too few good states ended in 5,000,000 attempts: they last longer in 95 of 100 cases"
_AT_ONCE = (
    "a client that is refused and retries at once is refused again, so states with many refusals "
    "are better than this; headway solve follows each attempt"
)
_BUDGET = "with a retry budget, the good state lasts at least as long as without one"

SHORT = 3.0
"""Service times of a timeout below which the queue changes little between attempts. Chosen: for
half a service time a Poisson stream of attempts has 72% answered, and a simulation 50%."""


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

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is approximate, and the measured errors of what is said.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MMm
        >>> graph = ModelGraph("server").station("server", MMm(0.008, 4))
        >>> graph = graph.impatient({"timeout": 0.1, "retries": 3})
        >>> retries(graph.at(arrival_rate=400.0)).doubts[0]
        'attempts are treated as a Poisson stream, and bursts as a fluid without randomness'
        """
        return tuple(self._doubts())

    @property
    def approximation(self) -> str:
        """`doubts` in one line."""
        return "; ".join(self.doubts)

    def _doubts(self) -> Iterator[str]:
        yield from self._of_attempts()
        found = self.tipping
        if found.lasts is not None:
            yield f"the load up to which the good state lasts: {LASTING_MEASURED}"
        if found.stays is not None:
            yield f"the load above which the bad state lasts: {STAYING_MEASURED}"
        if found.falls is not None:
            yield f"when the good state ends: {simulated(found.falls)}"
        elif found.alone is None:
            yield _UNKNOWN
        elif isfinite(found.alone[0]) and not isnan(found.pulse):
            yield from self._of_times()
        if found.recovers is not None:
            yield f"when the bad state ends: {simulated(found.recovers)}"

    def _of_times(self) -> Iterator[str]:
        """What is said of the time until it tips, where too few did in a simulation."""
        if self.queue.places < inf:
            yield _AT_LEAST
            return
        yield f"times until it tips by chance: {times_measured(self.queue)}"
        if isfinite(float(self.clients.retry_budget)):
            yield _BUDGET

    def _of_attempts(self) -> Iterator[str]:
        """What is said of attempts as a Poisson stream."""
        yield _POISSON
        queue = self.queue
        if queue.timeout < SHORT * queue.service_time:
            yield _SHORT
        soon = float(self.clients.backoff) < queue.service_time / queue.servers
        if queue.places < inf and self.clients.returns and soon:
            yield _AT_ONCE

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
            f"{model.name}: its clients never give up; give its arrivals a timeout and retries, "
            'such as timeout = "1 s" and retries = 3'
        )
        raise GraphError(msg)
    network = network_with_clients(model)
    if network.clients is None or not network.clients.gives_up:
        msg = (
            f"{model.name}: its clients never time out; give its arrivals a timeout and retries, "
            'such as timeout = "1 s" and retries = 3'
        )
        raise GraphError(msg)
    next(choose(network, "attempts"))  # refuses what the method does not solve
    ((queue, clients, load),) = timed_queues(network)
    if not load > 0:
        msg = f"{model.name}: no requests arrive; give it an arrival rate above 0"
        raise GraphError(msg)
    unit = model.meaning("throughput").unit
    return Retries(model.name, unit, queue, clients, tipping(queue, clients, load))
