"""Closed forms: the steps of a numerical solution, with symbols in place of numbers."""

from collections.abc import Mapping, Sequence

import sympy

from headway.errors import GraphError, UnknownParameter, nearest
from headway.kinds import Amount, ceiling, floor
from headway.models.language.parameters import Parameter
from headway.models.solving.blocking.refused import refuse_blocking
from headway.models.solving.solutions.saturation import RATES
from headway.models.solving.solutions.solution import CLASS_PARTS
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.outputs import percent_of, percentile_name
from headway.models.structure.parts.keys import of_class, offered_at
from headway.models.structure.parts.links import link_parameters
from headway.models.structure.planning.clients import check_clients_wait
from headway.queueing.erlang.formulas import erlang_b, erlang_c
from headway.queueing.erlang.waiting_room import moment, solve
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.variability.lone import lone_wait, lone_wait_slope

_WAITS = ("waiting_time", "response_time", "residence_time", "queue_length", "loss_probability")


def symbol(name: str) -> Amount:
    """The symbol of a parameter; symbols that are assumed positive keep closed forms short."""
    return sympy.Symbol(name, positive=True)


def bounded_symbols(model: Model) -> dict[str, Amount]:
    """Symbols of a model's parameters that assume nothing beyond their bounds.

    `symbol` assumes that everything is positive, which would decide a condition such as
    ``writing > 0`` for good, although the parameter may be zero.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> bounded_symbols(catalogue_model("server"))["delay"].is_positive is None
    True
    """
    return {name: _bounded(parameter) for name, parameter in model.parameters.items()}


def _bounded(parameter: Parameter) -> Amount:
    if parameter.minimum > 0:
        return symbol(parameter.name)
    if parameter.minimum == 0:
        return sympy.Symbol(parameter.name, nonnegative=True)
    return sympy.Symbol(parameter.name, real=True)


def offered_form(graph: ModelGraph, name: str) -> Amount:
    """Write a station's offered load over its capacity as a SymPy expression.

    Parameters
    ----------
    graph
        A graph whose results have closed forms.
    name
        The name of one of its stations.
    """
    return _form(graph, offered_at(name), {})


def closed_form(
    graph: ModelGraph, output: str, symbols: Mapping[str, Amount] | None = None
) -> Amount:
    """Write an output of an open network, or of a program, as a SymPy expression.

    Parameters
    ----------
    graph
        A graph; numbers of servers may be symbols too, in which case Erlang's formulas stay
        functions.
    output
        ``response_time``, an output of the graph, a binding, a part such as
        ``cpu.utilisation``, or a percentile such as ``response_time_p99``.
    symbols
        A symbol for each parameter; positive ones by default.

    Raises
    ------
    GraphError
        For a percentile, unless the response time is constants and one exponential time.
    UnknownParameter
        For an output that the graph does not have.
    """
    refuse_blocking(graph, "closed forms")
    check_clients_wait(graph, "closed forms")
    if graph.layers:
        msg = f"{graph.name} has layered services, which have no closed form; solve it"
        raise GraphError(msg)
    percent = percent_of(output, graph.classes)
    if percent is not None and output not in graph.names:
        from headway.models.solving.response_times.closed_forms import percentile_form

        return whole_numbers(percentile_form(graph, percent, _given(graph, symbols or {})))
    known = graph.classes or output in graph.names
    if not known or output == "saturation_throughput":
        msg = f"{graph.name} has no closed form of {output!r}{nearest(output, graph.outputs)}"
        raise UnknownParameter(msg)
    return _form(graph, output, symbols or {})


def _given(graph: ModelGraph, symbols: Mapping[str, Amount]) -> dict[str, Amount]:
    """A symbol for each parameter, and for the arrival rate where it is one."""
    names = (*graph.parameters, *link_parameters(graph.links))
    given_elsewhere = graph.arrivals and not graph.needs_arrival_rate
    rate = {} if given_elsewhere else {"arrival_rate": symbol("arrival_rate")}
    return rate | {name: symbol(name) for name in names} | dict(symbols)


def _form(graph: ModelGraph, output: str, symbols: Mapping[str, Amount]) -> Amount:
    given = _given(graph, symbols)
    if graph.classes:
        from headway.models.solving.classes.forms import class_form

        own = {name: value for name, value in given.items() if name != "arrival_rate"}
        return whole_numbers(class_form(graph, output, own))
    return whole_numbers(graph.plan.run(given, [output])[output])


def model_form(model: Model, output: str) -> Amount:
    """Write an output of a model as a SymPy expression of its parameters.

    Parameters
    ----------
    model
        A program, or an open network; parameters assume nothing beyond their bounds.
    output
        As for `closed_form`; of a class such as ``class web.response_time``.

    Raises
    ------
    GraphError
        For results that need the solution of a closed network; utilisations contain the
        symbol ``throughput``.
    UnknownParameter
        For an output that the graph does not have.
    """
    symbols = bounded_symbols(model)
    percent = percent_of(output, model.graph.classes)
    if len(model.graph.classes) > 1:
        return closed_form(model.graph, output, symbols)
    network = model.network
    if output in _of_only_class(model):
        output = output.rpartition(".")[2]
    elif len(model.graph.classes) == 1 and percent is not None:
        output = percentile_name(percent)
    if network.is_closed and network.graph.stations:
        _check_circulation(network.graph, output)
        symbols |= dict.fromkeys(RATES, symbol("throughput"))
    return closed_form(network.graph, output, symbols)


def _of_only_class(model: Model) -> list[str]:
    """Results that a single class shares with the network."""
    return [of_class(name, part) for name in model.graph.classes for part in CLASS_PARTS]


def _check_circulation(graph: ModelGraph, output: str) -> None:
    """Refuse results of a closed network that do not follow from its throughput."""
    needed = graph.plan.needed([output]) | {output}
    percentile = percent_of(output) is not None and output not in graph.names
    waits = {f"{name}.{part}" for name in graph.stations for part in _WAITS}
    varying = [
        f"{name}.utilisation"
        for name, station in graph.stations.items()
        if station.can.product_form in (None, ServiceKind.VARYING)
    ]
    if needed & {"response_time", *waits, *varying} or output == "throughput" or percentile:
        msg = f"{output} of a closed network comes from a recursion over its jobs, not a formula"
        raise GraphError(msg)


def whole_numbers(expression: Amount) -> Amount:
    """Write whole numbers without a decimal point: 2*x for 2.0*x.

    Examples
    --------
    >>> whole_numbers(2.0 * sympy.Symbol("x"))
    2*x
    """
    form = sympy.sympify(expression, strict=True)
    whole = {number for number in form.atoms(sympy.Float) if float(number).is_integer()}
    return form.xreplace({number: sympy.Integer(int(number)) for number in whole})


def numeric(expression: Amount, arguments: Sequence[Amount]) -> Amount:
    """Compile a closed form into a function of arrays.

    Parameters
    ----------
    expression
        SymPy expression, or a list of them.
    arguments
        Its symbols, in the order of the function's arguments.

    Examples
    --------
    >>> x = sympy.Symbol("x")
    >>> numeric(x + 1, [x])(2.0)
    3.0
    """
    functions = {"ErlangB": erlang_b, "ErlangC": erlang_c, "ceiling": ceiling, "floor": floor}
    functions |= {
        "RoomLoss": lambda *room: solve(*room).loss,
        "RoomAdmitted": lambda *room: solve(*room).admitted,
        "RoomEmpty": lambda *room: solve(*room).empty,
        "RoomWaiting": moment,
        "LoneWait": lone_wait,
        "LoneWaitSlope": lone_wait_slope,
    }
    modules = [functions, "numpy"]
    return sympy.lambdify(list(arguments), expression, modules=modules, cse=True)
