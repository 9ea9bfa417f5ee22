"""Layered services of other tools described: each value in their file beside headway's."""

from headway.models.analysis.imported import LayeredImport
from headway.models.showing.solved.imports import table_of, values_of
from headway.models.tables.description import Description, Records, field, words

_SINGULAR = {"processors": "processor", "tasks": "task", "entries": "entry"}


def describe(imported: LayeredImport) -> Description:
    """One row per value, in SI, of a processor, task or entry."""
    lines = imported.lines
    parts = [_SINGULAR[line.job_class] for line in lines]
    names = [line.station for line in lines]
    records = Records(
        (
            field("part", parts),
            words("part", parts),
            field("name", names),
            words("name", names),
            *values_of(lines),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: records.scale(imported.model.stated),
        tables=lambda scale: [table_of(imported, records, scale, ["part", "name"])],
        document=lambda rows: {
            "model": imported.model.name,
            "kind": "LQNX",
            "method": imported.solution.method,
            "approximation": imported.solution.approximation or None,
            "not_compared": list(imported.file.unread),
            "values": rows,
        },
    )
