"""Traces as other tools write them, of those in OpenTelemetry's JSON."""

import csv
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from typing import Any


def as_jaeger(document: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of Jaeger."""
    kinds = {2: "server", 3: "client", 4: "producer", 5: "consumer"}
    spans, processes = [], {}
    for k, resource in enumerate(document["resourceSpans"]):
        processes[f"p{k}"] = {
            "serviceName": resource["resource"]["attributes"][0]["value"]["stringValue"]
        }
        for span in resource["scopeSpans"][0]["spans"]:
            start = int(span["startTimeUnixNano"]) // 1000
            spans.append(
                {
                    "traceID": span["traceId"],
                    "spanID": span["spanId"],
                    "processID": f"p{k}",
                    "operationName": span["name"],
                    "startTime": start,
                    "duration": int(span["endTimeUnixNano"]) // 1000 - start,
                    "references": [
                        {"refType": kind, "traceID": trace, "spanID": key}
                        for kind, trace, key in (
                            ("CHILD_OF", span["traceId"], span["parentSpanId"]),
                            *(("FOLLOWS_FROM", *link.values()) for link in span.get("links", ())),
                        )
                        if key
                    ],
                    "tags": [{"key": "span.kind", "type": "string", "value": kinds[span["kind"]]}],
                }
            )
    return {"data": [{"traceID": spans[0]["traceID"], "spans": spans, "processes": processes}]}


def as_zipkin(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Spans of Zipkin, version 2."""
    kinds = {2: "SERVER", 3: "CLIENT"}
    return [
        {
            "traceId": span["traceId"],
            "id": span["spanId"],
            "parentId": span["parentSpanId"],
            "name": span["name"],
            "kind": kinds[span["kind"]],
            "timestamp": int(span["startTimeUnixNano"]) // 1000,
            "duration": int(span["endTimeUnixNano"]) // 1000
            - int(span["startTimeUnixNano"]) // 1000,
            "localEndpoint": {
                "serviceName": resource["resource"]["attributes"][0]["value"]["stringValue"]
            },
        }
        for resource in document["resourceSpans"]
        for span in resource["scopeSpans"][0]["spans"]
    ]


def joined(spans: Sequence[Mapping[str, Any]], told: bool) -> list[dict[str, Any]]:
    """Servers with the identifier of their client, as Zipkin's tracers do where they can."""
    clients = {span["id"] for span in spans if span["kind"] == "CLIENT"}
    same = {span["id"]: span["parentId"] for span in spans if span["parentId"] in clients}
    above = {span["id"]: span["parentId"] for span in spans if span["kind"] == "CLIENT"}
    return [
        {
            **span,
            "id": same.get(span["id"], span["id"]),
            "parentId": same.get(parent, parent),
            **({"shared": True} if told and span["id"] in same else {}),
        }
        for span in spans
        for parent in [above.get(span["parentId"], span["parentId"])]
    ]


def in_base64(identifier: str) -> str:
    """An identifier as protocol buffers in JSON have bytes."""
    return b64encode(bytes.fromhex(identifier or "0" * 16)).decode()


KINDS = {2: "SPAN_KIND_SERVER", 3: "SPAN_KIND_CLIENT"}
AS_WRITTEN: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "kinds by their names": lambda s: {**s, "kind": KINDS[s["kind"]]},
    "kinds in small letters": lambda s: {**s, "kind": KINDS[s["kind"]][10:].lower()},
    "times as numbers": lambda s: {
        k: int(v) if k.endswith("UnixNano") else v for k, v in s.items()
    },
    "times with a point": lambda s: {
        k: float(v) if k.endswith("UnixNano") else v for k, v in s.items()
    },
    "identifiers in base 64": lambda s: {
        k: in_base64(v) if k.endswith("Id") else v for k, v in s.items()
    },
    "nothing as null": lambda s: {**s, "attributes": None, "links": None, "events": None},
    "no attributes": lambda s: {k: v for k, v in s.items() if k != "attributes"},
}
IN_FILES: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "a list": json.dumps,
    "on several lines": lambda docs: "\n".join(json.dumps(doc, indent=1) for doc in docs),
    "answers of Tempo": lambda docs: "\n".join(
        json.dumps({"batches": doc["resourceSpans"]}) for doc in docs
    ),
    "answers of Jaeger": lambda docs: "\n".join(json.dumps({"result": doc}) for doc in docs),
    "with another end of line in a text": lambda docs: "\n".join(
        json.dumps(doc).replace("somebody", "some\u2028body") for doc in docs
    ),
    "with scopes of old": lambda docs: json.dumps(docs).replace(
        "scopeSpans", "instrumentationLibrarySpans"
    ),
    "with empty exports": lambda docs: "\n".join(
        json.dumps(each) for doc in docs for each in ({"resourceSpans": []}, doc)
    ),
}


def _time(nanoseconds: str, digits: int, between: str = "T", zone: str = "") -> str:
    """A time with a number of digits of seconds, in UTC."""
    whole, part = divmod(int(nanoseconds), 10**9)
    return (
        f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%d{between}%H:%M:%S}.{part:09d}"[: 20 + digits]
        + zone
    )


def each_span(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The service of each span of a document in OpenTelemetry's JSON, and the span."""
    for resource in document["resourceSpans"]:
        service = resource["resource"]["attributes"][0]["value"]["stringValue"]
        for span in resource["scopeSpans"][0]["spans"]:
            yield service, span


def as_python(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Spans as OpenTelemetry's exporter to the console has them in Python."""
    return [
        {
            "name": span["name"],
            "context": {
                "trace_id": f"0x{span['traceId']}",
                "span_id": f"0x{span['spanId']}",
                "trace_state": "[]",
            },
            "kind": f"SpanKind.{KINDS[span['kind']].removeprefix('SPAN_KIND_')}",
            "parent_id": f"0x{span['parentSpanId']}" if span["parentSpanId"] else None,
            "start_time": _time(span["startTimeUnixNano"], 6, zone="Z"),
            "end_time": _time(span["endTimeUnixNano"], 6, zone="Z"),
            "status": {"status_code": "UNSET"},
            "attributes": {"peer.service": "somebody"},
            "events": [],
            "links": [],
            "resource": {"attributes": {"service.name": service}, "schema_url": ""},
        }
        for service, span in each_span(document)
    ]


def as_go(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Spans as OpenTelemetry's exporter to the console has them in Go, an hour ahead of UTC."""
    label = {"Key": "peer.service", "Value": {"Type": "STRING", "Value": "somebody"}}
    return [
        {
            "Name": span["name"],
            "SpanContext": {"TraceID": span["traceId"], "SpanID": span["spanId"], "Remote": False},
            "Parent": {"TraceID": "0" * 32, "SpanID": span["parentSpanId"] or "0" * 16},
            "SpanKind": span["kind"],
            "StartTime": _time(str(int(span["startTimeUnixNano"]) + _HOUR), 9, zone="+01:00"),
            "EndTime": _time(str(int(span["endTimeUnixNano"]) + _HOUR), 9, zone="+01:00"),
            "Attributes": [label],
            "Links": None,
            "Status": {"Code": "Unset", "Description": ""},
            "Resource": [{"Key": "service.name", "Value": {"Type": "STRING", "Value": service}}],
        }
        for service, span in each_span(document)
    ]


_HOUR = 3600 * 10**9


def as_clickhouse(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the collector's table in ClickHouse."""
    return [
        {
            "Timestamp": _time(span["startTimeUnixNano"], 9, " "),
            "TraceId": span["traceId"],
            "SpanId": span["spanId"],
            "ParentSpanId": span["parentSpanId"],
            "SpanName": span["name"],
            "SpanKind": KINDS[span["kind"]].removeprefix("SPAN_KIND_").title(),
            "ServiceName": service,
            "SpanAttributes": {"peer.service": "somebody"},
            "Duration": str(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])),
            "StatusCode": "Unset",
        }
        for service, span in each_span(document)
    ]


def as_rcaeval(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the data sets of RCAEval, which have no kinds."""
    return [
        {
            "time": "21:00",
            "traceID": span["traceId"],
            "spanID": span["spanId"],
            "serviceName": service,
            "methodName": "",
            "operationName": span["name"],
            "startTimeMillis": int(span["startTimeUnixNano"]) // 10**6,
            "startTime": int(span["startTimeUnixNano"]) // 1000,
            "duration": int(span["endTimeUnixNano"]) // 1000
            - int(span["startTimeUnixNano"]) // 1000,
            "statusCode": "0.0",
            "parentSpanID": span["parentSpanId"],
        }
        for service, span in each_span(document)
    ]


def as_nezha(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of Nezha's data sets, whose services are pods."""
    return [
        {
            "TraceID": span["traceId"],
            "SpanID": span["spanId"],
            "ParentID": span["parentSpanId"] or "root",
            "PodName": service,
            "OperationName": span["name"],
            "StartTimeUnixNano": span["startTimeUnixNano"],
            "EndTimeUnixNano": span["endTimeUnixNano"],
            "Duration": "7",
        }
        for service, span in each_span(document)
    ]


def as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a CSV file."""
    text = StringIO()
    table = csv.DictWriter(text, list(rows[0]), quoting=csv.QUOTE_NONNUMERIC)
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()
