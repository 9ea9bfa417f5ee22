"""Transfers through a pipeline by formula: full packets and a last one, for every kind of number.

`headway.loggp.machine.pipeline` follows each packet; this module calculates whole arrays of
transfers, packet sizes and stages at once. Source: Martin's thesis, section 6.1, generalised.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_not_negative,
    check_positive,
    is_symbolic,
    plain,
)
from headway.records import dataclass


@dataclass(frozen=True)
class PacketTransfer:
    """A transfer of T bytes in packets of s bytes through store-and-forward stages.

    ceil(T/s) packets: all full except the last one, with the remainder r. A packet of s bytes
    occupies stage i for t_i(s) = O_i + G_i s.

    Parameters
    ----------
    occupancy, gap_per_byte
        O_i [s] and G_i [s/B] of each stage in order, 0 or more; lists of the same length.
    transfer
        T, bytes to transfer, positive.
    packet
        s, bytes in a packet, positive; a single packet if s is T or more.

    Raises
    ------
    InvalidParameter
        For no stages, lists of different length, stages that all take no time, or values outside
        their domain.

    Examples
    --------
    >>> two = PacketTransfer((1.0, 3.0), (0.0, 0.0), transfer=200.0, packet=100.0)
    >>> two.total_time, two.bottleneck_time
    (7.0, 3.0)

    References
    ----------
    Martin 1999, section 6.1.
    """

    occupancy: Sequence[Quantity]
    gap_per_byte: Sequence[Quantity]
    transfer: Quantity
    packet: Quantity

    def __post_init__(self) -> None:
        if not self.occupancy or len(self.occupancy) != len(self.gap_per_byte):
            stages = f"{len(self.occupancy)} occupancy and {len(self.gap_per_byte)} gap_per_byte"
            msg = (
                f"a pipeline has {stages}; give one of each for every stage, and at least one stage"
            )
            raise InvalidParameter(msg)
        for occupancy, gap in zip(self.occupancy, self.gap_per_byte, strict=True):
            check_not_negative("occupancy", occupancy)
            check_not_negative("gap_per_byte", gap)
        check_positive("transfer", self.transfer)
        check_positive("packet", self.packet)
        check_positive("time of the slowest stage", self.bottleneck_time)

    def _times(self, size: Amount) -> list[Amount]:
        """Time for which a packet occupies each stage [s]."""
        stages = zip(self.occupancy, self.gap_per_byte, strict=True)
        return [occupancy + gap * size for occupancy, gap in stages]

    @property
    def full_packet(self) -> Amount:
        """Bytes in a full packet: s, or T if that is less [B]."""
        return apply("min", self.packet, self.transfer)

    @property
    def packets(self) -> Amount:
        """Number of packets: ceil(T/s)."""
        return apply("ceil", self.transfer / self.full_packet)

    @property
    def rest(self) -> Amount:
        """Bytes in the last packet [B]."""
        return self.transfer - (self.packets - 1) * self.full_packet

    @property
    def packet_time(self) -> Amount:
        """Time of one full packet through all stages: sum of t_i(s) [s]."""
        return sum(self._times(self.full_packet))

    @property
    def bottleneck_time(self) -> Amount:
        """Time for which a full packet occupies the slowest stage: max t_i(s) [s]."""
        first, *others = self._times(self.full_packet)
        return apply("max", first, *others)

    @property
    def bandwidth(self) -> Amount:
        """Bandwidth of an endless stream of full packets: s / max t_i(s) [B/s]."""
        return self.full_packet / self.bottleneck_time

    @property
    def ends(self) -> list[Amount]:
        """Time at which the last packet leaves each stage [s].

        The longest path through stages and packets: along the full packets up to a stage j, all but
        one of them through the slowest stage so far, and from j on with the last packet.
        """
        more = apply("max", self.packets - 2, 0)
        entered: Amount = 0
        slowest: Amount = 0
        longest: Amount = None
        ends = []
        stages = zip(self._times(self.full_packet), self._times(self.rest), strict=True)
        for full, last in stages:
            entered = entered + full
            slowest = apply("max", slowest, full)
            turned = entered + more * slowest + last
            longest = turned if longest is None else apply("max", longest + last, turned)
            ends.append(apply("where", self.packets > 1, longest, entered))
        return ends

    @property
    def total_time(self) -> Amount:
        """Time until the last packet has passed; sum t_i + (n - 1) max t_i if all are full [s]."""
        return self.ends[-1]

    @property
    def delivered_bandwidth(self) -> Amount:
        """Bandwidth of the whole transfer: T / total time [B/s]."""
        return self.transfer / self.total_time

    @property
    def bubbles(self) -> Amount:
        """Total idle time of stages between their first and last packets [s]."""
        full, last = self._times(self.full_packet), self._times(self.rest)
        begun: Amount = 0
        idle: Amount = 0
        for mine, rest, end in zip(full, last, self.ends, strict=True):
            busy = apply("where", self.packets > 1, (self.packets - 1) * mine + rest, mine)
            idle = idle + apply("max", end - begun - busy, 0)
            begun = begun + mine
        return idle

    def _cut_time(self, packets: Amount) -> Amount:
        """Time of the transfer in equal packets: sum t_i + (n - 1) max t_i [s]."""
        first, *others = times = self._times(self.transfer / packets)
        return sum(times) + (packets - 1) * apply("max", first, *others)

    @cached_property
    def best_packets(self) -> Amount:
        """Number of equal packets that take the least time, by bisection.

        The time is convex in the number of packets, which contain at least one byte.

        Raises
        ------
        InvalidParameter
            For symbols, because there is no closed form.
        """
        if is_symbolic(self.transfer, *self.occupancy, *self.gap_per_byte):
            raise InvalidParameter("the best packets have no closed form; give numbers")
        shape = np.shape(self._cut_time(1.0))
        low, high = (
            np.ones(shape),
            np.maximum(np.floor(np.asarray(self.transfer, float)), 1.0) * np.ones(shape),
        )
        while np.any(low < high):
            middle = np.floor((low + high) / 2)
            enough = self._cut_time(middle) <= self._cut_time(middle + 1)
            # where the search is over, middle and low are high
            low = np.where(enough, low, np.minimum(middle + 1, high))
            high = np.where(enough, middle, high)
        return plain(low)

    @property
    def best_packet(self) -> Amount:
        """Bytes of the equal packets that take the least time [B]; need not be whole."""
        return plain(self.transfer / self.best_packets)

    @property
    def best_time(self) -> Amount:
        """Time of the transfer in packets of the best size [s]."""
        return self._cut_time(self.best_packets)
