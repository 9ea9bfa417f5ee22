"""The number behind Erlang's formulas, 1/B(m, a), for any m and a, with NumPy only.

Up to `FEW` servers 1/B is a polynomial in 1/a, evaluated by Horner's rule in blocks that fit into
the cache. Beyond, it is Jagerman's integral

    1/B = a * integral over t = 0..inf of (1 + t)**m exp(-a t) dt,

whose integrand is smooth enough for one Gauss-Legendre rule. Every term of both is
positive, so nothing cancels.

Source: Jagerman, "Some properties of the Erlang loss function", BSTJ 53(3), 1974.
"""

from collections.abc import Callable
from functools import lru_cache
from math import factorial

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.erlang.poisson import deviance

FEW = 128  # servers up to which the polynomial is used: 1/128! is still a normal double
_BLOCK = 16384  # points at a time, whose arrays fit into the second-level cache: for speed
_ROWS = 256  # points of a quadrature block: for speed
_NODES = 56  # for a bell of +-9 standard deviations, to 1e-15: digits only
_REACH = 40.5  # exp(-40.5) < 1e-17: smaller values of the integrand are neglected, digits only

_Then = Callable[[Amount, Amount, Amount], Amount]


def _itself(servers: Amount, load: Amount, inverse: Amount) -> Amount:  # noqa: ARG001 - a `_Then`
    return inverse


def one_inverse(servers: int, load: float) -> float:
    """Evaluate 1/B at one point without arrays: y_k = 1 + (k/a) y_(k-1), all terms positive.

    Examples
    --------
    >>> one_inverse(2, 1.0)
    5.0
    """
    value = 1.0
    for k in range(1, servers + 1):
        value = 1 + value * k / load
    return value


def inverse_blocking(servers: Amount, load: Amount, then: _Then | None = None) -> FloatArray:
    """Evaluate 1/B(m, a), or a function of (m, a, 1/B) block by block with it.

    Parameters
    ----------
    servers, load
        Numbers or arrays that broadcast: m = 1, 2, 3... and a >= 0, m also 0. With `then`,
        loads beyond m count as m.
    then
        Elementwise function of (m, a, 1/B) whose result is returned instead of 1/B.

    Examples
    --------
    >>> float(inverse_blocking(2, 1.0))
    5.0
    """
    shape = np.broadcast_shapes(np.shape(servers), np.shape(load))
    flat = np.broadcast_to(np.asarray(load, float), shape).reshape(-1)
    if then is not None and np.ndim(servers):
        flat = np.minimum(flat, np.broadcast_to(servers, shape).reshape(-1))
    result = np.empty(flat.shape)
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        if np.ndim(servers) == 0:
            _same_servers(float(servers), flat, result, then)
        else:
            _any_servers(np.broadcast_to(servers, shape).reshape(-1), flat, result, then)
    return result.reshape(shape)


def _any_servers(servers: Amount, load: FloatArray, result: FloatArray, then: _Then | None) -> None:
    many = servers > FEW
    if many.any():
        counts = servers[many].astype(float)
        inverse = _by_quadrature(counts, load[many])
        result[many] = (then or _itself)(counts, load[many], inverse)
    few = np.flatnonzero(~many)
    for start in range(0, few.size, _BLOCK):
        some = few[start : start + _BLOCK]
        inverse = _by_polynomials(servers[some], load[some])
        result[some] = (then or _itself)(servers[some], load[some], inverse)


def _same_servers(servers: float, load: FloatArray, result: FloatArray, then: _Then | None) -> None:
    size = _BLOCK if servers <= FEW else _ROWS
    for start in range(0, load.size, size):
        block = load[start : start + size]
        if then is not None:
            block = np.minimum(block, servers)
        if servers <= FEW:
            inverse = np.empty(block.shape)
            _inverse_polynomial(int(servers), block, inverse)
        else:
            inverse = _by_quadrature(np.float64(servers), block)
        result[start : start + size] = (then or _itself)(servers, block, inverse)


@lru_cache(maxsize=FEW)
def _inverse_factorials(servers: int) -> list[float]:
    return [1 / factorial(k) for k in range(1, servers + 1)]


@compiled
def _inverse_polynomial(servers: int, load: FloatArray, value: FloatArray) -> None:
    """1/B = m! v with v = sum over k = 0..m of a**(k - m) / k!, by Horner's rule in 1/a."""
    inverse_load = 1 / load
    value[:] = 1.0
    for coefficient in _inverse_factorials(servers):
        value *= inverse_load
        value += coefficient
    value *= float(factorial(servers))


def _by_polynomials(servers: Amount, load: FloatArray) -> FloatArray:
    """1/B for several numbers of servers, most first: each term is added where it is needed.

    So there are as many steps as the largest number of servers has terms.
    """
    order = np.argsort(-servers, kind="stable")
    inverse_load, value = 1 / load[order], np.ones(load.shape)
    counts = servers[order].astype(int)
    most = int(counts[0])
    having = np.searchsorted(-counts, -np.arange(1, most + 1), side="right").tolist()
    for number, coefficient in zip(having, _inverse_factorials(most), strict=True):
        value[:number] *= inverse_load[:number]
        value[:number] += coefficient
    value *= _factorials()[counts]
    inverse = np.empty(load.shape)
    inverse[order] = value
    return inverse


@lru_cache(maxsize=1)
def _factorials() -> FloatArray:
    return np.array([float(factorial(k)) for k in range(FEW + 1)])


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on 0..1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


def _by_quadrature(servers: Amount, load: FloatArray) -> Amount:
    """Jagerman's integral about its integrand's peak, 1 + t = m/a where a < m, else t = 0.

    With z = (1 + t) a/m - 1 and d(z) = z - log(1 + z) it is
    m exp(m d(z0)) times the integral of exp(-m d(z)) from z0 = a/m - 1 on.
    """
    nodes, weights = _gauss_legendre()
    excess = np.maximum(load - servers, 0)
    start = np.minimum((load - servers) / servers, 0)
    low = np.maximum(start, -np.sqrt(2 * _REACH / servers))
    width = _upper_end(servers, excess) - low
    z = low[..., None] + width[..., None] * nodes
    m = np.asarray(servers)[..., None]
    integral = (np.exp(-excess[..., None] * z - m * deviance(z)) @ weights) * width
    peak = np.exp(servers * deviance(start, np.minimum(load / servers, 1)))
    return np.maximum(servers, load) * peak * integral


def _upper_end(servers: Amount, excess: FloatArray) -> Amount:
    """Point from which exp(-excess z - m d(z)) is below exp(-_REACH), as d(z) > z^2/(2 + 2z)."""
    spread = 2 * _REACH / servers
    bell = (spread + np.sqrt(spread**2 + 4 * spread)) / 2
    return np.minimum(bell, _REACH / np.maximum(excess, np.finfo(float).tiny))
