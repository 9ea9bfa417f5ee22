"""The LogGP machine: the five parameters of message cost, and their convention.

Source: Alexandrov et al., "LogGP", SPAA 1995; Martin's thesis, section 2.2.
"""

from enum import StrEnum

from headway.errors import InvalidParameter
from headway.kinds import Amount, Quantity, check_count, check_not_negative
from headway.records import dataclass


class Convention(StrEnum):
    """The definition of latency in a set of LogGP parameters (see `convert`)."""

    PAPERS = "papers"
    NETGAUGE = "netgauge"
    PLOGP = "plogp"
    SMPI = "smpi"


@dataclass(frozen=True)
class LogGP:
    """LogGP parameters of a machine or link, in SI units.

    Parameters
    ----------
    latency
        L, time of a small message in the network, excluding overheads [s]; other conventions define
        it differently.
    send_overhead, receive_overhead
        o_s and o_r, processor time to send and to receive one message [s].
    gap
        g, smallest interval between messages of a processor [s].
    gap_per_byte
        G, time per byte of a long message [s/B].
    processors
        P, the number of processors, a whole number.
    convention
        Definition of latency in this set; laws convert it to that of the papers.

    Raises
    ------
    InvalidParameter
        For a negative parameter, a number of processors that is not 1, 2, 3..., or an
        unknown convention.

    Examples
    --------
    >>> LogGP(5e-6, 2.9e-6, 2.9e-6, 5.8e-6, 1 / 38e6).overhead
    2.9e-06

    References
    ----------
    Martin, *A Systematic Characterization of Application Sensitivity to Network
    Performance*, 1999, sections 2.2 and 3.2.4.
    """

    latency: Quantity
    send_overhead: Quantity
    receive_overhead: Quantity
    gap: Quantity
    gap_per_byte: Quantity
    processors: Quantity = 2
    convention: Convention = Convention.PAPERS

    def __post_init__(self) -> None:
        for name in ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte"):
            check_not_negative(name, getattr(self, name))
        check_count("processors", self.processors)
        if self.convention not in set(Convention):
            known = ", ".join(Convention)
            msg = f"convention is {self.convention!r}; it must be one of {known}"
            raise InvalidParameter(msg)
        object.__setattr__(self, "convention", Convention(self.convention))

    @property
    def overhead(self) -> Amount:
        """Mean of send and receive overhead: o = (o_s + o_r) / 2 [s]."""
        return (self.send_overhead + self.receive_overhead) / 2
