"""Cycles of jobs that change class: the visits of a cycle, and the class in which the next begins.

A job begins a cycle in a class, at a station where that class enters. The cycle ends when the job
leaves or, in a closed chain that nothing leaves, when it returns to a reference station. Let P be
the routing probabilities between pairs of class and station, without those back to a reference
station, and e_c the probabilities to begin in class c at each pair. Then

    where w_c are the visits of a cycle, and w_c times the probabilities to end it in each class
    gives the class of the next one. In a closed chain the shares of classes among cycles are the
    stationary distribution of that chain; in an open one they are those of the arrivals.

Source: Reiser and Kobayashi, "Queuing networks with multiple closed chains: theory and
computational algorithms", IBM J. Res. Dev. 19(3), 1975; Baskett, Chandy, Muntz and Palacios,
JACM 22(2), 1975 (classes that change).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.chains.routes import ClassRoutes, entry_states, laid_out
from headway.queueing.flows.traffic import SUM_TOLERANCE, reached
from headway.records import dataclass

_ROUNDING = 1e-12  # probabilities below it are rounding
_SUM = 1e-6  # deviation of the probabilities of ending a cycle from 1 that shows an endless cycle


@dataclass(frozen=True)
class Cycles:
    """Cycles of each class.

    Parameters
    ----------
    chains
        Indices of the classes of each chain.
    visits
        Mean visits of a cycle that begins in a class (rows) to each class at each station, shape
        (points, classes, classes, stations); NaN for a class whose cycles would never end.
    ends
        Probability that a cycle that begins in a class is followed by one in each class, shape
        (points, classes, classes).
    returns
        Classes whose cycles end at a reference station, as no job leaves.
    begun
        Classes in which jobs arrive, or are at the start.
    onward
        Routing probabilities within a cycle, from a class at a station to a class at a station,
        shape (points, classes, stations, classes, stations).
    last
        Probabilities of ending a cycle at a class and station, by the class of the next cycle,
        shape (points, classes, stations, classes).
    """

    chains: tuple[tuple[int, ...], ...]
    visits: FloatArray
    ends: FloatArray
    returns: frozenset[int]
    begun: frozenset[int]
    onward: FloatArray
    last: FloatArray


def cycles_of(routes: ClassRoutes, has_jobs: Sequence[bool]) -> Cycles:
    """Solve the traffic equations over classes and stations.

    Parameters
    ----------
    routes
        The routes of jobs.
    has_jobs
        For each class, whether jobs of it arrive, or circulate from the start.

    Raises
    ------
    GraphError
        For jobs that never leave or never come back, a closed chain with a reference station that
        jobs leave, an open class that changes into a closed one, a closed chain of several classes
        without a job, or cycles that end up in one of several classes for ever.

    Examples
    --------
    >>> onward = {(("a", "cpu"), ("b", "cpu")): 1.0}
    >>> cycles = cycles_of(ClassRoutes(("cpu",), ("a", "b"), onward), [True, False])
    >>> cycles.chains, cycles.visits[0, 0, :, 0].tolist()
    (((0, 1),), [1.0, 1.0])
    """
    matrix, entries = laid_out(routes), entry_states(routes)
    walk = _RoutingChain(routes, matrix, entries)
    chains = walk.chains()
    begun = _begun(walk, chains, has_jobs)
    returns = {c for chain in chains if walk.returns(chain, begun) for c in chain}
    kept, last = walk.cut(returns)
    visits, ends = _solved(walk, kept, last, begun)
    pair = len(routes.classes), len(routes.stations)
    return Cycles(
        chains,
        visits.reshape(len(visits), pair[0], *pair),
        ends,
        frozenset(returns),
        frozenset(np.flatnonzero(begun).tolist()),
        kept.reshape(len(kept), *pair, *pair),
        last.reshape(len(last), *pair, pair[0]),
    )


def _any_along(values: NDArray[np.bool_], axis: int | tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether any value is true along some axes."""
    return np.asarray(values.any(axis=axis))


class _RoutingChain:
    """Routing probabilities between pairs of class and station, and where classes begin."""

    def __init__(self, routes: ClassRoutes, matrix: FloatArray, entries: FloatArray) -> None:
        self.routes, self.matrix, self.entries = routes, matrix, entries
        self.leave = np.maximum(1 - matrix.sum(axis=2), 0.0)
        self.leave[self.leave <= SUM_TOLERANCE] = 0.0
        self.of = np.repeat(np.arange(len(routes.classes)), len(routes.stations))
        self.starts = _any_along(entries > 0, 0)
        self.edges = _any_along(matrix > 0, 0)

    def reach(self, classes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Pairs that jobs of some initial classes can reach."""
        return reached(self.edges, _any_along(self.starts[classes], 0))

    def chains(self) -> tuple[tuple[int, ...], ...]:
        """Chains of classes that change into one another; refuse open classes in closed chains."""
        from scipy.sparse.csgraph import connected_components

        here = self.reach(np.ones(len(self.starts), bool))
        source, target = np.nonzero(self.edges & here[:, None])
        count = len(self.starts)
        turns = np.zeros((count, count), bool)
        turns[self.of[source], self.of[target]] = True
        number, labels = connected_components(turns, directed=False)
        chains = tuple(tuple(np.flatnonzero(labels == n).tolist()) for n in range(number))
        names, closed = self.routes.classes, self.routes.is_closed
        for chain in chains:
            kinds = {bool(closed[c]): names[c] for c in reversed(chain)}
            if len(kinds) > 1:
                msg = (
                    f"class {kinds[False]} is open and class {kinds[True]} closed, and routes "
                    "change one into the other; give both an arrival_rate, or both a population"
                )
                raise GraphError(msg)
        return chains

    def cut(self, returns: set[int]) -> tuple[FloatArray, FloatArray]:
        """Routing probabilities within a cycle, and of ending it, by the class of the next one."""
        kept, count = self.matrix.copy(), len(self.starts)
        last = np.zeros((*self.leave.shape, count))
        last[:, np.arange(len(self.of)), self.of] = self.leave
        for c in returns:
            last[:, :, c] += kept[:, :, self.starts[c]].sum(axis=2)
            kept[:, :, self.starts[c]] = 0.0
        return kept, last

    def returns(self, chain: tuple[int, ...], begun: NDArray[np.bool_]) -> bool:
        """Whether cycles of a chain end at a reference station; refuse it if jobs also leave."""
        if not self.routes.is_closed[chain[0]]:
            return False
        members = np.isin(np.arange(len(self.starts)), chain)
        here = self.reach(members & begun)
        out = self.leave.max(axis=0) * here
        if not out.any():
            return True
        referred = [c for c in chain if self.routes.classes[c] in self.routes.references]
        back = self.edges[here][:, self.starts[referred].any(axis=0)].any() if referred else False
        if back:
            name, (c, k) = self.routes.classes[referred[0]], self.routes.states[int(out.argmax())]
            msg = (
                f"class {name}: a round ends where it comes back to its reference, but of class "
                f"{c} at {k} a share of {four_digits(out.max())} leaves; route it on, or "
                "delete reference"
            )
            raise GraphError(msg)
        return False


def _begun(
    walk: _RoutingChain, chains: tuple[tuple[int, ...], ...], has_jobs: Sequence[bool]
) -> NDArray[np.bool_]:
    """Classes in which jobs begin; all of an open chain without jobs. Refuse closed ones."""
    begun = np.array(has_jobs, bool)
    for chain in map(list, chains):
        if begun[chain].any():
            continue
        if len(chain) > 1 and walk.routes.is_closed[chain[0]]:
            names = ", ".join(walk.routes.classes[c] for c in chain)
            msg = f"the chain of classes {names} has no jobs; give one class a population"
            raise GraphError(msg)
        begun[chain] = True
    return begun


def _solved(
    walk: _RoutingChain, kept: FloatArray, last: FloatArray, begun: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Solve w_c = e_c + w_c P, shape (points, classes, states); and the ends of cycles."""
    ending = _any_along(last > 0, (0, 2))
    edges = _any_along(kept > 0, 0)
    trapped = ~reached(edges.T, ending)
    doomed = reached(edges.T, trapped)
    hopeless = _any_along(walk.starts & doomed, 1)
    if (hopeless & begun).any():
        raise _never_ending(walk, edges, trapped, int((hopeless & begun).argmax()))
    inside = np.eye(int((~doomed).sum())) - kept[:, ~doomed][:, :, ~doomed].swapaxes(1, 2)
    right = walk.entries[:, :, ~doomed].swapaxes(1, 2)
    points = max(len(inside), len(right))
    visits = np.zeros((points, *walk.starts.shape))
    try:
        visits[:, :, ~doomed] = np.linalg.solve(inside, right).swapaxes(1, 2)
    except np.linalg.LinAlgError:
        raise _never_ending(walk, edges, ~doomed, int(begun.argmax())) from None
    visits = np.maximum(visits, 0.0)
    ends = visits @ last
    if not np.all(np.abs(ends.sum(axis=2)[:, begun] - 1) < _SUM):
        raise _never_ending(walk, edges, ~doomed, int(begun.argmax()))
    visits[:, hopeless] = ends[:, hopeless] = np.nan
    return visits, np.where(ends > _ROUNDING, ends, np.where(np.isnan(ends), np.nan, 0.0))


def _never_ending(
    walk: _RoutingChain, edges: NDArray[np.bool_], trapped: NDArray[np.bool_], start: int
) -> GraphError:
    """The refusal that says where jobs of a class circulate for ever."""
    here = reached(edges, walk.starts[start]) & trapped
    names: dict[str, list[str]] = {}
    for c, k in (walk.routes.states[s] for s in np.flatnonzero(here)):
        names.setdefault(c, []).append(k)
    where = ", ".join(f"class {c} at {', '.join(ks)}" for c, ks in list(names.items())[:3])
    what = walk.routes.classes[start]
    if walk.routes.is_closed[start]:
        back = "never return to their reference"
        mend = "give them a route back, or another reference"
    else:
        back, mend = "never leave", "lower the probability of a route there below 1"
    return GraphError(f"jobs of class {what} {back}: they circulate for ever ({where}); {mend}")


def closed_shares(cycles: Cycles, chain: tuple[int, ...], names: Sequence[str]) -> FloatArray:
    """Shares of a closed chain's cycles that begin in each class, shape (points, classes of it).

    Raises
    ------
    GraphError
        If jobs end up in one of several classes for ever.
    """
    from scipy.sparse.csgraph import connected_components

    ends = np.nan_to_num(cycles.ends[:, chain][:, :, chain])
    turns = _any_along(ends > 0, 0)
    count, labels = connected_components(turns, connection="strong")
    groups = [np.flatnonzero(labels == n) for n in range(count)]
    possible = reached(turns, np.isin(chain, list(cycles.begun)))
    final = [g for g in groups if possible[g].all() and not np.delete(ends[:, g], g, axis=2).any()]
    if len(final) != 1:
        first, second = (names[chain[g[0]]] for g in final[:2])
        msg = (
            f"jobs of one chain stay class {first} or class {second} for ever, by chance; "
            "add a route back, or delete the one that changes the class"
        )
        raise GraphError(msg)
    (stay,) = final
    shares = np.zeros(ends.shape[:2])
    shares[:, stay] = _stationary(ends[:, stay][:, :, stay])
    return shares


def _stationary(chances: FloatArray) -> FloatArray:
    """Stationary distribution of a Markov chain from its probabilities, shape (points, states)."""
    size = chances.shape[1]
    system = np.eye(size) - chances.swapaxes(1, 2)
    system[:, 0] = 1.0
    right = np.zeros((len(chances), size, 1))
    right[:, 0] = 1.0
    shares: FloatArray = np.maximum(np.linalg.solve(system, right)[:, :, 0], 0.0)
    return shares
