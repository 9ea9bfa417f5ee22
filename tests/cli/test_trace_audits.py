"""Traces audited: the same is found whichever way it is asked."""

import html
import json

import pytest

from headway.models.analysis.audit import audit
from headway.models.auditing.finding import FindingKind
from headway.models.reading.loadtest import read
from headway.models.tracing import findings as trace_findings
from tests.cli.test_model_command import (
    MILLISECOND,
    STOCK,
    asked,
    document,
    findings,
    spans,
    told,
)
from tests.models.tracing.test_traced_models import otlp
from tests.support.command import headway, refusal


def test_traces_are_audited_as_such(tmp_path):
    """A clock an hour off, a caller that is missing, and a rate that halves after 5 s."""
    (tmp_path / "off.json").write_text(document(*asked(3_600_000)))
    begins = [*range(0, 5_000, 10), *range(5_000, 15_000, 20)]
    rows = [(f"{k + 1:x}", "", "page", at, at + 4) for k, at in enumerate(begins)]
    (tmp_path / "halves.json").write_text(document(spans("web", *rows)))
    (tmp_path / "cut.json").write_text(document(STOCK))
    for name, kinds in {
        "off": {"clock_off"},
        "halves": {"rate_not_steady"},
        "cut": {"spans_missing"},
    }.items():
        audited = json.loads(headway("audit", tmp_path / f"{name}.json", "--json").out)
        assert findings(audited) == kinds
    [halves] = [
        each
        for each in told(tmp_path / "halves.json", {})["findings"]
        if each["kind"] == "rate_not_steady"
    ]
    assert "the rate of halves changes after " in halves["text"]
    assert halves["value"] == pytest.approx(2, rel=0.05)


def test_traces_are_audited_alike_whichever_way_it_is_asked(tmp_path):
    """A clock that is off, and a copy of the traces beside a table and under a folder."""
    path = tmp_path / "off.json"
    path.write_text(document(*asked(3_600_000)))
    expected = json.loads(headway("audit", path, "--json").out)["findings"]
    assert [each["kind"] for each in expected] == ["clock_off"]
    for test in (str(path), path, read(path), read(tmp_path)):
        assert [each.text for each in audit(test).findings] == [expected[0]["text"]]
    gated = json.loads(headway("gate", path, "--json").out)["checks"]
    assert [each["text"] for each in gated] == [expected[0]["text"]]
    headway("report", "--data", path, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert expected[0]["text"] in html.unescape(page)
    assert "clock off" in page.partition("What was checked")[2]
    (tmp_path / "run.csv").write_text("offered_ops_s,response_ms\n40,12\n")
    assert "clock_off" in {each.kind for each in audit(read(tmp_path)).findings}


def test_every_finding_of_traces_is_listed():
    listed = [each["kind"] for each in json.loads(headway("kinds", "--json").out)["findings"]]
    assert len(listed) == len(set(listed))
    kinds = {each.name for each in vars(trace_findings).values() if isinstance(each, FindingKind)}
    assert kinds <= set(listed)


def test_the_share_of_traces_that_spans_say_was_kept_is_said_with_their_rate(tmp_path):
    """A tenth of the traces: th:e6666666666668 drops 0.9 of them (OpenTelemetry OTEP 235)."""
    each = [
        {"traceId": f"{k:x}", "spanId": "a", "startTimeUnixNano": str(k * 10 * MILLISECOND),
         "endTimeUnixNano": str((k * 10 + 4) * MILLISECOND), "traceState": "ot=th:e6666666666668"}
        for k in range(1, 41)
    ]  # fmt: skip
    path = tmp_path / "tenth.jsonl"
    path.write_text("\n".join(otlp(span) for span in each))
    [point] = read(path).points
    assert "The rate is that of the stored traces, 10% of all." in point.notes
    assert {each.kind for each in audit(path).findings} == {"sampled"}


def test_a_folder_of_impossible_spans_is_refused_in_one_line(tmp_path):
    """It ended in a traceback: the file is not the one that was named."""
    (tmp_path / "t.json").write_text(otlp({"endTimeUnixNano": "10"}))
    assert "a span ends before it starts" in refusal("audit", tmp_path)


def test_traces_without_a_span_are_refused_by_every_command(tmp_path):
    (tmp_path / "t.json").write_text('{"resourceSpans": []}')
    for command in ("audit", "read", "model"):
        assert "no spans; export at least one trace" in refusal(command, tmp_path)
