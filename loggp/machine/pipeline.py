"""Store-and-forward pipelines: packets through stages, one at a time in each.

Source: Martin's thesis, section 6.1.
"""

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    apply,
    check_count,
    check_not_negative,
    check_positive,
    is_symbolic,
)
from headway.records import dataclass


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline: a packet of s bytes occupies it for O + G s.

    Parameters
    ----------
    name
        Its name.
    occupancy
        O, time per packet of any size [s], 0 or more.
    gap_per_byte
        G, time per byte [s/B], 0 or more.

    Examples
    --------
    >>> round(Stage("send interface", 5.3e-6, 24.5e-6 / 1024).time(2048) * 1e6, 9)
    54.3
    """

    name: str
    occupancy: Quantity
    gap_per_byte: Quantity

    def __post_init__(self) -> None:
        check_not_negative(f"occupancy of {self.name}", self.occupancy)
        check_not_negative(f"gap_per_byte of {self.name}", self.gap_per_byte)

    def time(self, size: Quantity) -> Amount:
        """Time for which a packet of ``size`` bytes occupies the stage [s]."""
        return self.occupancy + self.gap_per_byte * size


@dataclass(frozen=True)
class Timeline:
    """Times at which each packet enters and leaves each stage.

    Parameters
    ----------
    stages
        Names, shape (stages,).
    start, end
        Times [s], shape (stages, packets).
    """

    stages: tuple[str, ...]
    start: FloatArray
    end: FloatArray

    @property
    def total_time(self) -> float:
        """Time until the last packet has left the last stage [s]."""
        return float(self.end[-1, -1])

    @property
    def bubbles(self) -> FloatArray:
        """Idle time of each stage between its first and its last packet [s]."""
        idle = np.maximum(self.start[:, 1:] - self.end[:, :-1], 0.0)
        return np.asarray(idle.sum(axis=1))


@dataclass(frozen=True)
class EqualPackets:
    """A transfer divided into equal packets, with its time and bandwidth.

    Parameters
    ----------
    packets
        Number of packets.
    size
        Bytes in each; need not be whole.
    total_time
        Time until the last one has passed [s].
    bandwidth
        Bytes of the transfer divided by its time [B/s].
    """

    packets: int
    size: float
    total_time: float
    bandwidth: float


@dataclass(frozen=True)
class Pipeline:
    """Stages that packets pass in order; a stage accepts the next packet when it is free.

    Between stages there is room for any number of packets.

    Parameters
    ----------
    stages
        One or more.

    Raises
    ------
    InvalidParameter
        For a pipeline without stages, or one in which nothing takes time.

    Examples
    --------
    >>> two = Pipeline((Stage("first", 1.0, 0.0), Stage("second", 3.0, 0.0)))
    >>> two.timeline([100, 100]).end.tolist()
    [[1.0, 2.0], [4.0, 7.0]]

    References
    ----------
    Martin 1999, section 6.1, Table 6.1.
    """

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            msg = "a pipeline has no stages; give it at least one"
            raise InvalidParameter(msg)
        check_positive("time of the slowest stage for one byte", self.slowest_time(1))

    def timeline(self, sizes: ArrayLike) -> Timeline:
        """Times at which packets of the given sizes pass the stages.

        end[i, k] = max(end[i - 1, k], end[i, k - 1]) + O_i + G_i s_k

        Parameters
        ----------
        sizes
            Bytes in each packet in order, shape (packets,), at least one, positive.

        Raises
        ------
        InvalidParameter
            For no packets, or a size that is not positive.
        """
        if is_symbolic(self.slowest_time(1)):
            msg = "a timeline needs numbers for occupancy and gap_per_byte of every stage"
            raise InvalidParameter(msg)
        sizes = np.atleast_1d(np.asarray(sizes, dtype=float))
        if sizes.ndim != 1 or sizes.size == 0:
            msg = f"sizes has shape {sizes.shape}; give one size for each packet, at least one"
            raise InvalidParameter(msg)
        check_positive("size", sizes)
        ready = np.zeros(sizes.size)
        starts, ends = [], []
        for stage in self.stages:
            start, ready = _pass(ready, np.asarray(stage.time(sizes)))
            starts.append(start)
            ends.append(ready)
        names = tuple(stage.name for stage in self.stages)
        return Timeline(names, np.array(starts), np.array(ends))

    def packet_time(self, size: Quantity) -> Amount:
        """Time of one packet through all stages: sum of O_i + G_i s [s]."""
        check_positive("size", size)
        return sum((stage.time(size) for stage in self.stages[1:]), self.stages[0].time(size))

    def slowest_time(self, size: Quantity) -> Amount:
        """Time that the slowest stage takes for a packet: max of O_i + G_i s [s]."""
        check_positive("size", size)
        return apply("max", *(stage.time(size) for stage in self.stages))

    def transfer_time(self, size: Quantity, packets: Quantity) -> Amount:
        """Time of n packets of s bytes: sum t_i + (n - 1) max t_i [s].

        Parameters
        ----------
        size
            Bytes s in each packet, positive; also a symbol or an array.
        packets
            Number n of packets, 1 or more.
        """
        check_count("packets", packets)
        return self.packet_time(size) + (packets - 1) * self.slowest_time(size)

    def bandwidth(self, size: Quantity) -> Amount:
        """Bandwidth of an endless stream of packets of this size: s / max(O_i + G_i s) [B/s]."""
        return size / self.slowest_time(size)

    def bottleneck(self, size: float) -> Stage:
        """Return the stage that packets of this size occupy longest; plain numbers only."""
        check_positive("size", size)
        return max(self.stages, key=lambda stage: float(stage.time(size)))

    def equal_packets(self, transfer: float, packets: int) -> EqualPackets:
        """Divide a transfer into n equal packets.

        Parameters
        ----------
        transfer
            Bytes to transfer, positive.
        packets
            Number n of packets, 1 or more.

        Examples
        --------
        >>> two = Pipeline((Stage("first", 1.0, 1.0), Stage("second", 1.0, 1.0)))
        >>> two.equal_packets(8, 2).total_time
        15.0
        """
        check_positive("transfer", transfer)
        check_count("packets", packets)
        size = transfer / packets
        total = float(self.transfer_time(size, packets))
        return EqualPackets(packets, size, total, transfer / total)

    def best_packets(self, transfer: float, largest_packet: float | None = None) -> EqualPackets:
        """Divide a transfer into the number of equal packets that takes the least time.

        The time is convex in the number of packets (a maximum of functions a n + b / n + c),
        so bisection finds the minimum. Packets contain at least one byte.

        Parameters
        ----------
        transfer
            Bytes to transfer, 1 or more.
        largest_packet
            Most bytes of a packet; no limit by default.

        Examples
        --------
        >>> two = Pipeline((Stage("first", 1.0, 1.0), Stage("second", 1.0, 1.0)))
        >>> best = two.best_packets(100)
        >>> best.packets, best.total_time
        (10, 121.0)
        """
        check_count("whole bytes of transfer", np.floor(transfer))
        limit = transfer if largest_packet is None else largest_packet
        check_positive("largest_packet", limit)
        fewest = int(apply("ceil", transfer / limit))
        lowest, highest = fewest, max(fewest, int(transfer))
        while lowest < highest:
            middle = (lowest + highest) // 2
            here, more = (self.equal_packets(transfer, n).total_time for n in (middle, middle + 1))
            if here <= more:
                highest = middle
            else:
                lowest = middle + 1
        return self.equal_packets(transfer, lowest)


def _pass(ready: FloatArray, occupied: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Start and end of packets in one stage, given their ready times and occupancies.

    Unrolled, end[k] = max over j <= k of ready[j] + held[j] + ... + held[k]: sums up to k,
    plus a running maximum.
    """
    before = np.concatenate(([0.0], np.cumsum(occupied)[:-1]))
    start = np.maximum.accumulate(ready - before) + before
    return start, start + occupied
