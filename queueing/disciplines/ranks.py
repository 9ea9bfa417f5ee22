"""Ranks of disciplines as weighted sums of a job's number, priority and work."""

from typing import TypeAlias

import numpy as np

from headway.errors import GraphError
from headway.queueing.disciplines.discipline import Discipline, Waiting

Key: TypeAlias = list[float]
"""Weights of a job's number, priority and work in a key; the smallest key is first."""


def keys_of(name: str, discipline: Discipline) -> tuple[Key, Key]:
    """The first two keys of a discipline's rank, as weighted sums.

    Further keys, and ties, go by arrival number, which is always the last key.

    Parameters
    ----------
    name
        Name of the queue, for messages.
    discipline
        A discipline that does not draw at random.

    Raises
    ------
    GraphError
        For a rank of any other form.

    Examples
    --------
    >>> keys_of("cpu", Discipline.PRIORITY)
    ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    """
    base = np.array(discipline.turn(Waiting(1, 1, 1.0)), float)
    moved = (Waiting(2, 1, 1.0), Waiting(1, 2, 1.0), Waiting(1, 1, 2.0))
    slopes = np.array([np.subtract(discipline.turn(one), base) for one in moved])
    other = base + np.array([6.0, 3.0, 1.5]) @ slopes
    same = np.allclose(discipline.turn(Waiting(7, 4, 2.5)), other, rtol=1e-12, atol=0)
    keys = [key for key in slopes.T.tolist() if any(key)]
    while keys and keys[-1] == [1.0, 0.0, 0.0]:
        keys.pop()
    if not same or len(keys) > 2:
        msg = (
            f"{name}: headway cannot simulate discipline {discipline}, whose rank is not made of "
            "one or two sums of a job's number, priority and work"
        )
        raise GraphError(msg)
    first, second = [*keys, [0.0] * 3, [0.0] * 3][:2]
    return first, second
