"""Measured collective operations described: pieces by size, bandwidths, predictions."""

from collections.abc import Iterator
from typing import Any

from headway.loggp.measuring.sizefit import LineParameter
from headway.loggp.programs.collective_pieces import PART_NAMES, CollectivePiece
from headway.loggp.programs.measured_collectives import CollectiveLevel, Predicted
from headway.models.language.scales import Scale
from headway.models.language.units import Unit, unit
from headway.models.signatures.collective import MeasuredCollective, protocol
from headway.models.tables.description import Description, Field, Records, Row, field
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits, significant

_BYTE, _TIME, _PER_BYTE, _RATE = unit("B"), unit("us"), unit("us/MB"), unit("GB/s")
_UNITS = {"start": _TIME, "step": _TIME, "copy": _PER_BYTE, "wire": _PER_BYTE}
_SI = {"start": unit("s"), "step": unit("s"), "copy": unit("s/B"), "wire": unit("s/B")}
_STEPS = {"ring": "n - 1", "tree": "log2 n"}


def describe(measured: MeasuredCollective) -> Description:
    """One row per piece in SI; cells that the data do not determine are empty."""
    each = [(level, piece) for level in measured.fit.levels for piece in level.pieces]
    limits = [level.limit(piece) for level, piece in each]
    records = Records(
        (
            field("processors", (_counts(level) for level, _ in each)),
            field("growth", (str(level.growth) for level, _ in each)),
            field("first_size", (piece.first_size for _, piece in each), _BYTE),
            field("last_size", (piece.last_size for _, piece in each), _BYTE),
            *(one for name in PART_NAMES for one in _part_fields(name, each)),
            field("protocol", (protocol(*pair) or None for pair in each)),
            field(
                "bus_bandwidth_limit",
                (rate if rate < float("inf") else None for rate in limits),
                unit("B/s"),
            ),
            field("relative_deviation", (level.deviation for level, _ in each)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale(),
        tables=lambda scale: list(_tables(measured, each, scale)),
        document=lambda rows: _document(measured, rows),
    )


def _counts(level: CollectiveLevel) -> str:
    return " ".join(map(str, level.counts))


def _part_fields(name: str, each: list[tuple[CollectiveLevel, CollectivePiece]]) -> Iterator[Field]:
    parts: list[LineParameter] = [getattr(piece, name) for _, piece in each]
    values = [one.value if one.determined else None for one in parts]
    yield Field((name, "value"), values, _SI[name], (name,))
    sides = (f"{name}_low", f"{name}_high")
    yield Field((name, "ci95"), [one.interval for one in parts], _SI[name], sides)
    yield Field((name, "determined"), [one.determined for one in parts])


def _tables(
    measured: MeasuredCollective,
    each: list[tuple[CollectiveLevel, CollectivePiece]],
    scale: Scale,
) -> Iterator[Table]:
    times = measured.times
    words = ", ".join(filter(None, (measured.datatype, measured.place)))
    kind = f"{times.collective}{f' ({words})' if words else ''}"
    source = measured.sources[0] + " ..." * (len(measured.sources) > 1)
    ends = _ends(each, scale)
    starts = [_column(name, each) for name in ("start", "step")]
    steps = Column("steps", tuple(_step_words(level) for level, _ in each))
    yield Table(f"{source}: {kind}, time by size", (*ends, steps, *starts), _law(measured))
    limits = [level.limit(piece) for level, piece in each]
    limit = Column(
        "limit [GB/s]",
        tuple(four_digits(one / _RATE.scale) if one < float("inf") else None for one in limits),
    )
    named = Column("as", tuple(protocol(*pair) or "-" for pair in each))
    costs = [_column(name, each) for name in ("copy", "wire")]
    yield Table("per byte", (*ends, *costs, limit, named), _per_byte_notes(measured))
    yield _quoted(measured, scale)
    if measured.predictions:
        yield _predictions(measured.predictions, scale)


def _ends(each: list[tuple[CollectiveLevel, CollectivePiece]], scale: Scale) -> list[Column]:
    return [
        Column("n", tuple(_counts(level) for level, _ in each)),
        Column("from", tuple(scale.stated(piece.first_size, _BYTE) for _, piece in each)),
        Column("to", tuple(scale.stated(piece.last_size, _BYTE) for _, piece in each)),
    ]


def _step_words(level: CollectiveLevel) -> str:
    return "-" if len(level.counts) < 2 else _STEPS[level.growth]


def _column(name: str, each: list[tuple[CollectiveLevel, CollectivePiece]]) -> Column:
    shown = _UNITS[name]
    parts = [getattr(piece, name) for _, piece in each]
    return Column(f"{name} [{shown}]", tuple(_text(part, shown) for part in parts))


def _text(part: LineParameter, shown: Unit) -> str:
    """A parameter with its interval, or its upper limit if it may well be 0."""
    if part.interval is None:
        return "-"
    low, high = (four_digits(end / shown.scale) for end in part.interval)
    if not part.determined:
        return f"at most {high}"
    return f"{four_digits(part.value / shown.scale)} ({low} to {high})"


def _law(measured: MeasuredCollective) -> tuple[str, ...]:
    times = measured.times
    across = any(level.per_machine for level in measured.fit.levels)
    notes = ["time = start + steps x step + S (copy + wire (n - 1) / n), S the whole buffer"]
    if across:
        notes.append(f"beyond {measured.fit.per_machine} processors, n counts machines")
    edges = [
        f"{low.counts[-1]} and {high.counts[0]}"
        for low, high in zip(measured.fit.levels, measured.fit.levels[1:], strict=False)
    ]
    if edges:
        notes.append(f"a boundary of the machine lies between {'; '.join(edges)} processors")
    if any(len(level.counts) == 2 for level in measured.fit.levels):
        notes.append("two numbers of processors cannot tell a ring from a tree")
    notes.append(
        f"{times.time.size} times, median error {significant(100 * measured.median_error, 2)}%; in "
        "brackets: 95% intervals, with the pieces fixed"
    )
    return (*notes, *measured.warnings)


def _per_byte_notes(measured: MeasuredCollective) -> tuple[str, ...]:
    notes = ["limit: bus bandwidth of endless messages at the largest n of a row"]
    if any(len(level.pieces) > 1 for level in measured.fit.levels):
        notes.append(
            "as: the protocol of NCCL that can use such a share of the last row's bandwidth: LL "
            "half, LL128 120/128"
        )
    return tuple(notes)


def _quoted(measured: MeasuredCollective, scale: Scale) -> Table:
    quoted = measured.quoted
    return Table(
        "highest bandwidth measured",
        (
            Column("n", tuple(str(one.processors) for one in quoted)),
            Column("size", tuple(scale.stated(one.size, _BYTE) for one in quoted)),
            Column("bandwidth", tuple(one.bandwidth for one in quoted), _RATE),
            Column("bus bandwidth", tuple(one.bus_bandwidth for one in quoted), _RATE),
        ),
        (f"bandwidth is S / T; bus bandwidth that times {_factor(measured)}",),
    )


def _factor(measured: MeasuredCollective) -> str:
    factors = {"all-reduce": "2 (n - 1) / n", "broadcast": "1"}
    return factors.get(str(measured.times.collective), "(n - 1) / n")


def _predictions(predictions: tuple[Predicted, ...], scale: Scale) -> Table:
    notes = dict.fromkeys(note for one in predictions for note in one.notes)
    return Table(
        "predicted, with a band of 95% of single measurements",
        (
            Column("n", tuple(str(one.processors) for one in predictions)),
            Column("size", tuple(scale.stated(one.size, _BYTE) for one in predictions)),
            Column("time", tuple(one.time for one in predictions), _TIME),
            Column("from", tuple(one.low for one in predictions), _TIME),
            Column("to", tuple(one.high for one in predictions), _TIME),
            Column("bus bandwidth", tuple(one.bus_bandwidth for one in predictions), _RATE),
        ),
        tuple(notes),
    )


def _document(measured: MeasuredCollective, rows: list[Row]) -> dict[str, Any]:
    return {
        "collective": str(measured.times.collective),
        "type": measured.datatype or None,
        "place": measured.place or None,
        "per_machine": measured.fit.per_machine or None,
        "measurements": int(measured.times.time.size),
        "median_error": measured.median_error,
        "levels": [list(level.counts) for level in measured.fit.levels],
        "pieces": [_piece(row) for row in rows],
        "highest": [
            {
                "processors": one.processors,
                "size": one.size,
                "time": one.time,
                "bandwidth": one.bandwidth,
                "bus_bandwidth": one.bus_bandwidth,
            }
            for one in measured.quoted
        ],
        "predictions": [
            {
                "processors": one.processors,
                "size": one.size,
                "time": one.time,
                "band95": [one.low, one.high],
                "bus_bandwidth": one.bus_bandwidth,
                "notes": list(one.notes),
            }
            for one in measured.predictions
        ],
        "warnings": list(measured.warnings),
    }


def _piece(row: Row) -> Row:
    return row | {"processors": [int(one) for one in row["processors"].split()]}
