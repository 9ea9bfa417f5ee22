"""The table of headway's own methods: their answers, needs, costs and errors.

Approximations are in the order in which they are taken: the more accurate ones first. Functions are
given by name, and imported when needed.
"""

from typing import Any

from headway.queueing.methods.method import EXACT, Cost, Error, MethodRow, Need, Subject
from headway.queueing.methods.needs import (
    CLOSED,
    CLOSED_KINDS,
    EXPONENTIAL,
    FORKED,
    MANY_POPULATIONS,
    MANY_STATES,
    MEASURED,
    OPEN,
    POOLS_OF_ONE_CLASS,
    PRODUCT_FORM,
    SINGLE_SERVERS,
    SPEEDS_OF_SERVERS,
    STATES,
    UNFORKED,
    UNLIKE_IN_TURN,
    UNWINDOWED,
    VALID,
    WINDOWED,
    of_blocking,
    of_classes,
    of_layers,
)

_ONE, _CLASSES = "headway.queueing.closed.methods", "headway.queueing.classes.methods"
_TURNS, _ERRORS = "headway.queueing.classes.aggregation", "headway.queueing.classes.accuracy"
_BLOCKING = "headway.queueing.blocking.methods"
_LAYERS = "headway.queueing.layers"
_COSTS = "headway.queueing.classes.costs"

_CIRCULATING = (CLOSED, UNFORKED, CLOSED_KINDS, *VALID)
_PRODUCT = (*_CIRCULATING, PRODUCT_FORM)

_CHAINED = of_blocking(Need("a chain of few states where it blocks", f"{_BLOCKING}:no_chain"))
_EQUIVALENT = of_blocking(
    Need("regions beside stations without a capacity", f"{_BLOCKING}:no_equivalence")
)
_DECOMPOSABLE = of_blocking(
    Need("exponential stations that block after service", f"{_BLOCKING}:no_decomposition")
)

_RETRIES = "headway.queueing.retries.methods"
_GIVE_UP = Need("clients that give up", f"{_RETRIES}:no_clients", far=True)
_UNBROKEN = Need("clients without a circuit breaker", f"{_RETRIES}:breaks")
_LONE = Need("one exponential queue alone", f"{_RETRIES}:no_lone_queue")
_ASKED = OPEN, _GIVE_UP, _UNBROKEN, _LONE

_UNHELD = of_layers(
    Need(
        "one client alone, or threads that run out only where nobody else is called",
        f"{_LAYERS}.product_form:no_product_form",
    )
)
_LAYERED_CHAIN = of_layers(
    Need("layers of clients alone with exponential times", f"{_LAYERS}.chain:no_chain")
)

_PHASED = of_layers(
    Need("replies and joins outside of branches at once", f"{_LAYERS}.decomposed.sources:no_phases")
)

_SEVERAL_QUEUES = Need("several queues, or jobs that come back to one", f"{_TURNS}:one_queue")

_TIMED = "headway.queueing.transient"


def _timed(*names: str) -> tuple[Need, ...]:
    """The needs of a method for a load over time, in order of declaration."""
    words = {
        "LONE": "one queue that jobs come to once, besides delays",
        "MARKOV": "exponential services, Poisson arrivals, in order of arrival",
        "ROOMY": "queues without a limit",
        "BY_SERVERS": "servers of one speed",
        "STARTABLE": "a steady state at the start, or another start",
        "UNHURRIED": "a steady state at the start",
        "NEVER_FULL": "a load below capacity at all times",
    }
    return tuple(Need(words[name], f"{_TIMED}.network:{name.lower()}") for name in names)


PATIENCE = 6.0
"""Estimated time up to which an exact method is taken without being asked for [s]; chosen."""

WALKED = 0.1
"""Time up to which the lattice is walked without estimating other methods [s]; chosen."""

CONVOLVED = 1e-3
"""Least estimate of a convolution of one class [s]; see `headway.queueing.closed.methods`."""


def _chain_error(network: Any) -> Error:
    """The error of a whole chain: none, except for delays of networks with blocking."""
    if network.subject is not Subject.BLOCKING:
        return EXACT
    from headway.queueing.blocking.methods import chain_error

    return chain_error(network)


METHODS = (
    MethodRow(
        "open",
        "each station by its own law, at the flows that come to it",
        (OPEN, *VALID),
        {
            Subject.CLASSES: f"{_CLASSES}:open_classes",
            Subject.ONE_CLASS: "headway.queueing.classes.opened:by_station",
        },
        error=f"{_ERRORS}:open_error",
        quick=True,
    ),
    MethodRow(
        "exact",
        "exact mean value analysis over all populations",
        (*_PRODUCT, SINGLE_SERVERS),
        {Subject.CLASSES: f"{_CLASSES}:walked", Subject.ONE_CLASS: f"{_ONE}:walked"},
        error=f"{_ERRORS}:product_error",
        cost=f"{_COSTS}:walk_cost",
        patience=PATIENCE,
        otherwise=("convolution", "product form", "chain", "open"),
        quick=True,
    ),
    MethodRow(
        "convolution",
        "convolution of the stations' normalisation constants",
        _PRODUCT,
        {Subject.CLASSES: f"{_CLASSES}:convolved", Subject.ONE_CLASS: f"{_ONE}:convolved"},
        error=f"{_ERRORS}:product_error",
        cost=f"{_COSTS}:convolution_cost",
        least=WALKED,
        least_of_one=CONVOLVED,
        patience=PATIENCE,
        otherwise=("chain", "open"),
        quick=True,
    ),
    MethodRow(
        "recal",
        "recursion by class, for few jobs of many classes (RECAL)",
        (*_PRODUCT, SINGLE_SERVERS),
        {Subject.CLASSES: f"{_CLASSES}:by_recal"},
        error=f"{_ERRORS}:product_error",
        cost=f"{_CLASSES}:recal_cost",
        least=WALKED,
        patience=PATIENCE,
        otherwise=("exact", "convolution", "chain", "open"),
    ),
    MethodRow(
        "quadrature",
        "numerical integration of the normalisation constant, for few stations",
        (*_PRODUCT, SINGLE_SERVERS),
        {Subject.CLASSES: f"{_CLASSES}:by_quadrature"},
        error=f"{_ERRORS}:product_error",
        cost=f"{_CLASSES}:quadrature_cost",
        least=WALKED,
        patience=PATIENCE,
        otherwise=("exact", "convolution", "chain", "open"),
    ),
    MethodRow(
        "product form",
        "layers whose threads run out at the bottom only, as a queueing network",
        (_UNHELD,),
        {Subject.LAYERED: f"{_LAYERS}.product_form:by_product_form"},
        otherwise=("chain",),
        quick=True,
    ),
    MethodRow(
        "chain",
        "the whole Markov chain, state by state",
        (*of_classes(*_CIRCULATING, EXPONENTIAL, STATES), _CHAINED, _LAYERED_CHAIN),
        {
            Subject.CLASSES: f"{_TURNS}:by_chain",
            Subject.BLOCKING: f"{_BLOCKING}:by_chain",
            Subject.LAYERED: f"{_LAYERS}.methods.solve:by_whole_chain",
        },
        unasked={
            Subject.CLASSES: f"{_TURNS}:by_chain_unasked",
            Subject.BLOCKING: f"{_BLOCKING}:by_chain_unasked",
            Subject.LAYERED: f"{_LAYERS}.methods.solve:by_small_chain",
        },
        error=_chain_error,
        cost=Cost(seconds=1.0),
        least=PATIENCE,
        otherwise=("open",),
        limits=MANY_STATES,
        merges=False,
    ),
    MethodRow(
        "aggregation",
        "one station at a time, state by state, fed by the rest of the network",
        (*_CIRCULATING, MEASURED, UNLIKE_IN_TURN, EXPONENTIAL, SPEEDS_OF_SERVERS, _SEVERAL_QUEUES),
        f"{_TURNS}:aggregated",
        error=f"{_ERRORS}:aggregation_error",
        approximates=True,
        otherwise=("exact", "convolution", "chain", "linearizer", "open"),
        limits="method aggregation needs stations of few states; use method linearizer",
    ),
    MethodRow(
        "linearizer",
        "approximate mean value analysis, corrected once (Linearizer)",
        (*_CIRCULATING, MEASURED, POOLS_OF_ONE_CLASS, SPEEDS_OF_SERVERS, MANY_POPULATIONS),
        {Subject.CLASSES: f"{_CLASSES}:by_linearizer", Subject.ONE_CLASS: f"{_ONE}:by_linearizer"},
        error=f"{_ERRORS}:linearizer_error",
        approximates=True,
        otherwise=("convolution", "open"),
        quick=True,
    ),
    MethodRow(
        "schweitzer",
        "approximate mean value analysis (Bard and Schweitzer)",
        (*_CIRCULATING, MEASURED, POOLS_OF_ONE_CLASS, SPEEDS_OF_SERVERS, MANY_POPULATIONS),
        {Subject.CLASSES: f"{_CLASSES}:by_schweitzer", Subject.ONE_CLASS: f"{_ONE}:by_schweitzer"},
        error=f"{_ERRORS}:schweitzer_error",
        approximates=True,
        otherwise=("convolution", "open"),
        quick=True,
    ),
    MethodRow(
        "flow equivalence",
        "each region as one server whose speed depends on the jobs in it",
        (WINDOWED, _EQUIVALENT),
        {Subject.BLOCKING: f"{_BLOCKING}:by_flow_equivalence"},
        error=f"{_BLOCKING}:equivalence_error",
        approximates=True,
    ),
    MethodRow(
        "decomposition",
        "stations that block, each with the rest of the network as arrivals and blocked time",
        (UNWINDOWED, _DECOMPOSABLE),
        {Subject.BLOCKING: f"{_BLOCKING}:by_decomposition"},
        error=f"{_BLOCKING}:decomposition_error",
        approximates=True,
    ),
    MethodRow(
        "fork-join",
        "mean value analysis in which parts of a request fork and join",
        (CLOSED, FORKED),
        {Subject.ONE_CLASS: "headway.queueing.closed.forked:joined"},
        error="headway.queueing.closed.forked:error",
        approximates=True,
    ),
    MethodRow(
        "erlang-a",
        "one queue that jobs leave when their patience ends (Erlang A)",
        (*_ASKED, Need("exponential patience", f"{_RETRIES}:no_erlang_a")),
        {Subject.ONE_CLASS: f"{_RETRIES}:by_erlang_a"},
        quick=True,
    ),
    MethodRow(
        "retrials",
        "one queue and the clients that come back to it, state by state",
        (*_ASKED, Need("exponential backoffs, no timeout", f"{_RETRIES}:no_orbit")),
        {Subject.ONE_CLASS: f"{_RETRIES}:by_orbit"},
        patience=PATIENCE,
    ),
    MethodRow(
        "attempts",
        "one queue at the rate of attempts that its own timeouts cause",
        (*_ASKED, Need("timeouts that nobody notices", f"{_RETRIES}:no_timeouts")),
        {Subject.ONE_CLASS: f"{_RETRIES}:by_attempts"},
        error=f"{_RETRIES}:attempts_error",
        approximates=True,
    ),
    MethodRow(
        "layers",
        "each layer of services in turn, with the others as delays",
        (_PHASED,),
        {Subject.LAYERED: f"{_LAYERS}.methods.solve:in_layers"},
        error=f"{_LAYERS}.measured:LAYERS_ERROR",
        approximates=True,
        quick=True,
    ),
    MethodRow(
        "forward",
        "the forward equations of one queue whose load follows time",
        _timed("LONE", "MARKOV", "STARTABLE"),
        {Subject.TIMED: f"{_TIMED}.methods:by_forward"},
    ),
    MethodRow(
        "offered load",
        "at each moment the steady state at the load of infinitely many servers",
        _timed("MARKOV", "ROOMY", "BY_SERVERS", "UNHURRIED", "NEVER_FULL"),
        {Subject.TIMED: f"{_TIMED}.methods:by_offered_load"},
        error=f"{_TIMED}.measured:offered_load_error",
        approximates=True,
    ),
    MethodRow(
        "fluid",
        "means and covariances of a network over time, as if numbers were normal",
        _timed("MARKOV", "ROOMY", "BY_SERVERS"),
        {Subject.TIMED: f"{_TIMED}.fluid:by_fluid"},
        error=f"{_TIMED}.measured:fluid_error",
        approximates=True,
    ),
    MethodRow(
        "pointwise",
        "at each moment the steady state at its rate",
        _timed("MARKOV", "BY_SERVERS", "UNHURRIED", "NEVER_FULL"),
        {Subject.TIMED: f"{_TIMED}.methods:by_pointwise"},
        error=f"{_TIMED}.measured:pointwise_error",
        approximates=True,
    ),
)
"""All methods of headway."""
