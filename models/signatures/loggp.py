"""LogGP parameters by message size, from measured times: lines, breaks, and machines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

from headway.errors import HeadwayError, MeasurementError
from headway.loggp.measuring.misfit import Misfit, line_misfits
from headway.loggp.measuring.readers import read_netgauge
from headway.loggp.measuring.regimes import numbers_at
from headway.loggp.measuring.sizefit import SAMPLES, SizeFit, fit_sizes
from headway.loggp.measuring.sizes import SizeSeries
from headway.models.signatures.timings import is_tool_output, table_series, tool_series
from headway.models.tables.shown import Answer
from headway.numerals import data_size
from headway.records import dataclass

NETGAUGE_MARK = "PRTT(1,0,s)"
"""A column name that only Netgauge's output contains."""

_MOST_SIZES = 6  # most of the sizes that lines miss that a warning lists

NUMBERS = ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte")


def read_sizes(text: str, source: str) -> list[SizeSeries]:
    r"""Read series by message size: output of a tool, or CSV with named columns.

    Recognised by content: Netgauge's patterns (LogGP, and pairs), the OSU micro-benchmarks, the
    Intel MPI Benchmarks and SimGrid's calibrations; `table_series` lists the columns.

    Raises
    ------
    MeasurementError
        For any other text; names file and line.

    Examples
    --------
    >>> [one] = read_sizes("size_bytes,time_us\n1,5\n1000,6\n2000,7\n2000,8\n", "times.csv")
    >>> one.size.tolist(), one.repeats.tolist()
    ([1.0, 1000.0, 2000.0], [1, 1, 2])
    """
    if not text.strip():
        msg = f"{source}: is empty; give Netgauge's output or columns size_bytes,time_us"
        raise MeasurementError(msg)
    with _named(source):
        if NETGAUGE_MARK in text:
            return list(read_netgauge(text, source).values())
        return tool_series(text, source) if is_tool_output(text) else table_series(text, source)


@contextmanager
def _named(source: str) -> Iterator[None]:
    """Add the file name to errors without it."""
    try:
        yield
    except HeadwayError as error:
        text = str(error)
        msg = text if text.startswith(source) else f"{source}: {text}"
        raise MeasurementError(msg) from None


@dataclass(frozen=True)
class MeasuredSizes(Answer):
    r"""Times by message size, with their lines and machines.

    Parameters
    ----------
    source
        Source of the data.
    series
        The measured series, by size.
    fit
        Lines and breaks.
    regimes
        For each line, the LogGP parameters near its first size, or why they are unknown.

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
    regimes: tuple[Mapping[str, float | str], ...]

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
            Series from `read_sizes`.
        source
            Name of the source, for messages.
        pinned
            Last sizes before known breaks [B].
        on_sample
            Called after each of the `samples` draws for the intervals.

        Raises
        ------
        MeasurementError
            For times that fall with size, or pinned breaks with too few sizes between them.

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
        regimes = tuple(numbers_at(fit, line.first_size) for line in lines)
        return cls(source, tuple(series), fit, regimes)

    def __repr__(self) -> str:
        return f"MeasuredSizes({self.source}, {len(self.fit.breaks)} breaks)"

    @cached_property
    def misfits(self) -> dict[str, Misfit]:
        r"""Misfit of the lines to the medians of each series, by name.

        Examples
        --------
        >>> text = "size_bytes,time_us\n1000,6\n2000,7\n3000,8\n4000,9\n"
        >>> MeasuredSizes.of(read_sizes(text, "times.csv")).misfits["time"].is_lack_of_fit
        False
        """
        return line_misfits(self.series, self.fit)

    @property
    def warnings(self) -> tuple[str, ...]:
        r"""Warnings about series with a lack of fit.

        Examples
        --------
        >>> text = "size_bytes,time_us\n1000,6\n2000,7\n3000,8\n4000,9\n"
        >>> MeasuredSizes.of(read_sizes(text, "times.csv")).warnings
        ()
        """
        pairs = [(one, self.misfits[one.name]) for one in self.series]
        return tuple(_missed(one, misfit) for one, misfit in pairs if misfit.is_lack_of_fit)


def _missed(one: SizeSeries, misfit: Misfit) -> str:
    """Report where lines miss a series, by how much, and what to do."""
    sizes = [data_size(one.size[place]) for place in misfit.missed if place != misfit.worst]
    more = f", ... ({len(sizes)} sizes)" if len(sizes) > _MOST_SIZES else ""
    also = f"; others missed: {', '.join(sizes[:_MOST_SIZES])}{more}" if sizes else ""
    return (
        f"lack of fit: the lines miss {one.name} at {data_size(one.size[misfit.worst])} "
        f"{misfit.words}{also}; measure more sizes nearby, or set a break with --pin SIZE"
    )


def samples(series: Sequence[SizeSeries]) -> int:
    """Number of draws for the intervals: none without repeats."""
    return SAMPLES * len(series) if all(one.is_repeated for one in series) else 0
