"""The choice of a method: the best that applies, or why the one asked for does not.

Among the exact methods that apply to a network, the one with the shortest estimated time is taken.
If none applies, or each would take too long, it is the first approximation in the table that
applies; the table has the more accurate ones first.
"""

from collections.abc import Iterator
from math import inf
from operator import itemgetter

from headway.errors import GraphError, InvalidParameter
from headway.queueing.methods.method import MethodRow, Solvable
from headway.queueing.methods.registry import AUTO, by_least_time, method_named, methods


def choose(network: Solvable, asked: str = AUTO) -> Iterator[MethodRow]:
    """The methods that apply to a network, best first.

    Later ones are for the case that the first turns out not to be possible. If a method is asked
    for, it is that one only, or the one that answers in its place.

    Parameters
    ----------
    network
        What is to be solved: a network or a layered system.
    asked
        A method by name, or ``auto``.

    Raises
    ------
    GraphError
        If no method applies, with the reason why the nearest one does not.
    InvalidParameter
        For an unknown method name.

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
        yield from (exact or near)[:1]  # it reports the memory or time that it would need


def _soonest(network: Solvable) -> list[MethodRow]:
    """Exact methods that take no longer than their patience, the quickest first.

    No more needs are checked than the first of them requires: questions must not take longer than a
    solution of one operating point, which may be a microsecond.
    """
    quickest, times, subject = inf, [], network.subject
    for row in by_least_time():
        if subject not in row.subjects:
            continue
        least = row.least_of_one if network.kinds else row.least
        if least > quickest:
            break  # no other method is quick enough to be worth an estimate
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
    """The refusal of the nearest of some methods: the one with the fewest unmet needs.

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
    """The refusal when a method, or the one in whose place it was tried, turns out impossible."""
    if asked == AUTO:
        others = [row for row in methods().values() if row.missing(network)]
        return refusal(network, others)
    if asked != row.name:
        return refusal(network, [method_named(asked)])
    return GraphError(row.limits or f"method {row.name} cannot solve this network; use method auto")
