"""Rounds of jobs that change class: visits of each round, and how the next one begins.

A job begins a round as a class, where that class comes in, and ends it by leaving or, in a closed
chain that nothing leaves, by its return to where its class begins. With P the chances between
pairs of class and station, those back to a beginning left out, and e_c where class c begins,

    w_c = e_c + w_c P,

are the visits of a round, and w_c times the chances to end in each class says as what the next
one begins. In a closed chain the shares of the rounds follow from that; in an open one they are
those of the arrivals.

Source: Reiser and Kobayashi, "Queuing networks with multiple closed chains: theory and
computational algorithms", IBM J. Res. Dev. 19(3), 1975; Baskett, Chandy, Muntz and Palacios,
JACM 22(2), 1975 (classes that change).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.chains.routes import ClassRoutes, entry_states, laid_out
from headway.queueing.flows.traffic import SUM_TOLERANCE, reached

_HARDLY = 1e-12  # a chance that is one of rounding


@dataclass(frozen=True)
class Rounds:
    """What jobs do between two beginnings.

    Parameters
    ----------
    chains
        Positions of the classes of each chain.
    visits
        Mean visits of a round begun as a class (rows) to each class at each station, shape
        (points, classes, classes, stations); NaN for a class whose rounds would never end.
    ends
        Chance of a round begun as a class to be followed by one of each, shape (points, classes,
        classes).
    returns
        Classes whose rounds end by coming back to where one begins, as nothing leaves.
    begun
        Classes that jobs come as, or are of from the start.
    onward
        Chances to go on within a round, from a class at a station to a class at a station, shape
        (points, classes, stations, classes, stations).
    last
        Chances to end a round there, as each class, shape (points, classes, stations, classes).
    """

    chains: tuple[tuple[int, ...], ...]
    visits: FloatArray
    ends: FloatArray
    returns: frozenset[int]
    begun: frozenset[int]
    onward: FloatArray
    last: FloatArray


def rounds_of(routes: ClassRoutes, has_jobs: Sequence[bool]) -> Rounds:
    """Solve the traffic equations over classes and stations.

    Parameters
    ----------
    routes
        Where jobs go.
    has_jobs
        Of which classes there are any from the start: those that come, or that circulate.

    Raises
    ------
    GraphError
        For jobs that never leave or never come back, a closed chain with a reference that jobs
        leave, classes of which one is open and turns into a closed one, a closed
        chain of several classes without a job, or rounds that end up as one class or another.

    Examples
    --------
    >>> onward = {(("a", "cpu"), ("b", "cpu")): 1.0}
    >>> rounds = rounds_of(ClassRoutes(("cpu",), ("a", "b"), onward), [True, False])
    >>> rounds.chains, rounds.visits[0, 0, :, 0].tolist()
    (((0, 1),), [1.0, 1.0])
    """
    matrix, entries = laid_out(routes), entry_states(routes)
    walk = _Walk(routes, matrix, entries)
    chains = walk.chains()
    begun = _begun(walk, chains, has_jobs)
    returns = {c for chain in chains if walk.returns(chain, begun) for c in chain}
    kept, last = walk.cut(returns)
    visits, ends = _solved(walk, kept, last, begun)
    pair = len(routes.classes), len(routes.stations)
    return Rounds(
        chains,
        visits.reshape(len(visits), pair[0], *pair),
        ends,
        frozenset(returns),
        frozenset(np.flatnonzero(begun).tolist()),
        kept.reshape(len(kept), *pair, *pair),
        last.reshape(len(last), *pair, pair[0]),
    )


def _some(values: NDArray[np.bool_], axis: int | tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether any is true along some axes."""
    return np.asarray(values.any(axis=axis))


class _Walk:
    """Chances between states and where classes begin, and which states are come to."""

    def __init__(self, routes: ClassRoutes, matrix: FloatArray, entries: FloatArray) -> None:
        self.routes, self.matrix, self.entries = routes, matrix, entries
        self.leave = np.maximum(1 - matrix.sum(axis=2), 0.0)
        self.leave[self.leave <= SUM_TOLERANCE] = 0.0
        self.of = np.repeat(np.arange(len(routes.classes)), len(routes.stations))
        self.starts = _some(entries > 0, 0)
        self.edges = _some(matrix > 0, 0)

    def reach(self, classes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """States that jobs of some initial classes can reach."""
        return reached(self.edges, _some(self.starts[classes], 0))

    def chains(self) -> tuple[tuple[int, ...], ...]:
        """Classes that turn into one another, together; refuses open ones among closed ones."""
        here = self.reach(np.ones(len(self.starts), bool))
        source, target = np.nonzero(self.edges & here[:, None])
        count = len(self.starts)
        turns = np.zeros((count, count), bool)
        turns[self.of[source], self.of[target]] = True
        number, labels = connected_components(turns, directed=False)
        chains = tuple(tuple(np.flatnonzero(labels == n).tolist()) for n in range(number))
        for chain in chains:
            self._check_alike(chain)
        return chains

    def _check_alike(self, chain: tuple[int, ...]) -> None:
        names, closed = self.routes.classes, self.routes.is_closed
        kinds = {bool(closed[c]): names[c] for c in reversed(chain)}
        if len(kinds) > 1:
            msg = (
                f"class {kinds[False]} is open and class {kinds[True]} closed, and routes "
                "change one into the other; give both an arrival_rate, or both a population"
            )
            raise GraphError(msg)

    def cut(self, returns: set[int]) -> tuple[FloatArray, FloatArray]:
        """Chances within a round, and those to end it in each state as each class."""
        kept, count = self.matrix.copy(), len(self.starts)
        last = np.zeros((*self.leave.shape, count))
        last[:, np.arange(len(self.of)), self.of] = self.leave
        for c in returns:
            last[:, :, c] += kept[:, :, self.starts[c]].sum(axis=2)
            kept[:, :, self.starts[c]] = 0.0
        return kept, last

    def returns(self, chain: tuple[int, ...], begun: NDArray[np.bool_]) -> bool:
        """Whether rounds of a chain end by coming back; refuses some that do both."""
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
    walk: _Walk, chains: tuple[tuple[int, ...], ...], has_jobs: Sequence[bool]
) -> NDArray[np.bool_]:
    """Classes that jobs begin as; all of a chain where nobody comes. Nobody may not circulate."""
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
    walk: _Walk, kept: FloatArray, last: FloatArray, begun: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Visits by state, shape (points, classes, states), and how rounds end."""
    ending = _some(last > 0, (0, 2))
    edges = _some(kept > 0, 0)
    trapped = ~reached(edges.T, ending)
    doomed = reached(edges.T, trapped)
    hopeless = _some(walk.starts & doomed, 1)
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
    if not np.all(np.abs(ends.sum(axis=2)[:, begun] - 1) < 1e-6):
        raise _never_ending(walk, edges, ~doomed, int(begun.argmax()))
    visits[:, hopeless] = ends[:, hopeless] = np.nan
    return visits, np.where(ends > _HARDLY, ends, np.where(np.isnan(ends), np.nan, 0.0))


def _never_ending(
    walk: _Walk, edges: NDArray[np.bool_], trapped: NDArray[np.bool_], start: int
) -> GraphError:
    """Say where jobs of a class go round for ever."""
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


def closed_shares(rounds: Rounds, chain: tuple[int, ...], names: Sequence[str]) -> FloatArray:
    """Shares of a closed chain's rounds that begin as each class, shape (points, classes of it).

    Raises
    ------
    GraphError
        Where jobs end up as one class or another, and for ever.
    """
    ends = np.nan_to_num(rounds.ends[:, chain][:, :, chain])
    turns = _some(ends > 0, 0)
    count, labels = connected_components(turns, connection="strong")
    groups = [np.flatnonzero(labels == n) for n in range(count)]
    possible = reached(turns, np.isin(chain, list(rounds.begun)))
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
    """Long-run shares of a walk by its chances, shape (points, states)."""
    size = chances.shape[1]
    system = np.eye(size) - chances.swapaxes(1, 2)
    system[:, 0] = 1.0
    right = np.zeros((len(chances), size, 1))
    right[:, 0] = 1.0
    shares: FloatArray = np.maximum(np.linalg.solve(system, right)[:, :, 0], 0.0)
    return shares
