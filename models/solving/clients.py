"""Networks whose clients give up and ask again."""

import numpy as np

from headway.kinds import plain
from headway.models.solving.lowering import network_with_clients, with_patience
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Amounts
from headway.queueing.methods.solve import answered_by, solve


def client_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Means of a network whose clients give up.

    Parameters
    ----------
    model
        Of one open class.
    method
        By name, or ``auto``.
    shape
        Of its operating points.

    Raises
    ------
    GraphError
        Where no method applies, with the reason.
    """
    network = network_with_clients(model)
    result, row = solve(network, method), answered_by(network, method)
    values: Amounts = {
        **with_patience(model).solve().values,
        "throughput": plain(result.throughput[0]),
        "response_time": plain(result.response_time[0]),
        **{name: plain(np.reshape(each, shape)) for name, each in (result.clients or {}).items()},
    }
    for k, name in enumerate(model.graph.stations):
        values |= {
            f"{name}.utilisation": plain(result.utilisation[k, 0]),
            f"{name}.queue_length": plain(result.queue_length[k, 0]),
            f"{name}.residence_time": plain(result.residence_time[k, 0]),
            f"{name}.response_time": plain(result.station_response_time[k, 0]),
            f"{name}.throughput": plain(result.station_throughput[k, 0]),
        }
    error = row.error_of(network)
    notes = filter(None, ("" if error.exact else str(error), result.approximation))
    saturated = np.isinf(np.asarray(result.queue_length[0, 0]))
    return values, Marks(row.name, "; ".join(notes), saturated)
