"""Networks with blocking by their whole Markov chain: exact.

One unlimited queue makes a quasi-birth-death chain, whose levels are its lengths.

Source: Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, chapters 1 and 3.
"""

from dataclasses import replace
from functools import lru_cache
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve
from scipy.optimize import brentq
from scipy.sparse import csr_array, diags_array

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.kinds import FloatArray
from headway.queueing.blocking.moves import OUT, Rates, State, StateStructure, rates_of
from headway.queueing.blocking.states import StateSpace, check_size, estimate, space_of, targets_of
from headway.queueing.markov.space import shares_of_time
from headway.queueing.network.blocking import BlockingNetwork
from headway.records import dataclass

_APART = "its rates are too far apart for its Markov chain; remove the fastest stations"
# Cyclic reduction converges quadratically: 16 steps reach rounding at 99.9% of saturation. Both
# numbers only affect digits.
_MOST_STEPS = 60
_SETTLED = 1e-16  # of the smallest total rate: smaller rates of moving up 2**k levels count as none
# times the arrival rate: a queue that is still stable at this rate never saturates
_UNSATURATED = 1e12


@dataclass(frozen=True)
class Stationary:
    """Stationary probabilities of a network's states.

    Parameters
    ----------
    space
        The states; of a network with an unlimited queue, those up to some length.
    chance
        Probability of each, shape (states,); longer queues are included in the longest listed.
    beyond
        Mean number of jobs in the unlimited queue beyond the longest length listed.
    level
        The unlimited queue, of a station or a region by its number; None if there is none.
    ratio, last
        R, shape (phases, phases), and the states of the longest level listed; None without that
        queue.
    """

    space: StateSpace
    chance: FloatArray
    beyond: float = 0.0
    level: "Unlimited | None" = None
    ratio: FloatArray | None = None
    last: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Unlimited:
    """The only unlimited queue of an open network: at a station, or outside a region."""

    station: int | None
    window: int | None
    steady: int

    def length(self, state: State) -> int:
        """Its length in a state."""
        if self.station is not None:
            return state[0][self.station]
        return len(state[2][self.window or 0])

    def rest(self, state: State) -> State:
        """The state without this queue."""
        count, blocked, outside = state
        if self.station is not None:
            shorter = tuple(0 if k == self.station else n for k, n in enumerate(count))
            return shorter, blocked, outside
        return count, blocked, tuple(() if k == self.window else q for k, q in enumerate(outside))


def unlimited_of(shape: StateStructure) -> Unlimited | None:
    """The unlimited queue of an open network; None if there is none.

    Raises
    ------
    GraphError
        If there are several, or one that levels cannot describe.
    """
    if shape.population:
        return None
    stations = [
        k for k, (_, places, _) in enumerate(shape.rooms)
        if places == inf and shape.window_of(k) is None
    ]  # fmt: skip
    unlimited = [Unlimited(k, None, int(shape.rooms[k][0])) for k in stations
             if isfinite(shape.rooms[k][0])]  # fmt: skip
    single = [len(targets_of(shape, k)) <= 1 for k in range(len(shape.windows))]
    unlimited += [Unlimited(None, k, 1) for k in range(len(shape.windows))]
    if len(unlimited) > 1 or len(unlimited) < len(stations) + len(shape.windows) or not all(single):
        raise GraphError("its Markov chain has several unlimited queues")
    return unlimited[0] if unlimited else None


def solvable(network: BlockingNetwork, most: float) -> bool:
    """Whether the chain can be solved, with at most this many states."""
    try:
        return estimate(_listed(rates_of(network).shape)) <= most
    except GraphError:
        return False


def check_chain(network: BlockingNetwork) -> None:
    """Refuse a network whose chain is too large, or has several unlimited queues."""
    check_size(_listed(rates_of(network).shape))


def _listed(shape: StateStructure) -> StateStructure:
    """The shape with its unlimited queue cut one level above the first regular one."""
    level = unlimited_of(shape)
    return shape if level is None else replace(shape, cap=level.steady + 1)


def stationary(rates: Rates) -> Stationary:
    """Solve the balance equations.

    Parameters
    ----------
    rates
        The rates from `rates_of`.

    Raises
    ------
    GraphError
        For a chain that is too large, or that deadlocks.
    Saturated
        For an open network in overload.
    """
    level, shape = unlimited_of(rates.shape), _listed(rates.shape)
    space = space_of(shape)
    speed = np.array([rates.rate[move] for move in shape.moves])
    flows = space.generator(speed).tocsr()
    if level is None:
        return Stationary(space, balanced(flows))
    blocks = blocks_of(levels_of(shape, level), flows)
    if drift(blocks) >= 0:
        raise Saturated("more jobs arrive than the network can pass; reduce the arrival rate")
    with np.errstate(all="ignore"):
        try:
            solution = _matrix_geometric(space, flows, level, blocks)
        except np.linalg.LinAlgError:
            raise GraphError(_APART) from None
    if not np.isfinite(solution.chance).all():
        raise GraphError(_APART)
    return solution


def balanced(flows: csr_array) -> FloatArray:
    """Stationary probabilities, from the rates between states without the diagonal."""
    ways = flows.tocoo()
    try:
        with np.errstate(all="ignore"):
            shares = shares_of_time(ways.row, ways.col, ways.data, flows.shape[0])
    except (GraphError, InvalidParameter):  # some rates vanish in rounding beside others
        raise GraphError(_APART) from None
    if not np.isfinite(shares).all():
        raise GraphError(_APART)
    return shares


@dataclass(frozen=True)
class Blocks:
    """Rates between the levels of an unlimited queue, which are the same from some level on.

    Parameters
    ----------
    up, same, down
        A0, A1 and A2, shape (phases, phases).
    levels
        The states of each level.
    """

    up: FloatArray
    same: FloatArray
    down: FloatArray
    levels: "Levels"


@dataclass(frozen=True)
class Levels:
    """Indices of the states by the length of the unlimited queue.

    Parameters
    ----------
    low
        Levels up to the first regular one.
    last, top
        The first regular level, and the one above it, with states in the same order.
    """

    low: NDArray[np.intp]
    last: NDArray[np.intp]
    top: NDArray[np.intp]


@lru_cache(maxsize=64)
def levels_of(shape: StateStructure, level: Unlimited) -> Levels:
    """Sort the states by level: by the length of the unlimited queue."""
    space = space_of(shape)
    lengths = np.array([level.length(state) for state in space.states])

    def phases(length: int) -> NDArray[np.intp]:
        """States of a level, in the same order at every level from `steady` on."""
        rows = np.flatnonzero(lengths == length)
        return np.array(sorted(rows, key=lambda k: level.rest(space.states[k])), dtype=np.intp)

    low = np.flatnonzero(lengths <= level.steady)
    return Levels(low, phases(level.steady), phases(level.steady + 1))


def blocks_of(levels: Levels, flows: csr_array) -> Blocks:
    """The rates between the two longest levels listed."""
    last, top = levels.last, levels.top
    up, down = flows[last][:, top].toarray(), flows[top][:, last].toarray()
    within = flows[top][:, top].toarray()
    outflow = within.sum(axis=1) + up.sum(axis=1) + down.sum(axis=1)
    return Blocks(up, within - np.diag(outflow), down, levels)


def drift(blocks: Blocks) -> float:
    """Mean drift of the unlimited queue while it is long [jobs/s]; negative if it is stable.

    pi (A0 - A2) 1, with pi the stationary distribution of A0 + A1 + A2 (Neuts).
    """
    phases = csr_array(blocks.up + blocks.same + blocks.down)
    phases.setdiag(0)
    shares = balanced(phases)
    return float(shares @ (blocks.up.sum(axis=1) - blocks.down.sum(axis=1)))


def _matrix_geometric(
    space: StateSpace, flows: csr_array, level: Unlimited, blocks: Blocks
) -> Stationary:
    """Solve a quasi-birth-death chain: pi_(k+1) = pi_k R from the first regular level on (Neuts).

    The levels up to that one are solved with A1 + R A2 in place of A1. All levels above it sum to
    pi_last R (I - R)**-1, and their numbers of further jobs to pi_last R (I - R)**-2.
    """
    ratio = _rate_matrix(blocks)
    low = blocks.levels.low
    last = np.searchsorted(low, blocks.levels.last)
    outflow = np.asarray(flows.sum(axis=1)).ravel()[low]
    balance = (flows[low][:, low].T - diags_array(outflow)).toarray()
    balance[np.ix_(last, last)] += (ratio @ csr_array(blocks.down)).T
    rest = np.linalg.solve(balance[1:, 1:], -balance[1:, 0])
    shares = np.concatenate([[1.0], rest])
    above = lu_factor((np.eye(last.size) - ratio).T)
    tail = lu_solve(above, shares[last])
    longer = float(lu_solve(above, tail @ ratio).sum())
    shares[last] = tail
    total = shares.sum()
    chance = np.zeros(len(space.states))
    chance[low] = np.maximum(shares / total, 0.0)
    return Stationary(space, chance, longer / float(total), level, ratio, low[last])


def _rate_matrix(blocks: Blocks) -> FloatArray:
    """R = A0 (-U)**-1, with U by cyclic reduction (Bini and Meini, SIAM J. Matrix Anal. 17, 1996).

    U has the rates of first returns to a level from above; each step halves the levels.
    """
    up, down, within = blocks.up, blocks.down, -blocks.same
    under, size = within.copy(), within.shape[0]
    least = _SETTLED * np.diagonal(within).min()
    for _ in range(_MOST_STEPS):
        both = np.linalg.solve(within, np.hstack([up, down]))
        higher, lower = both[:, :size], both[:, size:]
        through = up @ lower
        under -= through
        within = within - through - down @ higher
        up, down = up @ higher, down @ lower
        if up.max() <= least:
            break
    return np.asarray(np.linalg.solve(under.T, csr_array(blocks.up).T.toarray()).T, float)


def saturation(network: BlockingNetwork) -> float:
    """Arrival rate at which an open network saturates [1/s]; infinite if it loses jobs.

    Raises
    ------
    GraphError
        For a chain that is too large.
    """
    rates = rates_of(network)
    level, shape = unlimited_of(rates.shape), _listed(rates.shape)
    if level is None:
        return inf
    space, levels = space_of(shape), levels_of(shape, level)

    def growth(scale: float) -> float:
        speed = [r * (scale if m.source == OUT else 1.0) for m, r in rates.rate.items()]
        flows = space.generator(np.array(speed)).tocsr()
        return drift(blocks_of(levels, flows))

    high = 1.0
    while growth(high) < 0:
        high *= 2
        if high > _UNSATURATED:
            return inf
    return network.arrival_rate * float(brentq(growth, 0.0, high, xtol=1e-15, rtol=1e-14))
