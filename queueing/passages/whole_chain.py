"""How long closed jobs with their own routes take, by a job followed through the whole chain."""

from collections.abc import Sequence
from math import log

import numpy as np

from headway.errors import GraphError
from headway.numerals import digits
from headway.queueing.classes.whole import tagged_circuit
from headway.queueing.markov.tagged import Passages, passages
from headway.queueing.network.network import Network
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.uniformisation import FEW, law_of_steps, steps_out

MOST_STATES = 10_000
"""States of all jobs, and of the followed one among the others, up to which it is followed."""

SMOOTHED = (
    "a constant delay is approximated as varying by 32% for the followed job and as exponential "
    "for the others: percentiles up to the 99th within 10% where measured"
)
_MOST_WORK = 3e9  # moves times steps: some seconds


def whole_laws(network: Network, means: Sequence[float]) -> list[TimeLaw]:
    """How long jobs take that come in as each class, between request and answer.

    Exact for exponential services; a delay is nearly constant for the job, exponential for others.

    Parameters
    ----------
    network
        Closed classes with ways between stations, at one operating point.
    means
        Mean times of each class [s], finite, by which the work is estimated.

    Raises
    ------
    GraphError
        With the reason where there is no such chain, or it is too large.
    """
    circuit = tagged_circuit(network)
    if circuit is None:
        msg = "services must be exponential, take some time, and not depend on the number present"
        raise GraphError(msg)
    followed = passages(circuit, MOST_STATES)
    if followed is None or _work(followed, max(means)) > _MOST_WORK:
        msg = f"there are more states than the {digits(MOST_STATES)} that it is followed through"
        raise GraphError(msg)
    notes = (SMOOTHED,) if network.is_delay.any() else ()
    return [_law(followed, c, notes) for c in range(len(means))]


def _work(followed: Passages, longest: float) -> float:
    return float(followed.moves.nnz * followed.pace * longest * -log(FEW))


def _law(followed: Passages, c: int, notes: tuple[str, ...]) -> TimeLaw:
    steps = steps_out(followed.moves, np.asarray(followed.starts[c]), followed.out)
    law = law_of_steps(followed.pace, steps)
    return TimeLaw(law.pieces, law.mean, notes)
