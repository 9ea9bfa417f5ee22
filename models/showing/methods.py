"""Methods of solution as tables, JSON and CSV: all of them, or those for a model."""

from math import isfinite
from typing import TYPE_CHECKING, Any

from headway.models.language.units import unit
from headway.models.tables.table import Column, Table
from headway.queueing.methods.method import Error, MethodRow
from headway.queueing.methods.registry import methods

if TYPE_CHECKING:
    from headway.models.solving.applicable import Applicable, ModelMethods


def methods_tables() -> list[Table]:
    """All methods, with what they answer, their kind, and what they need."""
    rows = list(methods().values())
    name = Column("method", tuple(row.name for row in rows))
    about = (
        name,
        Column("answers", tuple(map(_answers, rows))),
        Column("exact", tuple(map(_exact, rows))),
        Column("what it is", tuple(row.doc for row in rows)),
    )
    means = [row for row in rows if row.needs]
    needs = (
        Column("method", tuple(row.name for row in means)),
        Column("needs", tuple(map(_needs, means))),
    )
    notes = (
        "exact: where its needs are met; each answer states what is approximate about it",
        "methods without a row here answer other questions about the model",
    )
    more = (
        "headway methods MODEL: which of them apply, at what cost and error, and why others do not",
    )
    return [Table("methods", about, notes[:1]), Table("what they need", needs, (notes[1], *more))]


def methods_csv() -> str:
    """All methods as one table in CSV."""
    about, _ = methods_tables()
    needs = Column("needs", tuple(map(_needs, methods().values())))
    return Table("methods", (*about.columns, needs)).to_csv()


def methods_document() -> dict[str, Any]:
    """The JSON contract's document for `methods` without a model."""
    return {
        "methods": [
            {
                "name": row.name,
                "answers": sorted(answer.value for answer in row.answers),
                "exact": not row.approximates,
                "needs": [need.words for need in row.needs],
                "doc": row.doc,
            }
            for row in methods().values()
        ]
    }


def _answers(row: MethodRow) -> str:
    return ", ".join(sorted(answer.value for answer in row.answers))


def _exact(row: MethodRow) -> str:
    return "no" if row.approximates else "yes"


def _needs(row: MethodRow) -> str:
    own = dict.fromkeys(need.words for need in row.needs if not need.common)
    return "; ".join(own)


def model_methods_table(found: "ModelMethods") -> Table:
    """The methods for a model: those that apply first."""
    rows = sorted(found.methods, key=lambda one: not one.applies)
    columns = (
        Column("method", tuple(one.name for one in rows)),
        Column("applies", tuple("yes" if one.applies else "no" for one in rows)),
        Column("answers", tuple(", ".join(one.answers) for one in rows)),
        Column("time", tuple(one.seconds for one in rows), unit("s")),
        Column("error, or why not", tuple(_error(one) for one in rows)),
    )
    notes = (
        f"by default headway takes: {found.chosen or 'none, as none applies'}",
        "time: an estimate for one machine, where there is one",
    )
    return Table(f"methods for {found.model}", columns, notes)


def _error(one: "Applicable") -> str:
    """The error, or why it does not apply, without the name that begins the row."""
    if one.error is not None:
        return str(one.error)
    return one.reason.removeprefix(f"method {one.name} ").removesuffix("; use method auto")


def model_methods_document(found: "ModelMethods") -> dict[str, Any]:
    """The JSON contract's document for `methods` with a model."""
    return {
        "model": found.model,
        "chosen": found.chosen or None,
        "methods": [
            {
                "name": one.name,
                "answers": list(one.answers),
                "applies": one.applies,
                "reason": one.reason,
                "exact": one.error.exact if one.error else None,
                "error": _percentages(one.error),
                "seconds": one.seconds,
            }
            for one in found.methods
        ],
    }


def _percentages(error: Error | None) -> dict[str, Any] | None:
    """Largest measured errors [%]; null for an exact answer, or for a part that is not known."""
    if error is None or error.exact:
        return None
    parts = {"throughput": error.throughput, "response_time": error.response_time}
    known = {name: value if isfinite(value) else None for name, value in parts.items()}
    return {**known, "region": error.region, "measured_by": error.measured_by}
