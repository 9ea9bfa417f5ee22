"""Laws over many operating points, in blocks that fit into the cache.

Fetching an array of all points costs more than the law's arithmetic on it, and a law makes an array
for each of its operations.
"""

from collections.abc import Callable

import numpy as np

from headway.kinds import Amount

BLOCK = 16384
"""Points per block, whose arrays of 128 KiB each fit into the second-level cache: for speed."""


def in_blocks(law: Callable[..., Amount], *numbers: Amount) -> Amount:
    """Evaluate an elementwise law over arrays of one length block by block.

    Parameters
    ----------
    law
        Function with a number for each point, which depends on the arguments at that point only.
    numbers
        Its arguments: numbers, and arrays; if these have several axes or few entries, the law is
        called with all of them at once.

    Examples
    --------
    >>> in_blocks(lambda a, b: a + b, np.arange(20000.0), 1.0)[-1].item()
    20000.0
    """
    arrays = [number for number in numbers if isinstance(number, np.ndarray) and number.ndim]
    sizes = {number.size for number in arrays}
    if len(sizes) != 1 or any(number.ndim > 1 for number in arrays) or max(sizes) <= BLOCK:
        return law(*numbers)
    size = sizes.pop()
    result = np.empty(size)
    for start in range(0, size, BLOCK):
        part = slice(start, start + BLOCK)
        result[part] = law(*(n[part] if np.ndim(n) else n for n in numbers))
    return result
