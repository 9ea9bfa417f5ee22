"""Traces as tracers and stores write them who have habits of their own."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from headway.models.tracing.measured import Measured
from headway.models.tracing.traced import TracedModel, model_traces
from tests.models.tracing.test_traced_models import SHOP
from tests.oracles.traced_services import play
from tests.support.trace_forms import as_jaeger

Document = dict[str, Any]


def jaeger(document: Document) -> Document:
    trace: Document = as_jaeger(document)["data"][0]
    return trace


def _follows(trace: Document) -> Document:
    """Jaeger's trace with a reference FOLLOWS_FROM in place of each CHILD_OF."""
    followed: Document = json.loads(json.dumps(trace).replace("CHILD_OF", "FOLLOWS_FROM"))
    return followed


def _padded(trace: Document) -> Document:
    """Jaeger's trace with zeros before the identifier of the trace in references."""
    for span in trace["spans"]:
        for reference in span["references"]:
            reference["traceID"] = f"0000{reference['traceID']}"
    return trace


def _stored(traces: Iterable[Document]) -> list[Document]:
    """Spans of Jaeger as Elasticsearch answers them."""
    return [
        {"_source": {**span, "process": trace["processes"][span["processID"]]}}
        for trace in traces
        for span in trace["spans"]
    ]


def _in_capitals(document: Document) -> Document:
    """Trace of OpenTelemetry in which stock writes identifiers in capitals."""
    for resource in document["resourceSpans"]:
        if "stock" in json.dumps(resource["resource"]):
            for span in resource["scopeSpans"][0]["spans"]:
                span |= {key: span[key].upper() for key in ("traceId", "spanId", "parentSpanId")}
    return document


def _linked(document: Document) -> Document:
    """Trace of OpenTelemetry in which spans link to their parents in place of naming them."""
    for resource in document["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            if span["parentSpanId"]:
                span["links"] = [{"traceId": span["traceId"], "spanId": span["parentSpanId"]}]
                span["parentSpanId"] = ""
    return document


HABITS: dict[str, Callable[[list[Document]], str]] = {
    "follows": lambda docs: json.dumps({"data": [_follows(t) for t in map(jaeger, docs)]}),
    "padded": lambda docs: json.dumps({"data": [_padded(t) for t in map(jaeger, docs)]}),
    "hits": lambda docs: json.dumps({"hits": {"hits": _stored(map(jaeger, docs))}}),
    "dumped": lambda docs: "\n".join(map(json.dumps, _stored(map(jaeger, docs)))),
    "capitals": lambda docs: "\n".join(json.dumps(_in_capitals(doc)) for doc in docs),
    "links": lambda docs: "\n".join(json.dumps(_linked(doc)) for doc in docs),
}


def entries_in(path: Path, text: str) -> dict[str, Measured]:
    path.write_text(text)
    return {each.operation: each for each in modelled(path).services.entries.values()}


def modelled(path: Path) -> TracedModel:
    return model_traces([str(path)])


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """Traces of the shop."""
    return [json.loads(line) for line in play(SHOP, 60.0, 150, 3).lines]


@pytest.mark.parametrize("habit", HABITS)
def test_habits_change_no_call(tmp_path: Path, documents: list[Document], habit: str) -> None:
    """Jaeger's times are whole microseconds."""
    usual = entries_in(tmp_path / "usual.jsonl", "\n".join(map(json.dumps, documents)))
    found = entries_in(tmp_path / "shop.json", HABITS[habit](json.loads(json.dumps(documents))))
    assert found.keys() == usual.keys()
    for name, each in found.items():
        other = usual[name]
        assert (each.service, each.requests) == (other.service, other.requests)
        assert each.work == pytest.approx(other.work, abs=2e-6)
        stages, others = ([block.stages for block in x.doing.blocks] for x in (each, other))
        assert stages == others
        assert each.messages == {}


def spans(service: str, start: int, took: int) -> Document:
    """A trace of one span [ms]."""
    span = {
        "traceId": f"{start:x}",
        "spanId": "a",
        "name": "do",
        "kind": 2,
        "startTimeUnixNano": str(start * 10**6),
        "endTimeUnixNano": str((start + took) * 10**6),
    }
    label = {"key": "service.name", "value": {"stringValue": service}}
    return {"resource": {"attributes": [label]}, "scopeSpans": [{"spans": [span]}]}


def test_a_line_of_services_without_a_limit_names_a_few(tmp_path: Path) -> None:
    """So does one of services whose spans take no time."""
    each = [spans(name, 10 * k + 10, 4 * (k < 8)) for k, name in enumerate("abcdefghi")]
    path = tmp_path / "day.json"
    path.write_text(json.dumps({"resourceSpans": each}))
    texts = {found.kind: found.text for found in modelled(path).findings}
    assert "e (at least 1) and 4 more; the model has no limit" in texts["threads_not_seen"]
    assert texts["no_time"].startswith("the spans of i take no time; they have no work")
