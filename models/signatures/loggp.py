"""LogGP parameters by message size, read off measured times: lines, breaks, and machines."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from headway.errors import HeadwayError, MeasurementError
from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.misfit import Misfit, line_misfits
from headway.loggp.measuring.readers import read_netgauge, read_plain
from headway.loggp.measuring.sizefit import (
    SAMPLES,
    SizeFit,
    fit_sizes,
    machine_from_sizes,
)
from headway.loggp.measuring.sizes import SizeSeries
from headway.models.tables.shown import Answer

NETGAUGE_MARK = "PRTT(1,0,s)"
"""What Netgauge's output says in its head and no table of plain series does."""

NUMBERS = ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte")


def read_sizes(text: str, source: str) -> list[SizeSeries]:
    r"""Read Netgauge's output, or a CSV of ``size_bytes`` and ``time_us``, by what it holds.

    Raises
    ------
    MeasurementError
        For text that is neither; names file and line.

    Examples
    --------
    >>> [one] = read_sizes("size_bytes,time_us\n1,5\n1000,6\n2000,7\n2000,8\n", "times.csv")
    >>> one.size.tolist(), one.repeats.tolist()
    ([1.0, 1000.0, 2000.0], [1, 1, 2])
    """
    if not text.strip():
        msg = f"{source}: is empty; it needs Netgauge's output or columns size_bytes,time_us"
        raise MeasurementError(msg)
    with _named(source):
        if NETGAUGE_MARK in text:
            return list(read_netgauge(text, source).values())
        return [read_plain(text, "time", source)]


@contextmanager
def _named(source: str) -> Iterator[None]:
    """Put the file's name before whatever is refused without it."""
    try:
        yield
    except HeadwayError as error:
        told = str(error)
        msg = told if told.startswith(source) else f"{source}: {told}"
        raise MeasurementError(msg) from None


@dataclass(frozen=True)
class MeasuredSizes(Answer):
    r"""Times by message size, and the lines and machines read off them.

    Parameters
    ----------
    source
        Where they come from.
    series
        What was measured, by size.
    fit
        Lines and breaks.
    machines
        For each line of sizes the machine near its first size, or why there is none.

    Examples
    --------
    >>> text = "size_bytes,time_us\n1000,6\n2000,7\n3000,8\n4000,9\n"
    >>> [line] = next(iter(MeasuredSizes.of(read_sizes(text, "times.csv")).fit.lines.values()))
    >>> round(1e9 * line.slope.value, 9)  # 1 us for 1000 bytes
    1.0
    """

    source: str
    series: tuple[SizeSeries, ...]
    fit: SizeFit
    machines: tuple[LogGP | str, ...]

    @classmethod
    def of(
        cls,
        series: Sequence[SizeSeries],
        source: str = "data",
        pinned: Sequence[float] = (),
        on_sample: Callable[[], None] | None = None,
    ) -> "MeasuredSizes":
        """Fit lines and breaks to series measured at the same sizes.

        Parameters
        ----------
        series
            As `read_sizes` gives them.
        source
            Their name, for messages.
        pinned
            Sizes known to be the last before a break [B].
        on_sample
            Called after each of the `samples` draws that the intervals come from.

        Raises
        ------
        MeasurementError
            For times that fall with size, or pinned breaks with too few sizes between.

        Examples
        --------
        >>> import numpy as np
        >>> from headway.loggp import size_series
        >>> size = 2.0 ** np.arange(12)
        >>> MeasuredSizes.of([size_series("time", size, 5e-6 + 1e-9 * size)]).fit.breaks
        ()
        """
        with _named(source):
            fit = fit_sizes(series, pinned, on_sample=on_sample)
        lines = next(iter(fit.lines.values()))
        machines = tuple(_machine(fit, line.first_size) for line in lines)
        return cls(source, tuple(series), fit, machines)

    def __repr__(self) -> str:
        return f"MeasuredSizes({self.source}, {len(self.fit.breaks)} breaks)"

    @cached_property
    def misfits(self) -> dict[str, Misfit]:
        r"""How far the lines miss the medians of each series, by name.

        Examples
        --------
        >>> text = "size_bytes,time_us\n1000,6\n2000,7\n3000,8\n4000,9\n"
        >>> MeasuredSizes.of(read_sizes(text, "times.csv")).misfits["time"].is_lack_of_fit
        False
        """
        return line_misfits(self.series, self.fit)

    @property
    def warnings(self) -> tuple[str, ...]:
        r"""Series that the lines do not follow.

        Examples
        --------
        >>> text = "size_bytes,time_us\n1000,6\n2000,7\n3000,8\n4000,9\n"
        >>> MeasuredSizes.of(read_sizes(text, "times.csv")).warnings
        ()
        """
        return tuple(
            f"lack of fit: the lines miss {one.name} at {one.size[found.worst]:g} bytes "
            f"{found.words}"
            for one, found in ((one, self.misfits[one.name]) for one in self.series)
            if found.is_lack_of_fit
        )


def samples(series: Sequence[SizeSeries]) -> int:
    """How many draws the intervals take: none where nothing was repeated."""
    repeated = min(int(one.repeats.min()) for one in series) > 1
    return SAMPLES * len(series) if repeated else 0


def _machine(fit: SizeFit, size: float) -> LogGP | str:
    """Give the machine near a size, or say why there is none."""
    try:
        return machine_from_sizes(fit, size)
    except HeadwayError as error:
        return str(error)
