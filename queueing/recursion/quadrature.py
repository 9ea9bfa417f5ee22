"""Closed networks of few stations and many jobs, by an integral that a finite sum gives exactly.

With a variable u_i for each station, the normalising constant is a mean over independent u_i with
the gamma density of shape q_i, the copies of the station,

    G(N) = E product over r of (Z_r + sum over i of D_ir u_i)**N_r / N_r!,

of a polynomial whose degree is the number of jobs K: K // 2 + 1 nodes of Gaussian quadrature for
each station integrate it exactly. Without think times u is its sum, whose moments are known, times
shares with a Dirichlet density: a product of beta densities, of one dimension fewer. All terms are
positive. Means of 1 / (Z_r + D_r u) and u_i / (Z_r + D_r u) with the same weights give throughputs
and numbers of jobs, and are integrals of polynomials too.

Source: McKenna and Mitra, "Integral representations and asymptotic expansions for closed
Markovian queueing networks: normal usage", BSTJ 61(5), 1982, for the integral.
"""

from collections.abc import Iterator
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.recursion.closed_classes import ClosedClasses
from headway.queueing.recursion.gauss import beta_rule, gamma_rule

_BLOCK = 20_000  # nodes at a time, for memory and speed


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
    """Number of nodes of the sum.

    Parameters
    ----------
    parts
        Number of different stations, and one more if a class thinks.
    jobs
        Number of jobs of all classes.

    Examples
    --------
    >>> terms_needed(3, 300)
    22801.0
    """
    return as_cost((jobs // 2 + 1) ** max(parts - 1, 0))


def quadrature_bytes(parts: int, jobs: int, classes: int) -> float:
    """Largest memory for any number of operating points [B].

    Examples
    --------
    >>> quadrature_bytes(3, 1000, 4) < 5e6
    True
    """
    here = min(terms_needed(parts, jobs), _BLOCK)
    return 8.0 * (here * (3 * classes + 2 * parts + 4) + 16.0 * parts * (jobs // 2 + 1))


def quadrature_operations(parts: int, jobs: int, classes: int) -> float:
    """Terms added up for an operating point, plus three for each node shared by all points.

    Examples
    --------
    >>> quadrature_operations(3, 300, 4)
    159607.0
    """
    return terms_needed(parts, jobs) * (classes + 3)


def quadrature(network: ClosedClasses) -> tuple[FloatArray, FloatArray]:
    """Throughputs and jobs at the stations.

    Parameters
    ----------
    network
        A network of any number of jobs.

    Returns
    -------
    Throughputs, shape (classes, points); jobs, shape (classes, stations, points).

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> rate, jobs = quadrature(ClosedClasses(one[None], np.ones(1), one, np.array([2])))
    >>> round(float(rate[0, 0]), 12), round(float(jobs[0, 0, 0]), 12)
    (0.8, 1.2)
    """
    rate, queue = np.zeros(network.think_time.shape), np.zeros(network.demand.shape)
    for point in range(network.demand.shape[2]):
        demand, thinking = network.demand[..., point], network.think_time[:, point]
        rate[:, point], shares = _means(network, demand, thinking)
        queue[..., point] = demand * shares
    jobs = network.population[:, None]
    if not network.thinking:
        rate /= network.jobs - 1 + network.copies.sum()
    return rate * jobs, queue * jobs[..., None]


def _means(
    network: ClosedClasses, demand: FloatArray, thinking: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means of 1 / (Z + D u), shape (classes,), and u / (Z + D u), shape (classes, stations).

    Terms are scaled by the largest so far, against overflow.
    """
    total, largest = 0.0, -np.inf
    alone, weighted = np.zeros(len(thinking)), np.zeros(demand.shape)
    for weights, values in _nodes(network):
        round_trip = thinking[:, None] + demand @ values
        logs = weights + network.population @ np.log(round_trip)
        top = max(largest, float(logs.max()))
        terms, fade = np.exp(logs - top), np.exp(largest - top)
        each = terms / round_trip
        total = total * fade + terms.sum()
        alone = alone * fade + each.sum(axis=1)
        weighted = weighted * fade + each @ values.T
        largest = top
    return alone / total, weighted / total


def _nodes(network: ClosedClasses) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Blocks of logarithms of weights, shape (nodes,), and of u, shape (stations, nodes)."""
    count, copies = network.jobs // 2 + 1, network.copies.tolist()
    if network.thinking:
        rules = [gamma_rule(q, count) for q in copies]
    else:
        rest = np.cumsum(copies[::-1])[::-1].tolist()
        rules = [beta_rule(q, more, count) for q, more in zip(copies, rest[1:], strict=False)]
    sizes = [len(nodes) for nodes, _ in rules]
    for start in range(0, prod(sizes), _BLOCK):
        which = np.arange(start, min(start + _BLOCK, prod(sizes)))
        at = np.unravel_index(which, sizes) if sizes else ()
        weights = sum(
            (logs[i] for (_, logs), i in zip(rules, at, strict=True)), np.zeros(len(which))
        )
        picked = [nodes[i] for (nodes, _), i in zip(rules, at, strict=True)]
        own = np.reshape(picked, (len(picked), len(which)))
        yield weights, own if network.thinking else _dirichlet(picked, which)


def _dirichlet(pieces: list[FloatArray], which: NDArray[np.intp]) -> FloatArray:
    """Dirichlet shares from beta variables: u_i = b_i times the product of 1 - b_j, j < i."""
    left, shares = np.ones(len(which)), []
    for piece in pieces:
        shares.append(left * piece)
        left = left * (1 - piece)
    return np.array([*shares, left])
