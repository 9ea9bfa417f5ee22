"""Service in random order: the next job is drawn from those that wait.

It does not depend on service times, so means are those in order of arrival if arrivals are Poisson,
and nearly so in closed networks.

Source: Kelly, *Reversibility and Stochastic Networks*, 1979, section 3.1.
"""

from headway.queueing.disciplines.discipline import Discipline, ProductForm, Waiting
from headway.queueing.disciplines.fcfs import stay, waits
from headway.queueing.markov.orders import at_random


def rank(job: Waiting) -> tuple[float, ...]:
    """All jobs have the same rank: the next is drawn at random."""
    return (job.number,)


RANDOM = Discipline(
    "siro",
    "the next job is drawn at random",
    words="random order",
    how="in random order",
    form=ProductForm.ALIKE,
    pool_form=ProductForm.ALIKE,
    measured=True,
    at_random=True,
    waits=waits,
    stay=stay,
    states=at_random,
    rank=rank,
    jmt="RandStrategy",
)
