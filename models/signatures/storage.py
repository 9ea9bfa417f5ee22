"""Storage that feeds accelerators: their stalls, and how many it can feed at a utilisation.

N accelerators that are busy for a share AU of the time do the work of y = N AU that never wait. In
a closed network whose stations serve at rates that increase and are concave in their numbers of
jobs, the throughput never falls with N, and grows by less and less (Shanthikumar and Yao,
Second-order properties of the throughput of a closed queueing network, Mathematics of Operations
Research 13(3), 1988). So measurements at N_j < N_k bound y(N) beyond them, whatever stations the
storage has:

    y_k <= y(N) <= N y_k / N_k
    y(N) <= y_k + (N - N_k) (y_k - y_j) / (N_k - N_j)
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, inf

import numpy as np

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.tools.mlperf_storage import ACCELERATOR
from headway.models.tables.shown import Answer
from headway.numerals import counted, four_digits

ASKED = 0.9
"""The utilisation of accelerators below which the benchmark rejects a run of 3D U-Net or ResNet-50;
for CosmoFlow it is 0.7 (mlcommons/storage, release v1.0, storage-conf/workload/*.yaml: ``au``)."""

_WHOLE = 1e-9  # relative rounding error of a quotient that is a whole number


@dataclass(frozen=True)
class FedLoad:
    """All runs with one number of accelerators on one system.

    Parameters
    ----------
    accelerators
        N.
    utilisation
        AU, the mean of the runs.
    stall
        Mean wait of an accelerator for a batch [s], from that utilisation; None if no time of
        computation is known.
    stalls
        The smallest and the largest stall of a run [s].
    throughput, bandwidth
        Batches [1/s] and bytes [B/s] that were read, means of the runs; None if not known.
    runs
        Number of runs.
    """

    accelerators: float
    utilisation: float
    stall: float | None
    stalls: tuple[float, float] | None
    throughput: float | None
    bandwidth: float | None
    runs: int

    @property
    def busy(self) -> float:
        """Number of accelerators that would do the same work if they never waited."""
        return self.accelerators * self.utilisation


@dataclass(frozen=True)
class FedSystem:
    """One system with one workload, by number of accelerators.

    Parameters
    ----------
    name
        Name of the system, its workload, its accelerator and its hosts.
    compute
        The published time for which an accelerator computes on a batch [s], if there is one.
    loads
        The measurements, by number of accelerators.
    least
        Number of accelerators that it can certainly feed at the required utilisation; 0 if no load
        has it.
    most
        Number of accelerators above which utilisation is certainly too low; infinite if nothing
        shows it.
    rises
        Whether utilisation somewhere grows with the number of accelerators, as it cannot in a
        closed network: the runs then differ in more than their load.
    """

    name: str
    compute: float | None
    loads: tuple[FedLoad, ...]
    least: int
    most: float
    rises: bool

    @property
    def system(self) -> str:
        """Its name without workload, accelerator and hosts; empty if files do not give it."""
        return self.name.rpartition(": ")[0]

    @property
    def work(self) -> str:
        """Its workload and accelerator."""
        return self.name.rpartition(": ")[2].partition(",")[0]


@dataclass(frozen=True)
class MeasuredStorage(Answer):
    """Stalls of accelerators waiting for storage, by system, and how many each can feed.

    Parameters
    ----------
    source
        Name of the file, or of the first of several.
    asked
        The utilisation that accelerators must keep.
    systems
        Each system with its loads.

    Examples
    --------
    >>> import headway
    >>> storage = MeasuredStorage.of(headway.read("mlperf_storage/runs.csv").points, 0.7)
    >>> one = next(one for one in storage.systems if "Nclient1: cosmoflow" in one.name)
    >>> [(load.accelerators, round(load.utilisation, 3)) for load in one.loads]
    [(1.0, 0.828), (8.0, 0.766), (26.0, 0.72)]
    >>> one.least, one.most
    (26, 667)
    """

    source: str
    asked: float
    systems: tuple[FedSystem, ...]

    @classmethod
    def of(cls, points: Sequence[Point], asked: float = ASKED) -> "MeasuredStorage":
        """Read runs of accelerators.

        Parameters
        ----------
        points
            One point per run, as from `headway.read`.
        asked
            The utilisation that accelerators must keep: above 0, at most 1.

        Raises
        ------
        MeasurementError
            For points without accelerators, or none; for an impossible utilisation.
        """
        if not 0 < asked <= 1:
            share = four_digits(100 * asked)
            msg = f"the utilisation asked is {share}%; it must be above 0 and at most 100%"
            raise MeasurementError(msg)
        others = [point for point in points if ACCELERATOR not in point.utilisation]
        if others or not points:
            found = f"{others[0].file}: {others[0].tool} has" if others else "there are"
            msg = f"{found} no accelerators; give summaries of MLPerf Storage, or a table of them"
            raise MeasurementError(msg)
        source = points[0].file or points[0].tool
        return cls(source, asked, tuple(_systems(points, asked)))

    def __repr__(self) -> str:
        return f"MeasuredStorage({counted(len(self.systems), 'system')} at {self.asked:.0%})"


def _systems(points: Sequence[Point], asked: float) -> Iterator[FedSystem]:
    """Each system, in the order of their names."""
    by_name: dict[str, dict[float, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        by_name[point.name][point.load].append(point)
    for name, by_load in sorted(by_name.items()):
        loads = tuple(_load(number, by_load[number]) for number in sorted(by_load))
        think = next(iter(by_load.values()))[0].think_time
        least, most = fed(loads, asked)
        rises = any(after.utilisation > before.utilisation for before, after in pairwise(loads))
        yield FedSystem(name, think, loads, least, most, rises)


def _load(number: float, runs: Sequence[Point]) -> FedLoad:
    """The means of some runs."""
    share = float(np.mean([run.utilisation[ACCELERATOR] for run in runs]))
    stalls = [run.response_time for run in runs if run.response_time is not None]
    think = runs[0].think_time
    rates = [run.throughput for run in runs if run.throughput is not None]
    bytes_read = [run.more["bandwidth_bytes_s"] for run in runs if "bandwidth_bytes_s" in run.more]
    return FedLoad(
        number,
        share,
        think * (1 / share - 1) if think else None,
        (min(stalls), max(stalls)) if stalls else None,
        float(np.mean(rates)) if rates else None,
        float(np.mean(bytes_read)) if bytes_read else None,
        len(runs),
    )


def ceiling(loads: Sequence[FedLoad], accelerators: float) -> float:
    """The largest utilisation at a higher load that any closed network with these loads can have.

    Parameters
    ----------
    loads
        Measurements, by number of accelerators.
    accelerators
        A number above the highest of them.

    Examples
    --------
    >>> loads = [FedLoad(n, u, None, None, None, None, 1) for n, u in ((2, 1.0), (4, 0.9))]
    >>> round(ceiling(loads, 8), 12)  # 3.6 busy at 4, 0.8 more for each after that
    0.85
    """
    lines = (
        after.busy + (accelerators - after.accelerators) * _slope(before, after)
        for before, after in pairwise(loads)
    )
    share = min(load.utilisation for load in loads)
    return min(share, *(line / accelerators for line in lines), 1.0)


def _slope(before: FedLoad, after: FedLoad) -> float:
    """Increase of busy accelerators per accelerator added, between two loads."""
    return (after.busy - before.busy) / (after.accelerators - before.accelerators)


def fed(loads: Sequence[FedLoad], asked: float) -> tuple[int, float]:
    """How many accelerators storage can feed: certainly, and at most.

    Parameters
    ----------
    loads
        Measurements, by number of accelerators.
    asked
        The utilisation that they must keep.

    Examples
    --------
    >>> loads = [FedLoad(n, u, None, None, None, None, 1) for n, u in ((2, 1.0), (4, 0.9))]
    >>> fed(loads, 0.85)  # 3.6 busy are 85% of 4.2; on the line 4: 3.6, 5: 4.4 they are so of 8
    (4, 8)
    """
    enough = [load.busy / asked for load in loads if load.utilisation >= asked]
    least = floor(max(enough, default=0.0) * (1 + _WHOLE))
    most = [load.accelerators - 1 for load in loads if load.utilisation < asked]
    for before, after in pairwise(loads):
        slope = _slope(before, after)
        if slope < asked <= after.utilisation:
            # y_k + (N - N_k) s = a N
            reach = (after.busy - after.accelerators * slope) / (asked - slope)
            most.append(floor(reach * (1 + _WHOLE)))
    highest = min(most, default=inf)
    return least, highest if highest >= least else inf
