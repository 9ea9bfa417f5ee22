"""Layered services closed: a reference task whose clients ask, in place of requests from outside.

N clients think for a mean time Z, and then ask for one entry that had requests from outside: for
entry i, whose rate of these was r_i, with probability

    p_i = r_i / (r_1 + r_2 + ...)                                                           (1)

so that the mix of requests is the same at any load. Reference tasks are from Franks, Al-Omari,
Woodside, Das and Derisavi, "Enhanced Modeling and Solution of Layered Queueing Networks", IEEE
Trans. Softw. Eng. 35(2), 2009, section 2.
"""

from collections.abc import Mapping
from dataclasses import replace

from headway.models.language.formula import Formula, formula, of_number
from headway.models.structure.parts.flows import OwnNames
from headway.models.structure.parts.layers import LONE, Layers
from headway.models.structure.parts.own_numbers import clients_name
from headway.queueing.layers.flow import Choice, Flow, Step
from headway.queueing.layers.parts import Entry, Task

NAME = "clients"
POPULATION, THINK_TIME = "population", "think_time"
SETTINGS = frozenset({POPULATION, THINK_TIME})
"""Parameters that the clients have; no others may have these names."""


def why_not_closed(layers: Layers) -> str:
    """Why clients cannot ask in place of requests from outside; empty if they can.

    Parameters
    ----------
    layers
        Layered services.
    """
    asked = _asked(layers)
    if not asked or any(task.clients for task in layers.tasks.values()):
        named = clients_name(layers)
        return f"it has clients; set {named}" if named else "tasks have its clients; set theirs"
    if own := sorted(SETTINGS & _without_arrivals(layers, asked).names):
        names = " and ".join(own)
        return f"its formulas use {names}, as clients would; rename its own"
    copied = {layers.entries[name].task for name in asked}
    if several := [name for name in copied if layers.tasks[name].replicas.constant != 1]:
        return f"{several[0]} has replicas, of which clients choose; write threads in their place"
    return ""


def with_clients(layers: Layers) -> Layers:
    """The services with ``population`` clients who think for ``think_time`` in place of arrivals.

    Parameters
    ----------
    layers
        Services all of whose requests come from outside.

    Examples
    --------
    >>> from headway.models import parse_model
    >>> text = '''
    ... name = "one"
    ... [processors.cpu]
    ... [tasks.web]
    ... processor = "cpu"
    ... entries.page = { demand = "5 ms", arrival_rate = "30 /s" }
    ... entries.form = { demand = "5 ms", arrival_rate = "10 /s" }
    ... '''
    >>> closed = with_clients(parse_model(text).graph.layers)
    >>> [(share.evaluate({}), way.name) for share, way in closed.entries["ask"].flow.ways]
    [(0.75, 'page'), (0.25, 'form')]
    """
    name = OwnNames({*layers.tasks, *layers.processors}).free(NAME)
    jobs, waits = formula(POPULATION), formula(THINK_TIME)
    task = Task(name, jobs, waits, clients=True, replicas=of_number(1.0))
    asking = _without_arrivals(layers, _asked(layers), name)
    return replace(
        asking,
        processors={**layers.processors, name: LONE},
        tasks={name: task, **layers.tasks},
    )


def _without_arrivals(layers: Layers, asked: Mapping[str, Formula], task: str = NAME) -> Layers:
    """The services without arrivals, and first the entry by which the clients' task asks."""
    entry = OwnNames({*layers.entries}).free("ask")
    served = {n: replace(e, arrival_rate=of_number(0.0)) for n, e in layers.entries.items()}
    asking = Entry(task, _flow(asked), of_number(0.0))
    return replace(layers, entries={entry: asking, **served})


def _asked(layers: Layers) -> dict[str, Formula]:
    """The rate of requests from outside for each entry that has some, r_i."""
    rates = ((name, entry.arrival_rate) for name, entry in layers.entries.items())
    return {n: rate for n, rate in rates if isinstance(rate, Formula) and rate.constant != 0}


def _flow(rates: Mapping[str, Formula]) -> Flow:
    """One of the entries is asked for, by (1)."""
    asks = {name: _ask(name) for name in rates}
    if len(rates) == 1:
        return next(iter(asks.values()))
    return Choice(tuple((share, asks[name]) for name, share in _shares(rates).items()))


def _ask(entry: str) -> Step:
    """One request for an entry, and no work."""
    none, one = of_number(0.0), of_number(1.0)
    return Step(entry, none, one, none, {entry: one}, fixed=True)


def _shares(rates: Mapping[str, Formula]) -> dict[str, Formula]:
    """Equation (1) with what all rates have in common cancelled, so that none need be known."""
    import sympy

    from headway.models.language.from_sympy import from_sympy

    names = frozenset().union(*(rate.names for rate in rates.values()))
    symbols = {name: sympy.Symbol(name) for name in names}
    read = {name: sympy.sympify(rate.evaluate(symbols)) for name, rate in rates.items()}
    total = sympy.Add(*read.values())
    return {name: from_sympy(sympy.cancel(rate / total)) for name, rate in read.items()}
