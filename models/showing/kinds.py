"""Kinds of station, disciplines and kinds of measured files as tables, JSON and CSV."""

from dataclasses import fields
from typing import Any

from headway.lazy import loaded
from headway.models.files.building.keys import FILE_KEYS, summary
from headway.models.reading.recognise import reader_kinds
from headway.models.tables.table import Column, Table
from headway.queueing.disciplines.discipline import Discipline, ProductForm
from headway.queueing.disciplines.table import discipline_names, find_discipline
from headway.queueing.stations.listed.kinds import (
    STATIONS,
    WRITTEN,
    station_kind,
    station_kinds,
)
from headway.records import dataclass


@dataclass(frozen=True)
class _Kind:
    """A kind of station as lists show it."""

    kind: str
    numbers: tuple[str, ...]
    doc: str
    closed: str


_CLOSED = {(True, False): "yes", (False, True): "nearly", (False, False): "no"}
"""Whether closed networks support a kind: exactly, approximately, or not."""


def _stations() -> list[_Kind]:
    kinds = []
    for name in station_kinds():
        kind = station_kind(name)
        numbers = tuple(FILE_KEYS.get(f.name, f.name) for f in fields(kind))  # type: ignore[arg-type]
        nearly = kind.can.mixed or kind.can.forks
        closed = _CLOSED[kind.can.product_form is not None, nearly]
        kinds.append(_Kind(name, numbers, _title(kind), closed))
    written = [
        _Kind(
            name,
            tuple(word.numbers),
            word.title or _title(loaded(f"{word.module}:{name}")),
            word.closed,
        )
        for name, word in WRITTEN.items()
    ]
    own = len(STATIONS)
    return kinds[:own] + written + kinds[own:]


def _title(kind: type) -> str:
    return summary(kind).rstrip(".")


def kinds_tables() -> list[Table]:
    """All kinds of station, discipline and file; those of other packages come last."""
    return [_station_table(), _discipline_table(), reader_table()]


def reader_table() -> Table:
    """All kinds of file, with their contents."""
    kinds = reader_kinds()
    columns = (Column("file", tuple(kinds)), Column("contents", tuple(kinds.values())))
    return Table("kinds of measured files", columns)


def _station_table() -> Table:
    kinds = _stations()
    columns = (
        Column("kind", tuple(k.kind for k in kinds)),
        Column("numbers", tuple(", ".join(k.numbers) for k in kinds)),
        Column("closed", tuple(k.closed for k in kinds)),
        Column("description", tuple(k.doc for k in kinds)),
    )
    note = "closed: whether closed networks support it, exactly (yes) or approximately (nearly)"
    return Table("kinds of station", columns, (note,))


def _discipline_table() -> Table:
    """All disciplines, with the job that each serves."""
    known = [find_discipline(name) for name in discipline_names()]
    columns = (
        Column("discipline", tuple(known)),
        Column("who is served", tuple(each.doc for each in known)),
        Column("product form", tuple(map(_form, known))),
    )
    return Table("disciplines", columns)


def _form(discipline: Discipline) -> str:
    """The service times for which a kind has a product form."""
    if discipline.by_priority:
        return ProductForm.NONE.value
    several = discipline.form is discipline.pool_form
    return discipline.form.value + ("" if several else " at one server")


def finding_table() -> Table:
    """All kinds of finding in load tests and traces, the most severe first."""
    from headway.models.analysis.audit import KINDS
    from headway.models.auditing.finding import Severity

    kinds = sorted(KINDS, key=lambda kind: list(Severity).index(kind.severity))
    columns = (
        Column("finding", tuple(kind.name for kind in kinds)),
        Column("severity", tuple(kind.severity.value for kind in kinds)),
        Column("meaning", tuple(kind.means for kind in kinds)),
        Column("remedy", tuple(kind.remedy for kind in kinds)),
    )
    return Table("kinds of findings", columns)


def reduction_table() -> Table:
    """All kinds of reduction of a sweep."""
    from headway.models.sweeping.reductions.grammar import REDUCTIONS

    kinds = REDUCTIONS.values()
    columns = (
        Column("reduction", tuple(kind.pattern for kind in kinds)),
        Column("keeps", tuple(kind.means for kind in kinds)),
    )
    note = "KIND or KIND=... without an output applies to every requested output: quantiles=p50,p99"
    return Table("kinds of reductions", columns, (note,))


def kinds_csv() -> str:
    """One row of CSV per kind of station."""
    return _station_table().to_csv()


def kinds_document() -> dict[str, Any]:
    """The JSON contract's document for `kinds`."""
    from headway.models.analysis.audit import KINDS
    from headway.models.sweeping.reductions.grammar import REDUCTIONS

    stations = [
        {"kind": k.kind, "numbers": list(k.numbers), "closed": k.closed != "no", "doc": k.doc}
        for k in _stations()
    ]
    findings = [
        {"kind": k.name, "severity": k.severity.value, "means": k.means, "remedy": k.remedy}
        for k in KINDS
    ]
    kept = [{"pattern": kind.pattern, "means": kind.means} for kind in REDUCTIONS.values()]
    orders = [find_discipline(name) for name in discipline_names()]
    return {
        "stations": stations,
        "disciplines": [{"discipline": str(each), "doc": each.doc} for each in orders],
        "files": list(reader_kinds()),
        "findings": findings,
        "reductions": kept,
    }
