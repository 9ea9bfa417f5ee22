"""LogGP parameters by message size, read off measured times: lines, breaks, and machines."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from headway.errors import HeadwayError, MeasurementError
from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.misfit import Misfit, line_misfits
from headway.loggp.measuring.readers import read_netgauge, read_plain
from headway.loggp.measuring.sizefit import (
    SAMPLES,
    Line,
    LineParameter,
    SizeFit,
    fit_sizes,
    machine_from_sizes,
)
from headway.loggp.measuring.sizes import SizeSeries
from headway.models.language.units import Unit, unit
from headway.models.showing.table import Cell, Column, Shown, Table

NETGAUGE_MARK = "PRTT(1,0,s)"
"""What Netgauge's output says in its head and no table of plain series does."""

NOT_DETERMINED = "not determined by this data"
NUMBERS = ("latency", "send_overhead", "receive_overhead", "gap", "gap_per_byte")

_BYTE, _MICROSECOND, _PER_BYTE = unit("B"), unit("us"), unit("ns/B")


def read_sizes(text: str, source: str) -> list[SizeSeries]:
    """Read Netgauge's output, or a CSV of ``size_bytes`` and ``time_us``, by what it holds.

    Raises
    ------
    MeasurementError
        For text that is neither; names file and line.
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
class MeasuredSizes(Shown):
    """Times by message size, and the lines and machines read off them.

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
        """How far the lines miss the medians of each series, by name."""
        return line_misfits(self.series, self.fit)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Series that the lines do not follow."""
        return tuple(
            f"lack of fit: the lines miss {one.name} at {one.size[found.worst]:g} bytes "
            f"{found.words}"
            for one, found in ((one, self.misfits[one.name]) for one in self.series)
            if found.is_lack_of_fit
        )

    def tables(self) -> list[Table]:
        """Breaks, lines of each series, and LogGP by range of sizes."""
        tables = [self._lines_table()]
        if self.fit.breaks:
            tables.append(self._breaks_table())
        return [*tables, self._machine_table()] if len(self.series) > 1 else tables

    def _lines_table(self) -> Table:
        found = [(name, line) for name, lines in self.fit.lines.items() for line in lines]
        columns = [
            Column("series", tuple(name for name, _ in found)),
            Column("from", tuple(line.first_size for _, line in found), _BYTE),
            Column("to", tuple(line.last_size for _, line in found), _BYTE),
        ]
        for part, shown in (("intercept", _MICROSECOND), ("slope", _PER_BYTE)):
            texts = tuple(_text(getattr(line, part), shown) for _, line in found)
            columns.append(Column(f"{part} [{shown}]", texts))
        return Table(f"{self.source}: time by message size", tuple(columns), self._notes())

    def _notes(self) -> tuple[str, ...]:
        spread = ", ".join(f"{name} {100 * d:.2g} %" for name, d in self.fit.deviation.items())
        notes = [f"spread of one measurement: {spread}"]
        first = next(iter(self.fit.lines.values()))[0]
        if first.intercept.interval is None:
            notes.append("no intervals: repeat the measurements, as further rows")
        else:
            notes.append("in brackets: 95 % intervals, breaks held")
        return (*notes, *self.warnings)

    def _breaks_table(self) -> Table:
        breaks = self.fit.breaks
        sure = [f"{b.interval[0]:g} to {b.interval[1]:g}" if b.interval else "-" for b in breaks]
        columns = (
            Column("break above", tuple(b.below for b in breaks), _BYTE),
            Column("and up to", tuple(b.above for b in breaks), _BYTE),
            Column("95 % interval [B]", tuple(sure)),
            Column("", tuple("pinned" if b.pinned else b.advice for b in breaks)),
        )
        return Table("breaks", columns)

    def _machine_table(self) -> Table:
        lines = next(iter(self.fit.lines.values()))
        columns = [
            Column("from", tuple(line.first_size for line in lines), _BYTE),
            Column("to", tuple(line.last_size for line in lines), _BYTE),
        ]
        for name in NUMBERS:
            shown = _PER_BYTE if name == "gap_per_byte" else _MICROSECOND
            cells = tuple(_cell(machine, name) for machine in self.machines)
            columns.append(Column(name.replace("_", " "), cells, shown))
        why = tuple(machine for machine in self.machines if isinstance(machine, str))
        notes = ("latency in the papers' convention: overheads and bytes taken out", *why)
        return Table("LogGP near the first of these sizes", tuple(columns), notes)

    def document(self) -> dict[str, Any]:
        """The JSON contract's document."""
        return {
            "breaks": [asdict(one) for one in self.fit.breaks],
            "series": {
                name: {
                    "relative_deviation": self.fit.deviation[name],
                    "lack_of_fit": self.misfits[name].document(),
                    "lines": [_line_document(line) for line in lines],
                }
                for name, lines in self.fit.lines.items()
            },
            "regimes": [
                {
                    "first_size": line.first_size,
                    "last_size": line.last_size,
                    **{name: _cell(machine, name) for name in NUMBERS},
                    "not_determined": machine if isinstance(machine, str) else None,
                }
                for line, machine in zip(
                    next(iter(self.fit.lines.values())), self.machines, strict=True
                )
            ],
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[dict[str, Any]]:
        """One dict a line: series, sizes, intercept and slope in SI."""
        return [
            {"series": name, **_line_document(line)}
            for name, lines in self.fit.lines.items()
            for line in lines
        ]

    def to_json(self) -> str:
        """Strict JSON by the contract in docs/design.md."""
        from headway.models.showing.solutions import strict_json

        return strict_json(self.document())

    def to_csv(self) -> str:
        """A row a line in SI; cells that the data do not determine are empty."""
        rows = self.rows()
        columns = [Column("series", tuple(row["series"] for row in rows))]
        columns += [
            Column(name, tuple(row[name] for row in rows), _BYTE)
            for name in ("first_size", "last_size")
        ]
        for part, shown in (("intercept", unit("s")), ("slope", unit("s/B"))):
            ends = [row[part]["ci95"] or (None, None) for row in rows]
            columns.append(Column(part, tuple(row[part]["value"] for row in rows), shown))
            columns += [
                Column(f"{part}_{side}", tuple(end[place] for end in ends), shown)
                for place, side in enumerate(("low", "high"))
            ]
        columns.append(Column("lack_of_fit", tuple(self._missed(row["series"]) for row in rows)))
        return Table("", tuple(columns)).to_csv()

    def _missed(self, series: str) -> str:
        return "yes" if self.misfits[series].is_lack_of_fit else "no"

    def plot(self) -> Any:
        """Draw times, lines and breaks over message size, as a matplotlib Figure."""
        from headway.models.plotting.signatures import sizes_figure

        return sizes_figure(self)


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


def _cell(machine: LogGP | str, name: str) -> Cell:
    return None if isinstance(machine, str) else float(getattr(machine, name))


def _text(parameter: LineParameter, shown: Unit) -> str:
    """A parameter with its interval in a unit, or that it is not determined."""
    ends = None if parameter.interval is None else [e / shown.scale for e in parameter.interval]
    if not parameter.determined:
        return NOT_DETERMINED + (f" (at most {ends[1]:.4g})" if ends else "")
    interval = f" ({ends[0]:.4g} to {ends[1]:.4g})" if ends else ""
    return f"{parameter.value / shown.scale:.4g}{interval}"


def _line_document(line: Line) -> dict[str, Any]:
    return {
        "first_size": line.first_size,
        "last_size": line.last_size,
        **{part: _parameter_document(getattr(line, part)) for part in ("intercept", "slope")},
    }


def _parameter_document(parameter: LineParameter) -> dict[str, Any]:
    return {
        "value": parameter.value if parameter.determined else None,
        "ci95": parameter.interval,
        "determined": parameter.determined,
    }
