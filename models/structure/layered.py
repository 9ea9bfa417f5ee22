"""Models of layered services at their operating points."""

from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Amounts
from headway.queueing.layers.system import LayeredSystem


def system_of(model: Model) -> tuple[LayeredSystem, Amounts]:
    """The layered system of a model with numbers, and the model's inputs and bindings.

    Parameters
    ----------
    model
        A model with processors, tasks and entries.

    Raises
    ------
    GraphError, InvalidParameter
        For systems that cannot run, and numbers outside their domain.
    """
    graph = model.graph
    layers = graph.layers
    assert layers is not None  # noqa: S101 - its kind says so
    bound = layers.names & graph.bindings.keys()
    values: Amounts = graph.plan.run(model.inputs, bound)
    return layers.at(graph.name, values), values
