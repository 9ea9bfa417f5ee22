"""A measured collective operation: its pieces by size, bandwidths, and predictions elsewhere."""

from collections.abc import Sequence

import numpy as np

from headway.errors import HeadwayError, MeasurementError, quoted
from headway.loggp.programs.algorithms import Collective, bus_factor
from headway.loggp.programs.collective_pieces import CollectivePiece
from headway.loggp.programs.measured_collectives import (
    CollectiveFit,
    CollectiveLevel,
    CollectiveTimes,
    Predicted,
    fit_collective,
)
from headway.models.language.units import quantity, unit
from headway.models.signatures.collective_files import Chosen, chosen_times
from headway.models.tables.shown import Answer
from headway.numerals import digits
from headway.records import dataclass

LL_SHARE, LL128_SHARE = 0.5, 0.9375
"""Shares of the bandwidth that NCCL's protocols can use: LL sends 4 bytes of data in 8, LL128 120
in 128; Simple uses all."""

_ALIKE = 1.02  # ratio of bandwidths up to which two pieces use the same share
_SHARED = (Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_TO_ALL)
LACK = 0.10
"""Relative standard deviation from the law above which the fit has a warning. Chosen: twice the
misfit at which a further piece begins."""


@dataclass(frozen=True)
class Quoted:
    """The highest bandwidth measured with a number of processors, as people quote it.

    Parameters
    ----------
    processors
        n.
    size, time
        Size S [B] and time T [s] at this bandwidth.
    bandwidth, bus_bandwidth
        S / T, and that times the factor of the operation [B/s].
    """

    processors: int
    size: float
    time: float
    bandwidth: float
    bus_bandwidth: float


@dataclass(frozen=True, eq=False)
class MeasuredCollective(Answer):
    r"""Measured times of a collective operation, the law of each piece, and predictions.

    Parameters
    ----------
    sources
        Names of the files.
    datatype, place
        Type of the elements, and where results went; empty if files do not say.
    fit
        The laws.
    predictions
        The predictions asked for.

    Examples
    --------
    >>> import numpy as np
    >>> n, size = np.meshgrid([2, 4, 8], 2 ** np.arange(10, 24))
    >>> time = 5 + 2 * (n - 1) + size * (2e-6 + 8e-6 * (n - 1) / n)
    >>> rows = zip(n.ravel(), size.ravel(), time.ravel())
    >>> table = "operation,gpus,size_bytes,time_us" + "".join(
    ...     f"\nall_gather,{a},{b},{c:.6f}" for a, b, c in rows
    ... )
    >>> answer = MeasuredCollective.of([(table, "times.csv")], asked=[(8, 2.0**20)])
    >>> answer, round(answer.predictions[0].time * 1e6, 2)
    (MeasuredCollective(all-gather, 1 piece), 28.44)
    """

    sources: tuple[str, ...]
    datatype: str
    place: str
    fit: CollectiveFit
    predictions: tuple[Predicted, ...] = ()

    @classmethod
    def of(
        cls,
        files: Sequence[tuple[str, str]],
        chosen: Chosen | None = None,
        per_machine: int = 0,
        asked: Sequence[tuple[int, float]] = (),
    ) -> "MeasuredCollective":
        """Fit the times in files, and predict.

        Parameters
        ----------
        files
            Content and name of each.
        chosen
            The times that count; by default those of the only operation and type, out of place.
        per_machine
            Processors of one machine; 0 for what the files say.
        asked
            n and S [B] to predict.

        Raises
        ------
        MeasurementError
            For files that cannot be read or fitted, and for impossible predictions.

        Examples
        --------
        >>> from headway.models import data_path
        >>> from headway.models.reading.texts import file_text
        >>> given = file_text(data_path("gpu_collectives/gb200_2_29_2.csv"))
        >>> MeasuredCollective.of([given], Chosen("all_gather", "half")).fit.levels[0].counts
        (2, 4)
        """
        times, datatype, place = chosen_times(files, chosen or Chosen())
        sources = tuple(source for _, source in files)
        try:
            _check_shares(times)
            fit = fit_collective(times, per_machine)
        except HeadwayError as error:
            msg = f"{sources[0]}: {error}"
            raise MeasurementError(msg) from None
        predictions = tuple(_predicted(fit, n, size) for n, size in asked)
        return cls(sources, datatype, place, fit, predictions)

    def __repr__(self) -> str:
        count = sum(len(level.pieces) for level in self.fit.levels)
        return f"MeasuredCollective({self.times.collective}, {count} piece{'s' * (count > 1)})"

    @property
    def times(self) -> CollectiveTimes:
        """The measured times.

        Examples
        --------
        >>> from headway.models import data_path
        >>> from headway.models.reading.texts import file_text
        >>> given = file_text(data_path("gpu_collectives/gb200_2_29_2.csv"))
        >>> MeasuredCollective.of([given], Chosen("all_gather", "half")).times.time.size
        42
        """
        return self.fit.times

    @property
    def quoted(self) -> tuple[Quoted, ...]:
        """The highest bandwidth measured at each number of processors.

        Examples
        --------
        >>> from headway.models import data_path
        >>> from headway.models.reading.texts import file_text
        >>> given = file_text(data_path("gpu_collectives/gb200_2_29_2.csv"))
        >>> answer = MeasuredCollective.of([given], Chosen("all_gather", "half"))
        >>> [(one.processors, round(one.bus_bandwidth / 1e9)) for one in answer.quoted]
        [(2, 437), (4, 564)]
        """
        times = self.times
        best = []
        for count in np.unique(times.processors):
            mine = np.flatnonzero(times.processors == count)
            top = mine[np.argmax(times.size[mine] / times.time[mine])]
            rate = float(times.size[top] / times.time[top])
            bus = rate * float(bus_factor(times.collective, count))
            at = (float(times.size[top]), float(times.time[top]))
            best.append(Quoted(int(count), *at, rate, bus))
        return tuple(best)

    @property
    def median_error(self) -> float:
        """Median of the relative errors of the law at the measurements.

        Examples
        --------
        >>> from headway.models import data_path
        >>> from headway.models.reading.texts import file_text
        >>> given = file_text(data_path("gpu_collectives/gb200_2_29_2.csv"))
        >>> answer = MeasuredCollective.of([given], Chosen("all_gather", "half"))
        >>> answer.median_error < 0.04
        True
        """
        return float(np.median(np.abs(self.fit.errors)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the law does not explain.

        Examples
        --------
        >>> from headway.models import data_path
        >>> from headway.models.reading.texts import file_text
        >>> given = file_text(data_path("gpu_collectives/gb200_2_29_2.csv"))
        >>> answer = MeasuredCollective.of([given], Chosen("all_gather", "half"))
        >>> answer.warnings
        ()
        """
        return tuple(
            f"lack of fit: times at n = {', '.join(map(str, level.counts))} scatter about the law "
            f"by {level.deviation:.0%}; repeat the runs"
            for level in self.fit.levels
            if level.deviation > LACK
        )


def _check_shares(times: CollectiveTimes) -> None:
    """Refuse sizes that cannot be divided among processors, if each has a share."""
    if times.collective not in _SHARED:
        return
    uneven = np.flatnonzero(times.size % times.processors != 0)
    if uneven.size:
        n, size = (float(one[uneven[0]]) for one in (times.processors, times.size))
        msg = (
            f"size {digits(size)} B does not divide among {digits(n)} processors: S is the whole "
            f"buffer of an {times.collective}; check the column and its unit"
        )
        raise MeasurementError(msg)


def _predicted(fit: CollectiveFit, processors: int, size: float) -> Predicted:
    if fit.times.collective in _SHARED and size % processors != 0:
        msg = f"--at: {digits(size)} B do not divide among {processors} processors"
        raise MeasurementError(msg)
    try:
        return fit.predicted(processors, size)
    except HeadwayError as error:
        msg = f"--at: {str(error).replace('(per_machine)', '(--per-machine)')}"
        raise MeasurementError(msg) from None


def protocol(level: CollectiveLevel, piece: CollectivePiece) -> str:
    """The NCCL protocol that uses this share of the last piece's bandwidth.

    Simple is the last piece and any other of its bandwidth; LL128 has at most 120/128 of it, LL at
    most half. Empty if the data show no cost per byte.

    Parameters
    ----------
    level, piece
        A level, and one of its pieces.
    """
    last, own = level.limit(level.pieces[-1]), level.limit(piece)
    if not np.isfinite(own) or not np.isfinite(last):
        return ""
    if own > LL128_SHARE * _ALIKE * last:
        return "Simple"
    return "LL128" if own > LL_SHARE * _ALIKE * last else "LL"


def asked_of(text: str) -> tuple[int, float]:
    """Read a request for a prediction, such as ``n=16,size=256MiB``.

    Raises
    ------
    MeasurementError
        For any other text.

    Examples
    --------
    >>> asked_of("n=16,size=256MiB")
    (16, 268435456.0)
    """
    parts = [part.partition("=") for part in text.split(",")]
    given = {name.strip(): value.strip() for name, _, value in parts}
    count = given.get("n", "")
    if (
        len(parts) != len(given)
        or given.keys() != {"n", "size"}
        or not count.isascii()
        or not count.isdigit()
    ):
        msg = f"--at: {quoted(text)} is not like n=16,size=256MiB"
        raise MeasurementError(msg)
    size = quantity(given["size"], unit("B"), "--at size")
    if not (1 <= size < float("inf") and size == int(size)):
        msg = f"--at: size is {digits(size)} B; it must be a whole number of bytes, 1 or more"
        raise MeasurementError(msg)
    return int(count[:9]), size
