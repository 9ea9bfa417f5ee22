"""Traces as other tools write them, of those in OpenTelemetry's JSON."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
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
