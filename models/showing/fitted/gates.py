"""Gates described: one row per check; a Markdown summary, and JUnit's XML for test viewers."""

from xml.etree import ElementTree

from headway.models.inference.gate import Gate, Verdict
from headway.models.language.scales import Scale
from headway.models.tables.description import Description, Records, field


def describe(gate: Gate) -> Description:
    """One row per check."""
    return Description(
        records=lambda: _records(gate),
        scale=Scale,
        tables=lambda scale: [_records(gate).table(gate.title, scale)],
        document=lambda rows: {"passes": gate.passes, "strict": gate.is_strict, "checks": rows},
    )


def _records(gate: Gate) -> Records:
    checks = gate.checks
    return Records(
        (
            field("group", (each.group for each in checks), title="group"),
            field("check", (each.name for each in checks), title="check"),
            field("verdict", (each.verdict.value for each in checks), title="verdict"),
            field("text", (each.text for each in checks), title="what was found"),
        )
    )


def markdown(gate: Gate) -> str:
    """The checks as a Markdown table, for the summary of a job."""
    rows = [
        f"| {each.verdict} | {each.group}: {each.name} | {_cell(each.text)} |"
        for each in gate.checks
    ]
    head = ["| verdict | check | what was found |", "|---|---|---|"]
    return "\n".join([f"### Load test {gate.title}", "", *head, *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def junit(gate: Gate) -> str:
    """The checks as JUnit test cases; undecided ones count as skipped, or as failed if strict."""
    checks, failing = gate.checks, {Verdict.FAILED, *([Verdict.UNDECIDED] * gate.is_strict)}
    failed = sum(each.verdict in failing for each in checks)
    undecided = sum(each.verdict is Verdict.UNDECIDED for each in checks)
    counts = {"tests": len(checks), "failures": failed}
    counts["skipped"] = 0 if gate.is_strict else undecided
    said = {key: str(value) for key, value in counts.items()}
    suite = ElementTree.Element("testsuite", {"name": "headway gate", **said})
    for each in checks:
        named = {"classname": f"headway.{each.group}", "name": each.name}
        case = ElementTree.SubElement(suite, "testcase", named)
        if each.verdict is not Verdict.PASSED:
            kind = "failure" if each.verdict in failing else "skipped"
            ElementTree.SubElement(case, kind, {"message": each.text})
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suite, "unicode")}\n'
