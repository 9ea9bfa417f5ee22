"""The choice of a method: the best that applies, or what is in the way of the one asked for.

Of the exact methods that a network allows, the one that is estimated to take the least time; where
there is none, or each would take too long, the first approximation of the table that applies. The
table has the nearer ones first.
"""

from collections.abc import Iterator
from math import inf
from operator import itemgetter

from headway.errors import GraphError, InvalidParameter
from headway.queueing.methods.method import MethodRow, Solvable
from headway.queueing.methods.registry import AUTO, by_least_time, method_named, methods


def choose(network: Solvable, asked: str = AUTO) -> Iterator[MethodRow]:
    """Rank the methods that apply to a network, the best first.

    The others are for where it turns out not to be possible. Of a method that is asked for it is
    that one alone, or the one that answers in its place.

    Parameters
    ----------
    network
        What is to be solved, a network or a layered system.
    asked
        A method by name, or ``auto``.

    Raises
    ------
    GraphError
        Where none applies, with what is in the way of the nearest.
    InvalidParameter
        For a name that is no method.

    Examples
    --------
    >>> from headway.queueing import JobClass, SharedStation
    >>> from headway.queueing.network.network import read_network
    >>> cpu = SharedStation("cpu", (0.1, 0.2), (1, 1))
    >>> two = [JobClass(name, population=3, think_time=1.0) for name in "ab"]
    >>> next(choose(read_network([cpu], two))).name
    'exact'
    """
    if asked != AUTO:
        yield _asked_for(network, asked)
        return
    soonest = _soonest(network)
    yield from soonest
    rows = methods().values()
    sure = [row for row in rows if not row.approximates and not row.missing(network)]
    exact = [row for row in sure if row.error_of(network).exact]
    near = [row for row in rows if row not in exact and not row.missing(network)]
    fitting = [row for row in near if row.cost_of(network).fits]
    yield from fitting
    if not soonest and not fitting:
        if not exact and not near:
            raise refusal(network, list(rows))
        yield from (exact or near)[:1]  # which says what memory or time it would need


def _soonest(network: Solvable) -> list[MethodRow]:
    """Exact methods that take no longer than anybody waits unasked, the quickest first.

    It asks no more of a network than the first of them needs: a solve of a microsecond or so for
    one operating point is not to be spent on questions.
    """
    quickest, times, subject = inf, [], network.subject
    for row in by_least_time():
        if subject not in row.subjects:
            continue
        least = row.least_of_one if network.kinds else row.least
        if least > quickest:
            break  # another one is quicker than this is worth an estimate
        if row.missing(network) or not row.error_of(network).exact:
            continue
        cost = row.cost_of(network)
        if cost.fits and cost.seconds <= row.patience:
            quickest = min(quickest, cost.here)
            times.append((cost.here, row))
    return [row for _, row in sorted(times, key=itemgetter(0))]


def _asked_for(network: Solvable, asked: str) -> MethodRow:
    row = method_named(asked)
    if not row.missing(network):
        return row
    firm = any(need.firm and need.of(network) for need in row.needs)
    others = [] if firm else [method_named(name) for name in row.otherwise]
    for other in others:
        if not other.missing(network):
            return other
    raise refusal(network, [row] if network.subject in row.subjects else [*others, row])


def refusal(network: Solvable, rows: list[MethodRow]) -> GraphError | InvalidParameter:
    """Say what is in the way of the nearest of some methods: the one that lacks least.

    Examples
    --------
    >>> from headway.queueing import Discipline, JobClass, SharedStation
    >>> from headway.queueing.network.network import read_network
    >>> cpu = SharedStation("cpu", (0.1, 0.2), (1, 1), discipline=Discipline.FCFS)
    >>> network = read_network([cpu], [JobClass(name, population=3) for name in "ab"])
    >>> str(refusal(network, [method_named("exact")]))[:67]
    'cpu: closed classes with different service times, first come first '
    """
    closest = min(reversed(rows), key=lambda row: row.lacks(network))
    msg = closest.missing(network).replace("{asked}", closest.name)
    apt = network.subject in closest.subjects
    return GraphError(msg) if apt else InvalidParameter(msg)


def impossible(network: Solvable, row: MethodRow, asked: str) -> GraphError | InvalidParameter:
    """Say that a method turned out not to be possible, or the one in whose place it was tried."""
    if asked == AUTO:
        others = [row for row in methods().values() if row.missing(network)]
        return refusal(network, others)
    if asked != row.name:
        return refusal(network, [method_named(asked)])
    return GraphError(row.limits or f"method {row.name} cannot solve this network; use method auto")
