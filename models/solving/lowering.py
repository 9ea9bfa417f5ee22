"""The network of a model, as every method reads it, at the model's operating points."""

from headway.errors import GraphError
from headway.models.solving.classes.network import class_network
from headway.models.solving.classes.rooms import as_one
from headway.models.solving.classes.ways import class_ways
from headway.models.solving.clients import network_with_clients, open_network
from headway.models.solving.closed.circulation import Circulation
from headway.models.solving.closed.closed_values import depends_on_throughput
from headway.models.solving.layered.layered_values import layered_system
from headway.models.solving.solutions.blocked import point_of, points_of
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.planning.batches import check_batches
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.blocking.methods import network_that_blocks
from headway.queueing.chains.solve_chains import chained
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.method import EXACT, Error, MethodRow
from headway.queueing.network.network import Network, read_network
from headway.records import dataclass


@dataclass(frozen=True)
class Lowered:
    """The network or networks that methods read for a model.

    Parameters
    ----------
    network
        The model's network.
    chains
        The network whose classes are the chains of classes that change into one another; None where
        no class changes. Most methods read it; those that keep the classes of a chain apart do not.
    merged
        Error of answers due to the classes of a chain being merged.
    begun
        Error where classes are kept apart, but not by the class in which their cycle began.
    """

    network: Network | LayeredSystem
    chains: Network | None = None
    merged: Error = EXACT
    begun: Error = EXACT

    def read_by(self, row: MethodRow) -> Network | LayeredSystem:
        """The network that a method reads."""
        return self.chains if self.chains is not None and row.merges else self.network

    def error_of(self, row: MethodRow) -> Error:
        """Error of a method's answer."""
        error = row.error_of(self.read_by(row))
        return error.beside(self.merged if row.merges else self.begun)


def lower(model: Model) -> Lowered:
    """Make the network of a model.

    Parameters
    ----------
    model
        A model of any kind but a program. A model that blocks is taken at its first operating
        point. One whose numbers depend on the throughput has the numbers at the resulting
        throughput.

    Raises
    ------
    GraphError
        For a program.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> network = lower(catalogue_model("server-single").at(arrival_rate=10)).network
    >>> network.has_open, network.demand.shape
    (True, (1, 1, 1))
    """
    if model.graph.layers:
        return Lowered(layered_system(model))
    check_stations(model)
    check_batches(model.network.graph)
    if model.network_kind is NetworkKind.BLOCKING:
        point = point_of(
            model.network.graph, points_of(model.inputs, points_shape(model.inputs))[0]
        )
        return Lowered(network_that_blocks(point.network, point.stations))
    if model.network_kind is NetworkKind.CLIENTS:
        return Lowered(network_with_clients(model))
    if model.network_kind is NetworkKind.CLASSES:
        one = as_one(model)
        return _of_classes(model) if one is None else lower(one)
    alone = _closed if model.network_kind is NetworkKind.CLOSED else open_network
    return Lowered(alone(model.network))


def check_stations(model: Model) -> None:
    """Refuse a program, which has no network.

    Raises
    ------
    GraphError
        With the model's name.
    """
    if not model.graph.stations:
        msg = f"{model.name} is a program without stations, so no method solves it: it is evaluated"
        raise GraphError(msg)


def _of_classes(model: Model) -> Lowered:
    values, stations, classes = class_network(model)
    if not model.graph.ways_by_class:
        return Lowered(read_network(stations, classes, class_ways(model.graph, values)))
    found = chained(stations, classes, class_routes(model.graph, values))
    return Lowered(found.network, found.whole, found.merged, found.begun)


def _closed(model: Model) -> Network:
    rate = model.solve()["throughput"] if depends_on_throughput(model.graph) else 1.0
    return Circulation(model.graph, model.inputs, "auto").network(rate)
