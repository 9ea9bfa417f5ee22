"""Passage times of closed jobs with routes by class, by a tagged job in the whole Markov chain.

The state has the station, class and place in the queue of every job, and which of them is the
tagged one. From the entry of a job of class c, the chain is uniformised until few jobs are inside
(`headway.queueing.times.uniformisation`). Only constant delays are approximated: the tagged job
spends them in Erlang phases, the others exponentially.

Source: Melamed and Yadin, "Randomization procedures in the computation of cumulative-time
distributions over discrete state Markov processes", Operations Research 32(4), 1984.
"""

from collections.abc import Sequence

import numpy as np

from headway.errors import GraphError
from headway.numerals import digits
from headway.queueing.classes.whole import tagged_circuit
from headway.queueing.markov.tagged import passages
from headway.queueing.network.network import Network
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.uniformisation import WHOLE, law_of_steps, steps_out

MOST_STATES = 10_000
"""Most states of all jobs, and of the tagged one among the others, for which the chain is built:
a limit for speed and memory.
"""

SMOOTHED = (
    "a constant delay is approximated as varying by 32% for the followed job and as exponential "
    "for the others: percentiles up to the 99th within 10% where measured"
)
"""Measured by ``python -m tests.campaigns.closed_journeys``."""


def whole_chain_laws(network: Network, means: Sequence[float]) -> list[TimeLaw]:
    """Law of the time between request and answer, for jobs that enter as each class.

    Exact for exponential services; a delay is nearly constant for the tagged job, exponential for
    others.

    Parameters
    ----------
    network
        Closed classes with routes between stations, at one operating point.
    means
        Mean times of each class [s], finite; the number of steps is estimated from them.

    Raises
    ------
    GraphError
        If there is no chain, or it is too large, with the reason.
    """
    circuit = tagged_circuit(network)
    if circuit is None:
        msg = "services must be exponential, take some time, and not depend on the number present"
        raise GraphError(msg)
    chain = passages(circuit, MOST_STATES)
    if chain is None or not WHOLE.allows(float(chain.moves.nnz), chain.pace * max(means)):
        msg = f"there are more states than the {digits(MOST_STATES)} that it is followed through"
        raise GraphError(msg)
    notes = (SMOOTHED,) if network.is_delay.any() else ()
    laws = []
    for c in range(len(means)):
        steps = steps_out(chain.moves, np.asarray(chain.starts[c]), chain.out, WHOLE.inside)
        law = law_of_steps(chain.pace, steps)
        laws.append(TimeLaw(law.pieces, law.mean, notes))
    return laws
