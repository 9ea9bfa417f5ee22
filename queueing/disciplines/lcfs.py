"""Last come, first served, preemptive resume: an arrival interrupts the others.

One server has a product form for any service times, with means as if all jobs shared it. Several
servers have one only if all service times are exponential with one mean; otherwise they are
approximated as shared servers, with a measured error (`headway.queueing.orders.measured.LAST`).

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
"""

from headway.queueing.disciplines.discipline import Discipline, ProductForm, Waiting
from headway.queueing.disciplines.ps import stay, waits
from headway.queueing.markov.orders import last_first


def rank(job: Waiting) -> tuple[float, ...]:
    """The latest arrival has the smallest rank."""
    return (-job.number,)


LAST = Discipline(
    "lcfs",
    "the last to arrive interrupts the others",
    words="a pool that serves the last first,",
    how="with preemption by the last to come",
    form=ProductForm.ANY,
    pool_form=ProductForm.ALIKE,
    measured=True,
    interrupts=True,
    waits=waits,
    stay=stay,
    states=last_first,
    rank=rank,
    jmt="LCFSPRStrategy",
)
