"""Where arrivals follow time: no mean of a steady state, which there is not."""

from functools import partial

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.structure.parts.keys import Values
from headway.models.structure.parts.structure import Structure, of_structure
from headway.models.structure.planning.components import AnyStep, number
from headway.queueing.flows.courses import RateTable


@of_structure
def follows_time(graph: Structure) -> str:
    """The first station whose arrivals have a rate that changes; empty where none has.

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
    """Refuse answers of a steady state where rates of arrivals follow time.

    Raises
    ------
    GraphError
        Naming the station, and what answers instead.
    """
    if where := follows_time(graph):
        msg = (
            f"{graph.name}: arrivals at {where} change with time, so there is no steady state; "
            "use --method simulation, or give rate in place of rates"
        )
        raise GraphError(msg)


def unsteady_steps(graph: Structure, name: str) -> list[AnyStep]:
    """Steps for what only a steady state has, which refuse it."""
    parts = ("waiting_time", "response_time")
    return [number(f"{name}.{part}", (), partial(_refused, graph)) for part in parts]


def _refused(graph: Structure, values: Values) -> Amount:
    del values
    check_steady(graph)
    return 0.0  # never: the graph's arrivals follow time
