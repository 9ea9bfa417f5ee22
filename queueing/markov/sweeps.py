"""Shares of time in many states by Gauss-Seidel sweeps, with GMRES between them.

A sweep G balances each state in turn, p_j = sum over i of p_i q_ij / q_j, from the first to the
last and back, and only the shares of time satisfy p = G p. The residual equation, (I - G) d = G p -
p, is solved for the correction d by some steps of GMRES (Saad and Schultz, SIAM J. Sci. Stat.
Comput. 7(3), 1986), which only needs products with I - G.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, tril, triu
from scipy.sparse.linalg import LinearOperator, gmres, spsolve_triangular

from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled

IntArray = NDArray[np.int64]

STEPS = 25
"""Steps of GMRES in a correction."""

SETTLED = 1e-11
"""Sum of the last correction of all shares, which sum to 1, below which twice in a row it has
settled.
"""

_CLOSE = 1e-4  # of the residual, in each correction


def swept_shares(
    balance: csr_array, out: FloatArray, recurrent: NDArray[np.bool_], rounds: int
) -> FloatArray:
    """Share of time in each state of a chain.

    Parameters
    ----------
    balance
        Rates into each state by source, without those from a state to itself, in canonical form.
    out
        Rate out of each state, above 0.
    recurrent
        States of the only recurrent class.
    rounds
        Largest number of corrections.

    Raises
    ------
    RuntimeError
        If it does not settle.

    Examples
    --------
    >>> two = csr_array(np.array([[0.0, 3.0], [1.0, 0.0]]))
    >>> swept_shares(two, np.array([1.0, 3.0]), np.array([True, True]), 9).round(9).tolist()
    [0.75, 0.25]
    """
    moves = balance.indptr.astype(np.int64), balance.indices.astype(np.int64), balance.data, out
    count = len(out)

    def swept(shares: FloatArray) -> FloatArray:
        after = np.array(shares, float).ravel()
        balancing_sweeps(*moves, after, 1)
        return after

    left = LinearOperator((count, count), lambda p: np.ravel(p) - swept(p), dtype=float)
    shares, small = recurrent / recurrent.sum(), 0
    for _ in range(rounds):
        shares = swept(shares)
        shares /= shares.sum()
        correction, _ = gmres(left, swept(shares) - shares, rtol=_CLOSE, restart=STEPS, maxiter=1)
        shares = np.maximum(shares + correction, 0.0)
        shares /= shares.sum()
        small = small + 1 if np.abs(correction).sum() <= SETTLED else 0
        if small == 2:
            return shares
    msg = "the sweeps do not settle"
    raise RuntimeError(msg)


@compiled
def balancing_sweeps(
    starts: IntArray,
    sources: IntArray,
    flows: FloatArray,
    out: FloatArray,
    shares: FloatArray,
    count: int,
) -> None:
    """Balance each state in turn, from the first to the last and back, a number of times.

    Parameters
    ----------
    starts, sources, flows
        Transitions into each state, in order of states: where they begin, and their sources and
        rates.
    out
        Rate out of each state, above 0.
    shares
        Shares of time, which are updated.
    count
        Number of sweeps, each there and back.
    """
    into = csr_array((flows, sources, starts), (len(out), len(out)))
    before, behind, own = tril(into, -1), triu(into, 1), diags_array(out)
    for _ in range(count):
        shares[:] = spsolve_triangular(csr_array(own - before), behind @ shares, lower=True)
        shares[:] = spsolve_triangular(csr_array(own - behind), before @ shares, lower=False)
