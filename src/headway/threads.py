"""How many threads the libraries below NumPy use."""

import os

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Environment variables that set it; they are read when NumPy is first imported."""


def one_thread() -> None:
    """Use one thread, unless the environment says otherwise.

    headway's matrices are small: further threads wait for each other longer than they compute,
    and take the processor from what else runs.

    Examples
    --------
    >>> one_thread()
    >>> set(THREADS) <= set(os.environ)
    True
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
