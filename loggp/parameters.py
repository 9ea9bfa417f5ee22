"""The LogGP machine: five numbers that say what a message costs.

Source: Alexandrov et al., "LogGP", SPAA 1995; Martin's thesis, section 2.2.
"""

from dataclasses import dataclass
from typing import Any

from headway.kinds import Quantity, check_count, check_not_negative


@dataclass(frozen=True)
class LogGP:
    """LogGP parameters of a machine or link, in SI units.

    Parameters
    ----------
    latency
        L, time of a small message in the network, overheads excluded [s].
    send_overhead, receive_overhead
        o_s and o_r, processor time to send and to receive one message [s].
    gap
        g, smallest interval between messages of a processor [s].
    gap_per_byte
        G, time per byte of a long message [s/B].
    processors
        P, how many processors, a whole number.

    Raises
    ------
    InvalidParameter
        For a negative parameter, or a number of processors that is not 1, 2, 3...

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

    def __post_init__(self) -> None:
        for name in ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte"):
            check_not_negative(name, getattr(self, name))
        check_count("processors", self.processors)

    @property
    def overhead(self) -> Any:
        """Mean of send and receive overhead: o = (o_s + o_r) / 2 [s]."""
        return (self.send_overhead + self.receive_overhead) / 2
