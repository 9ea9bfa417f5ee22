"""Closed networks of few stations and many jobs, as an integral that a finite sum gives exactly.

With u_i for each station the normalising constant is a mean over independent u_i with the
gamma density of shape q_i, the copies of the station,

    G(N) = E product over r of (Z_r + sum over i of D_ir u_i)**N_r / N_r!,

of a polynomial whose degree is the number of jobs K: K // 2 + 1 nodes of Gaussian quadrature
for each station add it up exactly. Without think times u is its sum, whose moments are known,
times shares with a Dirichlet density: beta densities one after the other, a dimension fewer.
All terms are positive. Means of 1 / (Z_r + D_r u) and u_i / (Z_r + D_r u) with the same weights
give throughputs and numbers of jobs: polynomials, too.

Source: McKenna and Mitra, "Integral representations and asymptotic expansions for closed
Markovian queueing networks: normal usage", BSTJ 61(5), 1982, for the integral.
"""

from collections.abc import Iterator
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.recursion.crowds import Crowds
from headway.queueing.recursion.gauss import beta_rule, gamma_rule

_BLOCK = 20_000  # nodes looked at in one go


def as_cost(count: int) -> float:
    """A count as a cost: infinite beyond the range of floating-point numbers.

    Examples
    --------
    >>> as_cost(10**400)
    inf
    """
    try:
        return float(count)
    except OverflowError:
        return inf


def terms_needed(parts: int, jobs: int) -> float:
    """How many nodes the sum has.

    Parameters
    ----------
    parts
        Stations that differ, and one more where a class thinks.
    jobs
        Of all classes.

    Examples
    --------
    >>> terms_needed(3, 300)
    22801.0
    """
    return as_cost((jobs // 2 + 1) ** max(parts - 1, 0))


def quadrature_bytes(parts: int, jobs: int, classes: int) -> float:
    """Memory at most, at any number of operating points [B].

    Examples
    --------
    >>> quadrature_bytes(3, 1000, 4) < 5e6
    True
    """
    here = min(terms_needed(parts, jobs), _BLOCK)
    return 8.0 * (here * (3 * classes + 2 * parts + 4) + 16.0 * parts * (jobs // 2 + 1))


def quadrature_operations(parts: int, jobs: int, classes: int) -> float:
    """Terms that are added up for an operating point, and three more for what all share.

    Examples
    --------
    >>> quadrature_operations(3, 300, 4)
    159607.0
    """
    return terms_needed(parts, jobs) * (classes + 3)


def quadrature(crowds: Crowds) -> tuple[FloatArray, FloatArray]:
    """Throughputs and jobs at the stations.

    Parameters
    ----------
    crowds
        A network of any number of jobs.

    Returns
    -------
    Throughputs, shape (classes, points); jobs, shape (classes, stations, points).

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> rate, jobs = quadrature(Crowds(one[None], np.ones(1), one, np.array([2])))
    >>> round(float(rate[0, 0]), 12), round(float(jobs[0, 0, 0]), 12)
    (0.8, 1.2)
    """
    rate, queue = np.zeros(crowds.think_time.shape), np.zeros(crowds.demand.shape)
    for point in range(crowds.demand.shape[2]):
        demand, thinking = crowds.demand[..., point], crowds.think_time[:, point]
        rate[:, point], shares = _means(crowds, demand, thinking)
        queue[..., point] = demand * shares
    jobs = crowds.population[:, None]
    if not crowds.thinking:
        rate /= crowds.jobs - 1 + crowds.copies.sum()
    return rate * jobs, queue * jobs[..., None]


def _means(
    crowds: Crowds, demand: FloatArray, thinking: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means of 1 / (Z + D u), shape (classes,), and u / (Z + D u), shape (classes, stations).

    Terms are divided by the largest that was met, as the sum goes on.
    """
    total, largest = 0.0, -np.inf
    alone, weighted = np.zeros(len(thinking)), np.zeros(demand.shape)
    for weights, values in _nodes(crowds):
        round_trip = thinking[:, None] + demand @ values
        logs = weights + crowds.population @ np.log(round_trip)
        top = max(largest, float(logs.max()))
        terms, fade = np.exp(logs - top), np.exp(largest - top)
        each = terms / round_trip
        total = total * fade + terms.sum()
        alone = alone * fade + each.sum(axis=1)
        weighted = weighted * fade + each @ values.T
        largest = top
    return alone / total, weighted / total


def _nodes(crowds: Crowds) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Blocks of logarithms of weights, shape (nodes,), and of u, shape (stations, nodes)."""
    rules = _rules(crowds)
    sizes = [len(nodes) for nodes, _ in rules]
    for start in range(0, prod(sizes), _BLOCK):
        which = np.arange(start, min(start + _BLOCK, prod(sizes)))
        at = np.unravel_index(which, sizes) if sizes else ()
        weights = sum(
            (logs[i] for (_, logs), i in zip(rules, at, strict=True)), np.zeros(len(which))
        )
        picked = [nodes[i] for (nodes, _), i in zip(rules, at, strict=True)]
        own = np.reshape(picked, (len(picked), len(which)))
        yield weights, own if crowds.thinking else _broken(picked, which)


def _rules(crowds: Crowds) -> list[tuple[FloatArray, FloatArray]]:
    count = crowds.jobs // 2 + 1
    copies = crowds.copies.tolist()
    if crowds.thinking:
        return [gamma_rule(q, count) for q in copies]
    left = np.cumsum(copies[::-1])[::-1].tolist()
    return [beta_rule(q, more, count) for q, more in zip(copies, left[1:], strict=False)]


def _broken(pieces: list[FloatArray], which: NDArray[np.intp]) -> FloatArray:
    """Shares of a stick of which pieces are broken off; the last is what is left."""
    left, shares = np.ones(len(which)), []
    for piece in pieces:
        shares.append(left * piece)
        left = left * (1 - piece)
    return np.array([*shares, left])
