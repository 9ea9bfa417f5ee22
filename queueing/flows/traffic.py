"""Traffic equations: how often a job visits each station.

V_j = e_j + sum over i of V_i p_ij, with e_j the share of jobs that enter at j and p_ij the
probability of going from i to j; the remaining probability is that of leaving. The matrix 1 - P^T
is an M-matrix if every job can leave, so elimination needs no pivoting, and the same elimination
serves floats, arrays and symbols.

Source: Kleinrock, *Queueing Systems* I, 1975, section 4.8 (Jackson's networks).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, Quantity, ends_of, is_symbolic
from headway.numerals import digits

Name = TypeVar("Name", bound=Hashable)
Routes = Mapping[tuple[Name, Name], Quantity]

SUM_TOLERANCE = 1e-9
"""Sums of probabilities may miss 1 by this much, like three times 0.3333333333."""

_DENSE_LIMIT = 100  # stations up to which elimination fills a dense matrix: for speed

FEW = 20
"""Stations up to which elimination by name is as fast as a matrix; for speed only."""

SPARSE = 4
"""Routes per station up to which elimination by name stays sparse; for speed only."""


def reached(edges: NDArray[np.bool_], start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """States that can be reached along edges (rows from), including the start.

    Examples
    --------
    >>> way = np.array([[False, True, False], [False, False, False], [True, False, False]])
    >>> reached(way, np.array([True, False, False])).tolist()
    [True, True, False]
    """
    visited, new = start.copy(), start
    while new.any():
        new = edges[new].any(axis=0) & ~visited
        visited |= new
    return visited


def visit_ratios(
    stations: Sequence[Name], entries: Mapping[Name, Quantity], routes: Routes[Name] | FloatArray
) -> dict[Name, Amount]:
    """Solve the traffic equations for the mean visits of a job to each station.

    Parameters
    ----------
    stations
        The stations' names.
    entries
        Share of jobs that enters at a station; the shares sum to 1.
    routes
        Probability of each route (from, to): float, array or SymPy expression; or all of them as
        a matrix of floats, rows from and columns to in the order of `stations`.

    Raises
    ------
    GraphError
        For a probability outside 0 to 1, probabilities out of a station that sum to more than 1, or
        stations that no job can leave.

    Examples
    --------
    >>> visit_ratios(["cpu"], {"cpu": 1.0}, {("cpu", "cpu"): 0.6})
    {'cpu': 2.5}
    >>> visit_ratios(["cpu", "disk"], {"cpu": 1.0}, routes=np.array([[0.0, 0.5], [1.0, 0.0]]))
    {'cpu': 2.0, 'disk': 1.0}
    """
    if isinstance(routes, np.ndarray):
        return _of_matrix(stations, entries, np.asarray(routes, float))
    matrix = _as_matrix(stations, routes)
    if matrix is not None:
        return _of_matrix(stations, entries, matrix)
    check_routes(stations, routes)
    return solve_traffic(stations, entries, routes)


def solve_traffic(
    stations: Sequence[Name], entries: Mapping[Name, Quantity], routes: Routes[Name]
) -> dict[Name, Amount]:
    """Solve equations V_j = e_j + sum of V_i w_ij with any weights of 0 or more, unchecked.

    Parameters
    ----------
    stations, entries
        The stations' names, and e by name; missing ones are 0.
    routes
        Weight of each route (from, to).

    Examples
    --------
    >>> solve_traffic(["a", "b"], {"a": 3.0}, {("a", "b"): 2.0})
    {'a': 3.0, 'b': 6.0}
    """
    single = len(stations) > _DENSE_LIMIT and all(np.ndim(p) == 0 for p in routes.values())  # type: ignore[arg-type]
    if single and not _go_forward(stations, routes):
        return _solve_sparse(stations, entries, routes)
    return _Elimination(stations, entries, routes).solve()


def check_routes(stations: Sequence[Name], routes: Routes[Name]) -> None:
    """Refuse probabilities with which some jobs would never leave the network."""
    if _is_sound(stations, routes):
        return
    numeric = {edge: np.asarray(p, float) for edge, p in routes.items() if not is_symbolic(p)}
    for (source, target), probability in numeric.items():
        if not ((probability >= 0) & (probability <= 1 + SUM_TOLERANCE)).all():
            worst = np.extract(~((probability >= 0) & (probability <= 1)), probability)[0]
            msg = f"route {source} -> {target}: probability {digits(worst)} is not between 0 and 1"
            raise GraphError(msg)
    leaving = _leaving(stations, numeric)
    for station, rest in leaving.items():
        if np.min(rest) < -SUM_TOLERANCE:
            msg = (
                f"routes out of {station} sum to {digits(1 - np.min(rest))}; they must "
                "sum to at most 1"
            )
            raise GraphError(msg)
    if len(numeric) == len(routes):
        _check_exits(stations, numeric, leaving)


def _is_sound(stations: Sequence[Name], routes: Routes[Name]) -> bool:
    """Whether numbers are sound routing probabilities, by the smallest and largest of each.

    False also if that cannot decide.
    """
    rest = dict.fromkeys(stations, 1.0)
    into: dict[Name, list[Name]] = {}
    for (source, target), chance in routes.items():
        ends = ends_of(chance)
        if ends is None or not (ends[0] >= 0 and ends[1] <= 1):
            return False
        rest[source] -= ends[1]
        if ends[0] > 0:
            into.setdefault(target, []).append(source)
    todo = [station for station, leaving in rest.items() if leaving > SUM_TOLERANCE]
    out = set(todo)
    while todo:
        new = [source for source in into.get(todo.pop(), ()) if source not in out]
        out.update(new)
        todo += new
    return len(out) == len(rest) and min(rest.values(), default=1.0) >= -SUM_TOLERANCE


def _as_matrix(stations: Sequence[Name], routes: Routes[Name]) -> FloatArray | None:
    """Routes as a matrix, if they are numbers that elimination would fill it with; else None."""
    chances = routes.values()
    if len(routes) <= SPARSE * len(stations) or any(np.ndim(p) for p in chances):  # type: ignore[arg-type]
        return None
    if len(stations) <= FEW or is_symbolic(*chances):
        return None
    place = {station: k for k, station in enumerate(stations)}
    matrix = np.zeros((len(stations), len(stations)))
    ends = np.array([(place[source], place[target]) for source, target in routes])
    matrix[ends[:, 0], ends[:, 1]] = np.array(list(chances), float)
    return matrix


def _of_matrix(
    stations: Sequence[Name], entries: Mapping[Name, Quantity], matrix: FloatArray
) -> dict[Name, Amount]:
    """Mean visits by linear algebra, as a sum over the stations where jobs enter."""
    check_matrix(stations, matrix)
    places = [k for k, station in enumerate(stations) if station in entries]
    shares = [entries[stations[k]] for k in places]
    system = 0.0 - matrix.T  # I - P^T
    system.flat[:: len(stations) + 1] += 1.0
    entering = np.zeros((len(stations), len(places)))
    entering[places, np.arange(len(places))] = 1.0
    each = np.linalg.solve(system, entering)
    if is_symbolic(*shares) or any(np.ndim(share) for share in shares):  # type: ignore[arg-type]
        rows = [sum(e * v for e, v in zip(shares, row, strict=True)) for row in each.tolist()]
        return dict(zip(stations, rows, strict=True))
    return dict(zip(stations, (each @ np.array(shares, float)).tolist(), strict=True))


def check_matrix(stations: Sequence[Name], matrix: FloatArray) -> None:
    """Refuse a matrix of probabilities with which some jobs would never leave the network.

    Raises
    ------
    GraphError
        As for `visit_ratios`, and for a matrix of another shape.
    """
    if matrix.shape != (len(stations), len(stations)):
        msg = f"routes has shape {matrix.shape} for {len(stations)} stations; give a row for each"
        raise GraphError(msg)
    rest = 1 - matrix.sum(axis=1)
    good = (matrix >= 0) & (matrix <= 1 + SUM_TOLERANCE)
    out = reached(matrix.T > 0, rest > SUM_TOLERANCE)  # stations from which a path leads out
    if not good.all() or rest.min(initial=1.0) < -SUM_TOLERANCE or not out.all():
        check_routes(stations, as_routes(stations, matrix))


def as_routes(stations: Sequence[Name], matrix: FloatArray) -> dict[tuple[Name, Name], float]:
    """The routes of a matrix, one by one."""
    used = zip(*np.nonzero(matrix), strict=True)
    return {(stations[i], stations[j]): float(matrix[i, j]) for i, j in used}


def _leaving(
    stations: Sequence[Name], numeric: Mapping[tuple[Name, Name], Amount]
) -> dict[Name, Amount]:
    leaving: dict[Name, Amount] = dict.fromkeys(stations, 1.0)
    for (source, _), probability in numeric.items():
        leaving[source] = leaving[source] - probability
    return leaving


def _check_exits(
    stations: Sequence[Name],
    routes: Mapping[tuple[Name, Name], Amount],
    leaving: Mapping[Name, Amount],
) -> None:
    """Refuse stations from which no path leads out at some operating point."""
    out = {station: np.asarray(leaving[station]) > SUM_TOLERANCE for station in stations}
    everywhere = {station for station, found in out.items() if found.all()}
    incoming: dict[Name, list[Name]] = {station: [] for station in stations}
    for source, target in routes:
        incoming[target].append(source)
    todo = list(stations)
    while todo:
        target = todo.pop()
        for source in incoming[target]:
            if source in everywhere:
                continue
            wider = out[source] | (out[target] & (routes[source, target] > 0))
            if np.any(wider != out[source]):
                out[source] = wider
                todo.append(source)
                if wider.all():
                    everywhere.add(source)
    stuck = [str(station) for station in stations if not out[station].all()]
    if stuck:
        msg = f"no job leaves the loop of {', '.join(stuck)}; lower a probability in it below 1"
        raise GraphError(msg)


def _go_forward(stations: Sequence[Name], routes: Routes[Name]) -> bool:
    """Whether no route is part of a loop, so that elimination adds none."""
    targets: dict[Name, list[Name]] = {station: [] for station in stations}
    for source, target in routes:
        targets[source].append(target)
    place = {station: k for k, station in enumerate(_flow_order(targets, {}))}
    return all(place[source] < place[target] for source, target in routes)


def _solve_sparse(
    stations: Sequence[Name], entries: Mapping[Name, Quantity], routes: Routes[Name]
) -> dict[Name, Amount]:
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import spsolve

    place = {station: index for index, station in enumerate(stations)}
    rows = [place[target] for _, target in routes]
    columns = [place[source] for source, _ in routes]
    weights = np.array(list(routes.values()), float)
    matrix = eye_array(len(stations)) - coo_array((weights, (rows, columns)), (len(stations),) * 2)
    shares = np.array([entries.get(station, 0.0) for station in stations], float)
    visits = spsolve(matrix.tocsc(), shares)
    return dict(zip(stations, visits.tolist(), strict=True))


class _Elimination:
    """Eliminate the stations one by one, then compute visits in reverse order."""

    def __init__(
        self, stations: Sequence[Name], entries: Mapping[Name, Quantity], routes: Routes[Name]
    ) -> None:
        self.entries: dict[Amount, Amount] = dict(entries)
        self.into: dict[Amount, dict[Amount, Amount]] = {station: {} for station in stations}
        self.out_of: dict[Amount, dict[Amount, Amount]] = {station: {} for station in stations}
        for (source, target), probability in routes.items():
            self._add(source, target, probability)

    def _add(self, source: Amount, target: Amount, probability: Amount) -> None:
        total = _added(self.out_of[source].get(target, 0), probability)
        self.out_of[source][target] = self.into[target][source] = total

    def solve(self) -> dict[Amount, Amount]:
        order = _flow_order(self.out_of, self.entries)
        equations = [(station, *self._remove(station)) for station in order]
        visits: dict[Amount, Amount] = {}
        for station, entry, sources in reversed(equations):
            coming = (visits[source] * p for source, p in sources.items())
            visits[station] = _added(entry, reduce(_added, coming, 0))
        return {station: visits[station] for station in self.out_of}

    def _remove(self, station: Amount) -> tuple[Amount, dict[Amount, Amount]]:
        """Eliminate a station; its entry and sources, per visit that does not return at once."""
        sources, targets = self.into.pop(station), dict(self.out_of[station])
        back = sources.pop(station, None)
        stay = targets.pop(station, None)
        entry = self.entries.get(station, 0)
        if back is not None:
            scale = 1 / (1 - stay)
            entry = entry * scale
            sources = {source: probability * scale for source, probability in sources.items()}
        for target, probability in targets.items():
            if target in self.into:
                self.entries[target] = _added(self.entries.get(target, 0), entry * probability)
                self.into[target].pop(station)
                for source, share in sources.items():
                    self._add(source, target, share * probability)
        for source in sources:
            self.out_of[source].pop(station)
        return entry, sources


def _added(first: Amount, second: Amount) -> Amount:
    """The sum of two amounts; a whole number 0 is skipped, so that arrays are not copied for it."""
    if type(first) is int and first == 0:
        return second
    return first if type(second) is int and second == 0 else first + second


def _flow_order(out_of: Mapping[Any, Iterable[Any]], entries: Mapping[Any, Amount]) -> list[Any]:
    """Order stations so that each comes after those that feed it, except in loops."""
    finished: list[Amount] = []
    visited: set[Amount] = set()
    for root in [*entries, *out_of]:
        stack = [(root, iter(out_of[root]))] if root not in visited else []
        visited.add(root)
        while stack:
            targets = stack[-1][1]
            following = next((target for target in targets if target not in visited), None)
            if following is None:
                finished.append(stack.pop()[0])
            else:
                visited.add(following)
                stack.append((following, iter(out_of[following])))
    return finished[::-1]
