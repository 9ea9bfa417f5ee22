"""Routing probabilities, by name or as matrices.

By name they may be symbols, and sparse routes are fast. As matrices they are a single array
computation, over blocks of operating points if they differ between points.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from headway.kinds import Amount, FloatArray, is_symbolic
from headway.queueing.flows.traffic import (
    FEW,
    SPARSE,
    as_routes,
    check_matrix,
    check_routes,
    solve_traffic,
)
from headway.records import dataclass

# number of stations from which sparse elimination is faster if there are few routes: speed only
_MANY = 500
_BLOCK = 2**21  # numbers in the matrices of a block of points, for memory

Numbers: TypeAlias = Mapping[str, Amount]
"""A number, array or symbol by station."""


@dataclass(frozen=True)
class ByName:
    """Routing probabilities by route.

    Routing probabilities by name.
    ----------
    stations
        Names of all stations.
    routes
        Probability of each route (from, to).
    """

    stations: Sequence[str]
    routes: Mapping[tuple[str, str], Amount]

    def check(self) -> None:
        """Refuse probabilities with which some jobs would never leave the network."""
        check_routes(self.stations, self.routes)

    def share(self, station: str) -> Amount:
        """Probability that a job goes straight back to a station."""
        return self.routes.get((station, station), 0.0)

    def without_returns(self, own: Collection[str]) -> "ByName":
        """The routing probabilities given that jobs do not go straight back to these stations."""
        routes = {
            (source, target): p / (1 - self.share(source)) if source in own else p
            for (source, target), p in self.routes.items()
            if source != target or source not in own
        }
        return replace(self, routes=routes)

    def leaving(self) -> dict[str, Amount]:
        """Probability of leaving the network, by station."""
        leave: dict[str, Amount] = dict.fromkeys(self.stations, 1.0)
        for (source, _), p in self.routes.items():
            leave[source] = leave[source] - p
        return leave

    def arrivals(self, entries: Numbers, admitted: Numbers) -> dict[str, Amount]:
        """Mean arrivals of a job at each station, if stations admit these shares of arrivals."""
        kept = {
            (s, t): p * admitted[s] if s in admitted else p for (s, t), p in self.routes.items()
        }
        return solve_traffic(self.stations, entries, kept)

    def after(self, leave: Numbers, admitted: Numbers) -> dict[str, Amount]:
        """Probability of being answered after each station, by the reversed equations."""
        back = {(t, s): p * admitted.get(t, 1.0) for (s, t), p in self.routes.items()}
        return solve_traffic(self.stations, leave, back)


@dataclass(frozen=True)
class ByNumber:
    """Routing probabilities as a matrix, with those that differ between points listed apart.

    Parameters
    ----------
    stations
        Names of all stations.
    fixed
        Probability of each route, rows from; 0 for those in `changing`.
    changing
        Number or array over operating points, by (row, column).
    scale
        Factor of the probabilities of each row.
    """

    stations: Sequence[str]
    fixed: FloatArray
    changing: Mapping[tuple[int, int], Amount]
    scale: Mapping[int, Amount] = field(default_factory=dict)

    @cached_property
    def place(self) -> dict[str, int]:
        """Row of each station."""
        return {name: k for k, name in enumerate(self.stations)}

    def check(self) -> None:
        """Refuse probabilities with which some jobs would never leave the network."""
        shape = np.broadcast_shapes(*map(np.shape, self.changing.values()))
        for _, matrices in self._blocks(shape, {}):
            for matrix in matrices:
                check_matrix(self.stations, matrix)

    def share(self, station: str) -> Amount:
        """Probability that a job goes straight back to a station."""
        k = self.place[station]
        return self.changing.get((k, k), float(self.fixed[k, k]))

    def without_returns(self, own: Collection[str]) -> "ByNumber":
        """The routing probabilities given that jobs do not go straight back to these stations."""
        if not own:
            return self
        rows = [self.place[name] for name in own]
        fixed = self.fixed.copy()
        fixed[rows, rows] = 0.0
        scale = {self.place[name]: 1 / (1 - self.share(name)) for name in own}
        kept = {(i, j): p for (i, j), p in self.changing.items() if i != j or i not in rows}
        return replace(self, fixed=fixed, changing=kept, scale=scale)

    def leaving(self) -> dict[str, Amount]:
        """Probability of leaving the network, by station."""
        sums: list[Amount] = self.fixed.sum(axis=1).tolist()
        for (i, _), p in self.changing.items():
            sums[i] = sums[i] + p
        return {name: 1 - sums[k] * self.scale.get(k, 1.0) for k, name in enumerate(self.stations)}

    def arrivals(self, entries: Numbers, admitted: Numbers) -> dict[str, Amount]:
        """Mean arrivals of a job at each station, if stations admit these shares of arrivals."""
        if is_symbolic(*admitted.values()):
            return self._named().arrivals(entries, admitted)
        if is_symbolic(*entries.values()):
            alone = {name: self.arrivals({name: 1.0}, admitted) for name in entries}
            return {n: sum(e * alone[k][n] for k, e in entries.items()) for n in self.stations}
        return self._solved(entries, admitted, forward=True)

    def after(self, leave: Numbers, admitted: Numbers) -> dict[str, Amount]:
        """Probability of being answered after each station, by the reversed equations."""
        if is_symbolic(*admitted.values()):
            return self._named().after(leave, admitted)
        return self._solved(leave, admitted, forward=False)

    def _named(self) -> ByName:
        matrix = self.fixed.copy()
        for k, factor in self.scale.items():
            matrix[k] *= factor
        routes: dict[tuple[str, str], Amount] = dict(as_routes(self.stations, matrix))
        for (i, j), p in self.changing.items():
            routes[self.stations[i], self.stations[j]] = p * self.scale.get(i, 1.0)
        return ByName(self.stations, routes)

    def _solved(self, right: Numbers, admitted: Numbers, *, forward: bool) -> dict[str, Amount]:
        """Solve x = right + A x, with A = P transposed (forward) or P."""
        let_in = {self.place[name]: share for name, share in admitted.items()}
        spread = (right, let_in, self.changing, self.scale)
        shape = np.broadcast_shapes(*(np.shape(v) for part in spread for v in part.values()))
        right_side = np.zeros((len(self.stations), int(np.prod(shape))))
        for name, value in right.items():
            right_side[self.place[name]] = _at_points(value, shape)
        solution = np.empty_like(right_side)
        for points, matrices in self._blocks(shape, let_in, rows=forward):
            system = np.eye(len(self.stations)) - (matrices.swapaxes(1, 2) if forward else matrices)
            solution[:, points] = _solved_by_point(system, right_side[:, points])
        each = solution.reshape(-1, *shape) if shape else solution[:, 0].tolist()
        return dict(zip(self.stations, each, strict=True))

    def _blocks(
        self, shape: tuple[int, ...], let_in: Mapping[int, Amount], *, rows: bool = True
    ) -> Iterator[tuple[slice, FloatArray]]:
        """P for blocks of operating points; a single matrix if all points have the same."""
        size = int(np.prod(shape))
        spread = (let_in, self.changing, self.scale)
        same = not any(np.ndim(v) for part in spread for v in part.values())
        step = size if same else max(1, _BLOCK // len(self.stations) ** 2)
        for start in range(0, size, step):
            points = slice(start, min(start + step, size))
            matrices = np.repeat(self.fixed[None], 1 if same else points.stop - start, axis=0)
            for (i, j), p in self.changing.items():
                matrices[:, i, j] = _at_points(p, shape, points)
            for i, factor in self.scale.items():
                matrices[:, i] *= np.reshape(_at_points(factor, shape, points), (-1, 1))
            for k, share in let_in.items():
                scaled = matrices[:, k] if rows else matrices[:, :, k]
                scaled *= np.reshape(_at_points(share, shape, points), (-1, 1))
            yield points, matrices


Chances: TypeAlias = ByName | ByNumber


def suits_a_matrix(stations: int, routes: int) -> bool:
    """Whether routing probabilities are faster as a matrix."""
    return FEW < stations <= _MANY or (stations > _MANY and routes > stations**2 / 10)


def is_sparse(stations: int, routes: int) -> bool:
    """Whether, for many points, elimination by name is faster than a matrix for each."""
    return routes <= SPARSE * stations


def _at_points(value: Amount, shape: tuple[int, ...], points: slice = slice(None)) -> Amount:
    """Values at some of the operating points, in flat order; a number is the same at all."""
    return np.broadcast_to(value, shape).ravel()[points] if np.ndim(value) else value


def _solved_by_point(systems: FloatArray, right_sides: FloatArray) -> FloatArray:
    """Solve one system for each point, or one for all, for columns of right-hand sides."""
    if len(systems) == 1:
        return np.asarray(np.linalg.solve(systems[0], right_sides), float)
    return np.asarray(np.linalg.solve(systems, right_sides.T[..., None])[..., 0].T, float)
