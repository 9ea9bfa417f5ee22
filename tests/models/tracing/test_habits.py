"""Traces as tracers and stores write them who have habits of their own."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from headway.models.tracing.measured import Measured
from headway.models.tracing.traced import TracedModel, model_traces
from tests.models.tracing.test_traced_models import SHOP
from tests.oracles.traced_services import play
from tests.support.command import headway, refusal
from tests.support.trace_forms import (
    KINDS,
    as_clickhouse,
    as_go,
    as_jaeger,
    as_nezha,
    as_python,
    as_rcaeval,
    as_table,
    as_zipkin,
    in_base64,
    joined,
)

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


def _as_fields(document: Document) -> Document:
    """A stored span of Jaeger whose tags are fields of an object."""
    span = document["_source"]
    tags = {each["key"].replace(".", "@"): each["value"] for each in span.pop("tags")}
    return {"_source": {**span, "tags": [], "tag": tags}}


def _underscored(value: Any) -> Any:
    """A document of OpenTelemetry with the keys that protobuf has, and attributes as they were."""
    if isinstance(value, list):
        return [_underscored(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", key): _underscored(each)
        for key, each in value.items()
    }


def _by_python(document: Document) -> Document:
    """A document as Python's protobuf writes it if it keeps names of fields."""
    for span in spans_of(document):
        span |= {key: in_base64(span[key]) for key in ("traceId", "spanId", "parentSpanId")}
        span["kind"] = KINDS[span["kind"]]
    changed: Document = _underscored(document)
    return changed


def _by_go(document: Document) -> Document:
    """A document as Go's JSON writes the structures of protobuf."""
    changed: Document = _underscored(document)
    for resource in changed["resource_spans"]:
        for attribute in resource["resource"]["attributes"]:
            attribute["value"] = {"Value": {"StringValue": attribute["value"]["string_value"]}}
    return changed


def _labels_as_fields(document: Document) -> Document:
    """A document whose resources have an object of attributes."""
    for resource in document["resourceSpans"]:
        labels = resource["resource"]["attributes"]
        resource["resource"]["attributes"] = {
            each["key"]: each["value"]["stringValue"] for each in labels
        }
    return document


def _halved(document: Document, service: str) -> Document:
    """A document in which a service knows only the lower half of the trace's identifier."""
    for resource in document["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            whole = f"{'5a' * 8}{int(span['traceId'], 16) % 2**64:016x}"
            span["traceId"] = whole[16:] if service in json.dumps(resource["resource"]) else whole
    return document


def spans_of(document: Document) -> Iterator[Document]:
    """The spans of a document of OpenTelemetry."""
    for resource in document["resourceSpans"]:
        yield from resource["scopeSpans"][0]["spans"]


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
    "fields": lambda docs: "\n".join(
        json.dumps(_as_fields(span)) for span in _stored(map(jaeger, docs))
    ),
    "one trace in data": lambda docs: "\n".join(json.dumps({"data": jaeger(doc)}) for doc in docs),
    "indented": lambda docs: json.dumps({"data": list(map(jaeger, docs)), "total": 0}, indent=1),
    "zipkin lines": lambda docs: "\n".join(
        json.dumps(span) for doc in docs for span in as_zipkin(doc)
    ),
    "zipkin lines, joined": lambda docs: "\n".join(
        json.dumps(span) for span in joined([s for doc in docs for s in as_zipkin(doc)], told=False)
    ),
    "zipkin, joined, halves": lambda docs: json.dumps(
        joined([s for doc in docs for s in as_zipkin(_halved(doc, "stock"))], told=False)
    ),
    "zipkin traces": lambda docs: json.dumps(list(map(as_zipkin, docs))),
    "underscores": lambda docs: "\n".join(json.dumps(_underscored(doc)) for doc in docs),
    "underscores, batches": lambda docs: "\n".join(
        json.dumps(_underscored({"batches": doc["resourceSpans"]})) for doc in docs
    ),
    "by Python": lambda docs: json.dumps([_by_python(doc) for doc in docs], indent=1),
    "by Go": lambda docs: "\n".join(json.dumps(_by_go(doc)) for doc in docs),
    "labels as fields": lambda docs: "\n".join(json.dumps(_labels_as_fields(d)) for d in docs),
    "halves": lambda docs: "\n".join(json.dumps(_halved(doc, "stock")) for doc in docs),
    "halves first": lambda docs: "\n".join(json.dumps(_halved(doc, "web")) for doc in docs),
    "by Python's console": lambda docs: "\n".join(
        json.dumps(span, indent=4) for doc in docs for span in as_python(doc)
    ),
    "by Go's console": lambda docs: "\n".join(
        json.dumps(span, indent="\t") for doc in docs for span in as_go(doc)
    ),
    "by ClickHouse": lambda docs: "\n".join(
        json.dumps(row) for doc in docs for row in as_clickhouse(doc)
    ),
    "by ClickHouse, as CSV": lambda docs: as_table(
        [row for doc in docs for row in as_clickhouse(doc)]
    ),
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
    """Times of Jaeger and Zipkin are whole microseconds."""
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


@pytest.mark.parametrize("rows", [as_rcaeval, as_nezha], ids=["RCAEval", "Nezha"])
def test_data_sets_without_kinds_have_the_same_calls(
    tmp_path: Path, documents: list[Document], rows: Callable[[Document], list[Document]]
) -> None:
    """Work then has what calls take beyond the server's span."""
    usual = entries_in(tmp_path / "usual.jsonl", "\n".join(map(json.dumps, documents)))
    text = as_table([row for document in documents for row in rows(document)])
    found = entries_in(tmp_path / "shop.csv", text)
    assert found.keys() == usual.keys()
    for name, each in found.items():
        other = usual[name]
        assert (each.service, each.requests) == (other.service, other.requests)
        stages, others = ([block.stages for block in x.doing.blocks] for x in (each, other))
        assert stages == others
        assert other.work - 2e-6 <= each.work < other.work + 0.002
    read = json.loads(headway("read", tmp_path / "shop.csv", "--json").out)
    assert len(read["points"]) == len({each.service for each in usual.values()})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Timestamp": "2024-13-01 12:00:00"}, "the Timestamp of a span is '2024-13-01 12:00:00'"),
        ({"Timestamp": ""}, "the Timestamp of a span is '', no whole number of ns since 1970"),
        ({"Duration": "-4"}, "the Duration of a span is '-4', no whole number of ns since 1970"),
        ({"SpanId": ""}, "a span has no identifier"),
    ],
)
def test_broken_rows_are_refused_in_a_line(
    tmp_path: Path, changed: Mapping[str, str], message: str
) -> None:
    row = {
        "Timestamp": "2024-03-01 12:00:00.5", "TraceId": "a1", "SpanId": "01", "ParentSpanId": "",
        "SpanName": "do", "SpanKind": "Server", "ServiceName": "web", "Duration": "1000",
        "StatusCode": "Unset", **changed,
    }  # fmt: skip
    (tmp_path / "rows.csv").write_text(as_table([row]))
    assert f"trace 'a1': {message}" in refusal("model", tmp_path / "rows.csv")


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


def test_tables_with_broken_ends_of_lines_are_refused_in_a_line(
    tmp_path: Path, documents: list[Document]
) -> None:
    text = as_table(as_nezha(documents[0])).replace('"', "").replace("web", "w\reb")
    (tmp_path / "rows.csv").write_text(text, newline="")
    assert "rows.csv:2: not a row of a CSV table" in refusal("model", tmp_path / "rows.csv")


def test_what_is_nearly_a_trace_is_refused_alike_where_measurements_are_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "xray.json").write_text('{"Traces": [{"Id": "1", "Segments": []}]}')
    assert "X-Ray's segments; let OpenTelemetry's" in refusal("read", tmp_path / "xray.json")
