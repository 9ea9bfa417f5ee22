"""LogGP parameters by message size, read off measured times: lines, breaks, and machines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from headway.errors import HeadwayError, MeasurementError
from headway.loggp.measuring.misfit import Misfit, line_misfits
from headway.loggp.measuring.readers import read_netgauge
from headway.loggp.measuring.regimes import numbers_at
from headway.loggp.measuring.sizefit import SAMPLES, SizeFit, fit_sizes
from headway.loggp.measuring.sizes import SizeSeries
from headway.models.signatures.timings import is_told, table_series, tool_series
from headway.models.tables.shown import Answer

NETGAUGE_MARK = "PRTT(1,0,s)"
"""What Netgauge's output says in its head and no table of plain series does."""

_MOST_SIZES = 6  # of those that lines miss, told in a warning

NUMBERS = ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte")


def read_sizes(text: str, source: str) -> list[SizeSeries]:
    r"""Read series by message size: what a tool wrote, or a CSV by the names of its columns.

    Known by what they hold are Netgauge's patterns (LogGP, and pairs), the OSU micro-benchmarks,
    the Intel MPI Benchmarks and SimGrid's calibrations; `table_series` says which columns count.

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
        return tool_series(text, source) if is_told(text) else table_series(text, source)


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
    regimes
        For each line of sizes the LogGP numbers near its first size, or why they are not known.

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
        regimes = tuple(numbers_at(fit, line.first_size) for line in lines)
        return cls(source, tuple(series), fit, regimes)

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
        pairs = [(one, self.misfits[one.name]) for one in self.series]
        return tuple(_missed(one, found) for one, found in pairs if found.is_lack_of_fit)


def _missed(one: SizeSeries, misfit: Misfit) -> str:
    """Say where lines miss a series, by how much, and what to do."""
    sizes = [f"{one.size[place]:g}" for place in misfit.missed if place != misfit.worst]
    more = f", ... ({len(sizes)} sizes)" if len(sizes) > _MOST_SIZES else ""
    also = f"; missed too: {', '.join(sizes[:_MOST_SIZES])}{more} bytes" if sizes else ""
    return (
        f"lack of fit: the lines miss {one.name} at {one.size[misfit.worst]:g} bytes "
        f"{misfit.words}{also}; measure more sizes about there, or hold a break with --pin SIZE"
    )


def samples(series: Sequence[SizeSeries]) -> int:
    """How many draws the intervals take: none where nothing was repeated."""
    return SAMPLES * len(series) if all(one.is_repeated for one in series) else 0
