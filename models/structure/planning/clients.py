"""Clients that give up: their numbers, and the ages at which stations drop requests."""

from functools import partial

from headway.errors import GraphError
from headway.kinds import check_domain
from headway.models.language.formula import Formula
from headway.models.structure.parts.clients import ClientTerms
from headway.models.structure.parts.keys import Values, clients_at, oldest_at
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.components import AnyStep, named, step
from headway.queueing.flows.clients import Clients, check_returns


def check_clients_wait(graph: Structure, what: str) -> None:
    """Refuse results that are not known if clients give up.

    Parameters
    ----------
    graph, what
        A graph, and the results for which headway has no law, such as ``percentiles``.

    Raises
    ------
    GraphError
        For a graph whose clients give up, or whose stations drop requests.
    """
    if graph.gives_up:
        msg = (
            f"{graph.name}: its clients give up, of which headway knows means but no {what}; "
            "simulate, with --percentile for times"
        )
        raise GraphError(msg)


def client_steps(graph: Structure) -> list[AnyStep]:
    """Steps for the numbers of clients, and for the ages at which stations drop requests."""
    steps: list[AnyStep] = [
        step(clients_at(name), terms.names, partial(_clients, name, terms, graph.refuses))
        for name, terms in graph.clients.items()
    ]
    for name, station in graph.stations.items():
        if station.oldest is not None:
            age = partial(_age, name, station.oldest)
            steps.append(step(oldest_at(name), station.oldest.names, age))
    return steps


def _clients(name: str, terms: ClientTerms, loses: bool, values: Values) -> Clients:  # noqa: FBT001
    given = {each: values[each] for each in sorted(terms.names)}
    with named(f"class {name}" if name else "clients of the arrivals", given):
        clients = terms.evaluate(values)
        check_returns(clients, loses=loses)
    return clients


def _age(name: str, read: Formula, values: Values) -> object:
    age = read.evaluate(values)
    check_domain(f"{name}: drop_older_than", age, lambda time: time > 0, "above 0")
    return age
