"""Solve a network by the method asked for, or by the best that applies."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import plain
from headway.queueing.methods.choice import choose, impossible
from headway.queueing.methods.method import MethodRow
from headway.queueing.methods.registry import AUTO
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import ranked, unequal
from headway.queueing.network.result import BY_CLASS, BY_STATION, Result


def solve(network: Network, asked: str = AUTO) -> Result:
    """Solve a network.

    Parameters
    ----------
    network
        The network to solve, at all of its operating points.
    asked
        A method by name, or ``auto``.

    Returns
    -------
    The result, which also says which points are saturated.

    Raises
    ------
    GraphError, InvalidParameter
        If no method applies, or not the one asked for, with the reason.

    Examples
    --------
    >>> from headway.queueing import JobClass, SharedStation
    >>> from headway.queueing.network.network import read_network
    >>> cpu = SharedStation("cpu", (0.1, 0.2), (1, 1))
    >>> two = [JobClass(name, population=1) for name in "ab"]
    >>> solve(read_network([cpu], two), "schweitzer").method.value
    'schweitzer'
    """
    return solved(network, asked)[1]


def solved(network: Network, asked: str = AUTO) -> tuple[MethodRow, Result]:
    """Solve a network; returns its method and its answer.

    Parameters
    ----------
    network, asked
        As for `solve`; if the points have several methods, that of the first is returned.
    """
    parts = _points_by_form(network)
    if len(parts) == 1:
        return _first(network, asked)
    each = [_first(network.at(points), asked) for points in parts]
    return each[0][0], _combined(network, parts, [result for _, result in each])


def _first(network: Network, asked: str) -> tuple[MethodRow, Result]:
    """The first method of the ranking that succeeds, and its answer."""
    for row in choose(network, asked):
        result = row.solve(network, unasked=asked == AUTO)
        if result is not None:
            return row, result
    raise impossible(network, row, asked)


def _points_by_form(network: Network) -> list[NDArray[np.intp]]:
    """Operating points without a product form, which come first, and those with one."""
    if network.kinds or not network.has_closed or network.population.shape[1] == 1:
        return [np.arange(1)]
    in_turn = np.any(unequal(network), axis=0)
    if in_turn.all() or not in_turn.any() or ranked(network).any():
        return [np.arange(1)]
    return [np.flatnonzero(in_turn), np.flatnonzero(~in_turn)]


def _combined(network: Network, parts: list[NDArray[np.intp]], each: list[Result]) -> Result:
    """Join the answers for some points; labels are those of the first."""
    back = np.argsort(np.concatenate(parts))

    def joined(name: str) -> Any:
        rows = np.concatenate([np.asarray(getattr(one, name)) for one in each], axis=-1)[..., back]
        return plain(rows.reshape((*rows.shape[:-1], *network.shape)))

    values = {name: joined(name) for name in (*BY_CLASS, *BY_STATION, "saturated", "offered")}
    firsts = [points[one.saturated] for points, one in zip(parts, each, strict=True)]
    first = min(range(len(each)), key=lambda k: min(firsts[k], default=np.inf))
    return replace(each[0], **values, overload=each[first].overload)
