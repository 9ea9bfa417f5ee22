"""Arrivals that follow time: they have no steady state, and so no means of one."""

from functools import partial

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.structure.parts.keys import Values
from headway.models.structure.parts.structure import Structure, of_structure
from headway.models.structure.planning.components import AnyStep, number
from headway.queueing.flows.courses import RateTable


@of_structure
def follows_time(graph: Structure) -> str:
    """The first station whose arrival rate changes over time; empty if none does.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> day = RateTable((0.0, 60.0), (2.0, 8.0), 120.0)
    >>> follows_time(ModelGraph("one").station("cpu", MM1(0.1)).arrive("cpu", course=day))
    'cpu'
    """
    courses = graph.arrival_courses.items()
    return next((name for name, course in courses if isinstance(course, RateTable)), "")


def check_steady(graph: Structure) -> None:
    """Refuse answers about a steady state if arrival rates follow time.

    Raises
    ------
    GraphError
        With the station, and what answers instead.
    """
    if where := follows_time(graph):
        msg = (
            f"{graph.name}: arrivals at {where} change with time, so there is no steady state; "
            "use --method simulation, or give rate in place of rates"
        )
        raise GraphError(msg)


def unsteady_steps(graph: Structure, name: str) -> list[AnyStep]:
    """Steps that refuse what only a steady state has."""
    parts = ("waiting_time", "response_time")
    return [number(f"{name}.{part}", (), partial(_refused, graph)) for part in parts]


def _refused(graph: Structure, values: Values) -> Amount:
    del values
    check_steady(graph)
    return 0.0  # never reached: the graph's arrivals follow time
