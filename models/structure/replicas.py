"""Replicas: equal copies of a whole open model, among which arrivals are split at random.

Each of n replicas receives a share 1/n of every flow. A random share p of a renewal flow whose
interarrival times have the squared coefficient of variation c has the scv 1 + p (c - 1); a share of
Poisson arrivals is Poisson. All results are those of one replica.

Source: Whitt, *The Queueing Network Analyzer*, 1983, section 4.4, for a split at random.
"""

from collections.abc import Mapping
from dataclasses import replace

from headway.errors import GraphError
from headway.models.language.formula import Formula, formula
from headway.models.language.parameters import Parameter
from headway.models.structure.graph import ModelGraph
from headway.models.structure.inputs import ARRIVAL_RATE, ARRIVAL_SCV
from headway.models.structure.parts.components import Component

REPLICAS = Parameter(
    "replicas",
    1.0,
    minimum=1,
    doc="equal copies of the whole model, among which arrivals are split at random",
)
"""The parameter that every open model has once someone names it."""


def are_copies(parameters: Mapping[str, Parameter]) -> bool:
    """Whether a model's parameter ``replicas`` means copies of the whole model.

    Examples
    --------
    >>> are_copies({"replicas": REPLICAS}), are_copies({"replicas": Parameter("replicas", 3.0)})
    (True, False)
    """
    return "replicas" in parameters and parameters["replicas"].doc == REPLICAS.doc


def have_copies(graph: ModelGraph) -> bool:
    """Whether jobs may arrive from outside, so that they can be split among copies of a graph.

    Examples
    --------
    >>> have_copies(ModelGraph("none"))
    False
    """
    closed = any("population" in numbers for numbers in graph.classes.values())
    return bool(graph.stations) and not closed and "population" not in graph.parameters


def one_of_replicas(graph: ModelGraph) -> ModelGraph:
    """One of ``replicas`` equal copies of a graph.

    Parameters
    ----------
    graph
        A graph with arrivals from outside.

    Raises
    ------
    GraphError
        For a program, a closed network, and arrivals in batches.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> graph = one_of_replicas(ModelGraph("one").station("cpu", MM1(0.1)))
    >>> graph.at(arrival_rate=20, replicas=4).solve().response_time
    0.2
    """
    if not have_copies(graph):
        why = "jobs circulate in it, and none arrive" if graph.stations else "it has no stations"
        msg = f"{graph.name} has no replicas: {why}"
        raise GraphError(msg)
    if graph.arrival_batches or graph.arrival_courses:
        what = ("batches", "batch") if graph.arrival_batches else ("trace or rates", "those")
        msg = f"{graph.name} has no replicas: its {what[0]} would be split; delete {what[1]}"
        raise GraphError(msg)
    if graph.clients:
        msg = f"{graph.name} has no replicas: its clients would be split; give servers instead"
        raise GraphError(msg)
    arrivals: Mapping[str, Formula] = graph.arrivals
    if not graph.classes:
        arrivals = arrivals or {next(iter(graph.stations)): formula(ARRIVAL_RATE)}
        arrivals = {name: _rate_of_share(rate) for name, rate in arrivals.items()}
    split = {ARRIVAL_RATE: _rate_of_share, _SCV: scv_of_share}
    classes = {
        name: {key: split[key](read) if key in split else read for key, read in numbers.items()}
        for name, numbers in graph.classes.items()
    }
    stations = {name: _at_one(station) for name, station in graph.stations.items()}
    return replace(
        graph.declare(REPLICAS.name),
        arrivals=arrivals,
        classes=classes,
        stations=stations,
        arrival_scvs={name: scv_of_share(scv) for name, scv in graph.arrival_scvs.items()},
    )


_SCV = ARRIVAL_SCV.name


def _rate_of_share(rate: Formula) -> Formula:
    return formula(f"({rate.text}) / {REPLICAS.name}")


def _at_one(station: Component) -> Component:
    """A station whose own fields describe its arrivals, as one replica sees them."""
    scv = station.fields.get(_SCV)
    if not isinstance(scv, Formula):
        return station
    return replace(station, fields={**station.fields, _SCV: scv_of_share(scv)})


def scv_of_share(scv: Formula) -> Formula:
    """The scv of the arrivals at one replica: 1 + (c - 1) / n."""
    return formula(f"1 + (({scv.text}) - 1) / {REPLICAS.name}")
