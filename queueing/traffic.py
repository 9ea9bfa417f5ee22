"""Traffic equations: how often a job visits each station.

V_j = e_j + sum over i of V_i p_ij, with e the share of jobs that enter at j and p_ij the
chance of going from i to j; what is not routed on leaves. The matrix 1 - P^T is an M-matrix
wherever every job can leave, so elimination needs no pivots, and the same elimination
serves floats, arrays and symbols.

Source: Kleinrock, *Queueing Systems* I, 1975, section 4.8 (Jackson's networks).
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray, Quantity, is_symbolic

Node = TypeVar("Node", bound=Hashable)
Routes = Mapping[tuple[Node, Node], Quantity]

SUM_TOLERANCE = 1e-9
"""Probabilities such as three times 0.3333333333 may miss 1 by this much."""

_DENSE_LIMIT = 100

FEW = 20
"""Stations of which elimination by name is as quick as a matrix."""

SPARSE = 4
"""Routes a station that elimination by name does not fill up."""


def visit_ratios(
    nodes: Sequence[Node], entries: Mapping[Node, Quantity], routes: Routes[Node] | FloatArray
) -> dict[Node, Any]:
    """Solve the traffic equations for the mean visits of a job to each station.

    Parameters
    ----------
    nodes
        The stations' names.
    entries
        Share of jobs that enters at a station; the shares sum to 1.
    routes
        Probability of each route (from, to): float, array or SymPy expression; or all of them as
        a matrix of floats, rows from and columns to in the order of `nodes`.

    Raises
    ------
    GraphError
        For a probability outside 0 to 1, probabilities out of a station that sum to more
        than 1, or stations that nothing leaves.

    Examples
    --------
    >>> visit_ratios(["cpu"], {"cpu": 1.0}, {("cpu", "cpu"): 0.6})
    {'cpu': 2.5}
    >>> visit_ratios(["cpu", "disk"], {"cpu": 1.0}, routes=np.array([[0.0, 0.5], [1.0, 0.0]]))
    {'cpu': 2.0, 'disk': 1.0}
    """
    if isinstance(routes, np.ndarray):
        return _of_matrix(nodes, entries, np.asarray(routes, float))
    matrix = _as_matrix(nodes, routes)
    if matrix is not None:
        return _of_matrix(nodes, entries, matrix)
    check_routes(nodes, routes)
    return solve_traffic(nodes, entries, routes)


def solve_traffic(
    nodes: Sequence[Node], entries: Mapping[Node, Quantity], routes: Routes[Node]
) -> dict[Node, Any]:
    """Solve equations V_j = e_j + sum of V_i w_ij with any weights of 0 or more, unchecked.

    Parameters
    ----------
    nodes, entries
        The stations' names, and e by name; 0 where left out.
    routes
        Weight of each route (from, to).

    Examples
    --------
    >>> solve_traffic(["a", "b"], {"a": 3.0}, {("a", "b"): 2.0})
    {'a': 3.0, 'b': 6.0}
    """
    if len(nodes) > _DENSE_LIMIT and all(np.ndim(p) == 0 for p in routes.values()):  # type: ignore[arg-type]
        return _solve_sparse(nodes, entries, routes)
    return _Elimination(nodes, entries, routes).solve()


def check_routes(nodes: Sequence[Node], routes: Routes[Node]) -> None:
    """Refuse probabilities that do not make a network that every job leaves."""
    numeric = {edge: np.asarray(p, float) for edge, p in routes.items() if not is_symbolic(p)}
    for (source, target), probability in numeric.items():
        if not ((probability >= 0) & (probability <= 1 + SUM_TOLERANCE)).all():
            worst = np.extract(~((probability >= 0) & (probability <= 1)), probability)[0]
            msg = f"route {source} -> {target}: probability {worst:g} is not between 0 and 1"
            raise GraphError(msg)
    leaving = _leaving(nodes, numeric)
    for node, rest in leaving.items():
        if np.min(rest) < -SUM_TOLERANCE:
            msg = f"routes out of {node} sum to {1 - np.min(rest):g}; they may sum to 1 at most"
            raise GraphError(msg)
    if len(numeric) == len(routes):
        _check_exits(nodes, numeric, leaving)


def _as_matrix(nodes: Sequence[Node], routes: Routes[Node]) -> FloatArray | None:
    """Routes as a matrix, where they are numbers and so many that elimination would fill it."""
    chances = routes.values()
    if len(routes) <= SPARSE * len(nodes) or any(np.ndim(p) for p in chances):  # type: ignore[arg-type]
        return None
    if len(nodes) <= FEW or is_symbolic(*chances):
        return None
    place = {node: k for k, node in enumerate(nodes)}
    matrix = np.zeros((len(nodes), len(nodes)))
    ends = np.array([(place[source], place[target]) for source, target in routes])
    matrix[ends[:, 0], ends[:, 1]] = np.array(list(chances), float)
    return matrix


def _of_matrix(
    nodes: Sequence[Node], entries: Mapping[Node, Quantity], matrix: FloatArray
) -> dict[Node, Any]:
    """Visits by linear algebra: those of jobs that enter at each place, by how many do."""
    check_matrix(nodes, matrix)
    places = [k for k, node in enumerate(nodes) if node in entries]
    shares = [entries[nodes[k]] for k in places]
    each = np.linalg.solve(np.eye(len(nodes)) - matrix.T, np.eye(len(nodes))[:, places])
    if is_symbolic(*shares) or any(np.ndim(share) for share in shares):  # type: ignore[arg-type]
        rows = [sum(e * v for e, v in zip(shares, row, strict=True)) for row in each.tolist()]
        return dict(zip(nodes, rows, strict=True))
    return dict(zip(nodes, (each @ np.array(shares, float)).tolist(), strict=True))


def check_matrix(nodes: Sequence[Node], matrix: FloatArray) -> None:
    """Refuse a matrix of probabilities that does not make a network that every job leaves.

    Raises
    ------
    GraphError
        As `visit_ratios`, and for a matrix of another shape.
    """
    if matrix.shape != (len(nodes), len(nodes)):
        msg = f"routes has shape {matrix.shape} for {len(nodes)} stations; give a row for each"
        raise GraphError(msg)
    rest = 1 - matrix.sum(axis=1)
    good = (matrix >= 0) & (matrix <= 1 + SUM_TOLERANCE)
    if not good.all() or rest.min(initial=1.0) < -SUM_TOLERANCE or not _all_leave(matrix, rest):
        check_routes(nodes, as_routes(nodes, matrix))


def _all_leave(matrix: FloatArray, rest: FloatArray) -> bool:
    """Whether from every station some path leads out."""
    out = rest > SUM_TOLERANCE
    new = out
    while new.any() and not out.all():
        new = (matrix[:, new] > 0).any(axis=1) & ~out
        out = out | new
    return bool(out.all())


def as_routes(nodes: Sequence[Node], matrix: FloatArray) -> dict[tuple[Node, Node], float]:
    """Routes of a matrix one by one."""
    used = zip(*np.nonzero(matrix), strict=True)
    return {(nodes[i], nodes[j]): float(matrix[i, j]) for i, j in used}


def _leaving(nodes: Sequence[Node], numeric: Mapping[tuple[Node, Node], Any]) -> dict[Node, Any]:
    leaving: dict[Node, Any] = dict.fromkeys(nodes, 1.0)
    for (source, _), probability in numeric.items():
        leaving[source] = leaving[source] - probability
    return leaving


def _check_exits(
    nodes: Sequence[Node],
    routes: Mapping[tuple[Node, Node], Any],
    leaving: Mapping[Node, Any],
) -> None:
    """Refuse stations from which, at any operating point, no path leads out."""
    out = {node: np.asarray(leaving[node]) > SUM_TOLERANCE for node in nodes}
    incoming: dict[Node, list[Node]] = {node: [] for node in nodes}
    for source, target in routes:
        incoming[target].append(source)
    todo = list(nodes)
    while todo:
        target = todo.pop()
        for source in incoming[target]:
            wider = out[source] | (out[target] & (routes[source, target] > 0))
            if np.any(wider != out[source]):
                out[source] = wider
                todo.append(source)
    stuck = [str(node) for node in nodes if not out[node].all()]
    if stuck:
        msg = f"nothing leaves the loop of {', '.join(stuck)}; lower a probability in it below 1"
        raise GraphError(msg)


def _solve_sparse(
    nodes: Sequence[Node], entries: Mapping[Node, Quantity], routes: Routes[Node]
) -> dict[Node, Any]:
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import spsolve

    place = {node: index for index, node in enumerate(nodes)}
    rows = [place[target] for _, target in routes]
    columns = [place[source] for source, _ in routes]
    weights = np.array(list(routes.values()), float)
    matrix = eye_array(len(nodes)) - coo_array((weights, (rows, columns)), (len(nodes),) * 2)
    visits = spsolve(matrix.tocsc(), np.array([entries.get(node, 0.0) for node in nodes], float))
    return dict(zip(nodes, visits.tolist(), strict=True))


class _Elimination:
    """Remove the stations one by one, then read their visits off in reverse order."""

    def __init__(
        self, nodes: Sequence[Node], entries: Mapping[Node, Quantity], routes: Routes[Node]
    ) -> None:
        self.entries: dict[Any, Any] = dict(entries)
        self.into: dict[Any, dict[Any, Any]] = {node: {} for node in nodes}
        self.out_of: dict[Any, dict[Any, Any]] = {node: {} for node in nodes}
        for (source, target), probability in routes.items():
            self._add(source, target, probability)

    def _add(self, source: Any, target: Any, probability: Any) -> None:
        total = self.out_of[source].get(target, 0) + probability
        self.out_of[source][target] = self.into[target][source] = total

    def solve(self) -> dict[Any, Any]:
        order = _flow_order(self.out_of, self.entries)
        equations = [(node, *self._remove(node)) for node in order]
        visits: dict[Any, Any] = {}
        for node, entry, sources in reversed(equations):
            visits[node] = entry + sum(visits[source] * p for source, p in sources.items())
        return {node: visits[node] for node in self.out_of}

    def _remove(self, node: Any) -> tuple[Any, dict[Any, Any]]:
        """Take a station out; give its entry and sources per visit that does not return at once."""
        sources, targets = self.into.pop(node), dict(self.out_of[node])
        back = sources.pop(node, None)
        stay = targets.pop(node, None)
        scale = 1 if back is None else 1 / (1 - stay)
        entry = self.entries.get(node, 0) * scale
        sources = {source: probability * scale for source, probability in sources.items()}
        for target, probability in targets.items():
            if target in self.into:
                self.entries[target] = self.entries.get(target, 0) + entry * probability
                self.into[target].pop(node)
                for source, share in sources.items():
                    self._add(source, target, share * probability)
        for source in sources:
            self.out_of[source].pop(node)
        return entry, sources


def _flow_order(out_of: Mapping[Any, Mapping[Any, Any]], entries: Mapping[Any, Any]) -> list[Any]:
    """Order stations so that, loops apart, each comes after those that feed it."""
    finished: list[Any] = []
    seen: set[Any] = set()
    for root in [*entries, *out_of]:
        stack = [(root, iter(out_of[root]))] if root not in seen else []
        seen.add(root)
        while stack:
            targets = stack[-1][1]
            following = next((target for target in targets if target not in seen), None)
            if following is None:
                finished.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(out_of[following])))
    return finished[::-1]
