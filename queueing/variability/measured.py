"""The measured errors of two moments of each flow and service, by region, and their labels.

``python -m tests.campaigns.general_networks`` simulated open networks of one class with Poisson
arrivals: rows of stations, networks that split and merge, and loops of two to four stations; the
busiest 50 to 90% busy, scvs of services up to 1, 4 or 8; times gamma-distributed, lognormal or of
two phases (docs/accuracy/stations.md has the table). The largest errors are stated, rounded up.
"""

from headway.numerals import digits
from headway.records import dataclass

SCVS = (1.0, 4.0, 8.0)
"""Ends of the regions: largest scv of services."""

BUSIEST = 0.9
"""Largest utilisation that was simulated."""

KINDS = {
    "single": "single servers without loops",
    "loops": "single servers with loops",
    "pools": "networks with pools",
}
"""Kinds of networks that were measured, with their words."""

MEANS = {"single": (9.0, 10.8, 10.8), "loops": (19.8, 19.8, 19.8), "pools": (24.7, 24.7, 24.7)}
"""Largest errors of mean response times of networks [%], by kind and scv; for pools, including
those with loops and arrivals of any scv (``python -m tests.campaigns.qna_errors``).
"""

POISSON = {"single": (99.3, 99.3, 99.3), "loops": (19.3, 22.1, 65.7), "pools": (40.2, 40.2, 40.2)}
"""The same if all flows are taken as Poisson."""

SHARES = {
    "single": (((25, 28), (27, 34)), ((25, 28), (34, 77)), ((25, 28), (47, 77))),
    "loops": (((26, 20), (37, 18)), ((26, 28), (37, 40)), ((26, 37), (53, 64))),
}
"""Largest errors of percentiles [%] up to the 99th, and of the 99.9th, for gamma-distributed
times and for others, by scv.
"""


@dataclass(frozen=True)
class MeasuredRegion:
    """The region of a network among those that were measured.

    Parameters
    ----------
    kind
        One of `KINDS`.
    scv
        Largest scv of services at its queues.
    busy
        Largest utilisation.

    Examples
    --------
    >>> str(MeasuredRegion.of(loops=True, pools=False, scv=2.0, busy=0.7))
    'single servers with loops, scv of services up to 4, at most 90% busy'
    """

    kind: str
    scv: float
    busy: float

    @classmethod
    def of(cls, *, loops: bool, pools: bool, scv: float, busy: float) -> "MeasuredRegion":
        """The region of a network; ``loops`` if jobs return to a station by way of others."""
        return cls("pools" if pools else "loops" if loops else "single", scv, busy)

    @property
    def _place(self) -> int:
        return next((k for k, end in enumerate(SCVS) if self.scv <= end * _ROUNDING), len(SCVS) - 1)

    def __str__(self) -> str:
        text = (
            f"{KINDS[self.kind]}, scv of services up to {digits(SCVS[self._place])}, "
            f"at most {digits(100 * BUSIEST)}% busy"
        )
        beyond = self.scv > SCVS[-1] * _ROUNDING or self.busy > BUSIEST * _ROUNDING
        return f"{text} (this one is beyond that)" if beyond else text

    def means(self) -> str:
        """What is approximate about means."""
        return (
            "each flow and service is approximated by two moments (QNA); largest error measured: "
            f"mean response time {digits(MEANS[self.kind][self._place])}% ({self})"
        )

    def poisson(self, names: tuple[str, ...]) -> str:
        """What is approximate if flows at some stations are taken as Poisson."""
        error = digits(POISSON[self.kind][self._place])
        return (
            f"arrivals at and departures from {', '.join(names)} are assumed Poisson; largest "
            f"error measured: mean response time {error}% ({self})"
        )

    def shares(self) -> str:
        """What is approximate about percentiles."""
        (near, far), (other, furthest) = SHARES[self.kind][self._place]
        return (
            "percentiles assume independent waits, and gamma-distributed service times: largest "
            f"error measured up to the 99th {near}%, the 99.9th {far}%; where times have another "
            f"distribution {other}% and {furthest}%"
        )


_ROUNDING = 1 + 1e-9  # of numbers at the end of a region: changes no answer
