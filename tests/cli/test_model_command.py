"""``headway model``: traces as they are found in the field, and what is said of them."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from headway.errors import InvalidParameter
from headway.models import read_model
from headway.models.reading.loadtest import read
from tests.models.tracing.test_traced_models import SHOP, as_jaeger, as_zipkin, otlp
from tests.oracles.traced_services import play
from tests.support.command import headway, refusal

MILLISECOND = 1_000_000


@pytest.fixture(scope="module")
def lines() -> tuple[str, ...]:
    """Traces of the shop, a document each."""
    return play(SHOP, 60.0, 150, 3).lines


def told(folder: Path, files: Mapping[str, str], *options: str) -> dict[str, Any]:
    """What the command says of some files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    answer = headway("model", folder, *options, "--json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def findings(document: Mapping[str, Any]) -> set[str]:
    return {finding["kind"] for finding in document["findings"]}


def spans(service: str, *rows: tuple[str, str, str, int, int]) -> dict[str, Any]:
    """Spans of a service: an identifier, its parent, an operation, from and to [ms]."""
    each = [
        {
            "traceId": "a1",
            "spanId": key,
            "parentSpanId": parent,
            "name": name,
            "kind": 2,
            "startTimeUnixNano": str(start * MILLISECOND),
            "endTimeUnixNano": str(end * MILLISECOND),
        }
        for key, parent, name, start, end in rows
    ]
    label = {"key": "service.name", "value": {"stringValue": service}}
    return {"resource": {"attributes": [label]}, "scopeSpans": [{"spans": each}]}


def document(*services: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": services})


def test_files_of_three_forms_are_three_loads(tmp_path, lines):
    each = [json.loads(line) for line in lines]
    files = {
        "otlp.jsonl": "\n".join(lines[:50]),
        "jaeger.json": json.dumps(
            {"data": [t for d in each[50:100] for t in as_jaeger(d)["data"]]}
        ),
        "zipkin.json": json.dumps([span for d in each[100:] for span in as_zipkin(d)]),
    }
    assert [load["traces"] for load in told(tmp_path, files)["loads"]] == [50, 50, 50]


def test_files_of_one_trace_each_are_one_load_for_each_folder(tmp_path, lines):
    for folder in "ab":
        (tmp_path / folder).mkdir()
    for k, line in enumerate(lines):
        (tmp_path / "ab"[k % 2] / f"trace-{k}.json").write_text(line)
    assert [load["traces"] for load in told(tmp_path, {})["loads"]] == [75, 75]


def test_the_order_of_services_changes_nothing(tmp_path, lines):
    """Calls that begin at the same instant are in the order in which services are written."""
    whole = told(tmp_path, {"whole.jsonl": "\n".join(lines)})
    (tmp_path / "whole.jsonl").unlink()
    each = [r for line in lines for r in json.loads(line)["resourceSpans"]]
    for name in ("price", "stock", "web"):
        mine = [document(r) for r in each if f'"{name}"' in json.dumps(r["resource"])]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(mine))

    def entries(found: Mapping[str, Any]) -> list[tuple[float, list[str]]]:
        return sorted((each["work"], sorted(each["calls"].split())) for each in found["entries"])

    for (one, calls), (other, same) in zip(
        entries(whole), entries(told(tmp_path, {})), strict=True
    ):
        assert calls == same
        assert one == pytest.approx(other, rel=1e-9)


def test_files_of_a_folder_that_are_no_traces_are_passed_over_and_named(tmp_path, lines):
    beside = {
        "README.md": "# Traces of the shop",
        "cpu.csv": "service,cores\nweb,0.4\n",
        "metrics.jsonl": '{"resourceMetrics": []}',
    }
    found = told(tmp_path, {**beside, "shop.jsonl": "\n".join(lines)})
    [passed] = [each for each in found["findings"] if each["kind"] == "files_passed_over"]
    assert all(name in passed["text"] for name in beside)
    assert "no traces of OpenTelemetry" in refusal("model", tmp_path / "README.md")
    for name, content in (("cut.json", b'{"batches": ['), ("proto.bin", b"\x0a\xe2\x03\0")):
        (tmp_path / name).write_bytes(content)  # may be traces
        assert f"{name}: no traces of OpenTelemetry" in refusal("model", tmp_path)
        (tmp_path / name).unlink()


def test_a_single_service_is_a_model(tmp_path):
    """Ten requests a second, each of 10 ms."""
    rows = [(f"{k:x}", "", "GET /", 100 * k, 100 * k + 10) for k in range(1, 101)]
    found = told(tmp_path, {"web.jsonl": document(spans("web", *rows))})
    [entry], [load] = found["entries"], found["loads"]
    assert entry["work"] == pytest.approx(0.010, rel=1e-9)
    assert load["arrival_rate"] == pytest.approx(10, rel=1e-9)
    assert load["model_response_time"] == pytest.approx(0.010, rel=1e-6)


def test_a_single_trace_has_neither_rate_nor_sure_times(tmp_path):
    """Its one time is as unsure as an exponential one; its service has no name, others follow."""
    found = told(tmp_path, {"one.json": document(spans("", ("1", "", "GET /", 0, 10)))})
    [entry], [load] = found["entries"], found["loads"]
    assert (entry["service"], load["arrival_rate"]) == ("unknown_service", 0)
    assert entry["work_ci95"] == pytest.approx([0, 0.010 + 1.96 * 0.010], rel=1e-9)
    assert "no_rate" in findings(found)


def test_traces_that_begin_at_once_have_shares(tmp_path):
    both = document(spans("a", ("1", "", "x", 0, 10)), spans("b", ("2", "", "y", 0, 20)))
    assert "no_rate" in findings(told(tmp_path, {"two.json": both}, "--out", tmp_path / "m.toml"))
    assert "b_y_share = 0.5" in (tmp_path / "m.toml").read_text()


@pytest.mark.parametrize(
    ("name", "operations"),
    [("job_{}", ["job_{id}"]), ("shard {}", [f"shard {k}" for k in range(20)])],
)
def test_names_that_differ_in_many_numbers_are_one_operation(tmp_path, name, operations):
    rows = [(f"{k + 1:x}", "", name.format(k), 20 * k, 20 * k + 10) for k in range(200)]
    rows = rows if len(operations) == 1 else rows[: len(operations)]
    found = told(tmp_path, {"web.json": document(spans("web", *rows))})
    assert [entry["operation"] for entry in found["entries"]] == operations


def test_an_operation_that_asks_for_itself_is_one_entry(tmp_path):
    rows = [("1", "", "walk", 0, 90), ("2", "1", "walk", 10, 80), ("3", "2", "walk", 20, 70)]
    [entry] = told(tmp_path, {"tree.json": document(spans("files", *rows))})["entries"]
    assert (entry["requests"], entry["calls"]) == (1, "")
    assert entry["work"] == pytest.approx(0.090, rel=1e-9)


@pytest.mark.parametrize(
    ("window", "refused"),
    [
        ("1ns", "1.94 s are more than 1,000 windows of 1e-09 s; choose a longer one"),
        ("0s", "1.94 s are more than 1,000 windows of 0 s; choose a longer one"),
        ("-1s", "1.94 s are more than 1,000 windows of -1 s; choose a longer one"),
        ("1000h", "shorter than the window of 3,600,000 s; choose a shorter one"),
    ],
)
def test_windows_that_cut_nothing_are_refused(tmp_path, window, refused):
    (tmp_path / "shop.json").write_text(ASKED)
    assert refused in refusal("model", tmp_path, "--window", window)


def test_times_in_another_unit_are_refused(tmp_path):
    """In milliseconds since 1970, for nanoseconds."""
    written = json.loads(ASKED)
    for resource in written["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            for name in ("startTimeUnixNano", "endTimeUnixNano"):
                span[name] = str(1_700_000_000_000 + int(span[name]) // MILLISECOND)
    (tmp_path / "shop.json").write_text(json.dumps(written))
    assert "times are 1,000,000 times too short" in refusal("model", tmp_path)


def test_requests_that_come_back_are_entries_for_each_time(tmp_path):
    """Top, work, back, and work once more: 90 ms, and nobody else to wait for."""
    files = {
        f"{k}.json": document(
            spans(
                "a", (f"{k}1", "", "top", at, at + 90), (f"{k}3", f"{k}2", "back", at + 20, at + 60)
            ),
            spans(
                "b",
                (f"{k}2", f"{k}1", "work", at + 10, at + 80),
                (f"{k}4", f"{k}3", "work", at + 30, at + 50),
            ),
        )
        for k, at in ((1, 0), (2, 100))
    }
    found = told(tmp_path, files)
    assert found["loads"][0]["model_response_time"] == pytest.approx(0.090, rel=1e-6)
    assert {each["operation"] for each in found["entries"]} >= {"work", "work, inside itself"}
    assert "requests_come_back" in findings(found)


def test_entries_that_ask_for_each_other_in_a_circle_are_an_error(tmp_path):
    """Each page asks a for x, which asks b for y; or b for y, which asks a for x."""
    rows = {"web": [], "a": [], "b": []}
    for k in range(1, 41):
        outer, inner = [("a", "x"), ("b", "y")][:: 1 if k % 2 else -1]
        at = 100 * k
        rows["web"].append((f"{k}1", "", "page", at, at + 40))
        rows[outer[0]].append((f"{k}2", f"{k}1", outer[1], at + 10, at + 30))
        rows[inner[0]].append((f"{k}3", f"{k}2", inner[1], at + 15, at + 25))
    found = told(tmp_path, {"a.json": document(*(spans(*each) for each in _flat(rows)))})
    [circle] = [each for each in found["findings"] if each["kind"] == "entries_in_a_circle"]
    assert circle["severity"] == "error"
    assert "go round: " in circle["text"]
    assert "requests go round without end" in found["loads"][0]["note"]


def _flat(rows: Mapping[str, list[Any]]) -> list[list[Any]]:
    return [[service, *each] for service, each in rows.items()]


def test_what_is_asked_from_outside_and_from_inside_counts_twice(tmp_path):
    """Every second request for a check begins a trace, and everyone writes spans."""
    pages = [
        (
            spans("web", (f"{k}0", "", "page", 100 * k, 100 * k + 30)),
            spans(
                "auth",
                (f"{k}1", f"{k}0", "check", 100 * k + 10, 100 * k + 20),
                (f"{k}2", "", "check", 100 * k + 50, 100 * k + 60),
            ),
        )
        for k in range(1, 101)
    ]
    found = told(tmp_path, {"both.json": document(*(each for page in pages for each in page))})
    assert found["loads"][0]["arrival_rate"] == pytest.approx(20, rel=0.02)
    assert "callers_not_traced" not in findings(found)


def test_calls_that_outlive_their_request_are_messages(tmp_path):
    rows = range(1, 51)
    files = {
        "mail.json": document(
            spans("web", *((f"{k}0", "", "order", 100 * k, 100 * k + 20) for k in rows)),
            spans("mail", *((f"{k}1", f"{k}0", "send", 100 * k + 10, 100 * k + 60) for k in rows)),
        )
    }
    order, _ = told(tmp_path, files)["entries"]
    assert order["calls"] == "mail_send (1, sent)"
    assert order["work"] == pytest.approx(0.020, rel=1e-9)


RATES = {"low": 10, "middle": 20, "high": 40}
BASE, DEMAND, OWN = 0.05, 0.004, 0.010
"""Processors busy without requests, processor time of a request, and its own time [s]."""


def web_at(rates: Mapping[str, int], service: str = "web") -> dict[str, str]:
    """Ten seconds of each load, 100 s apart: requests at even distances, each of 10 ms."""
    files = {}
    for n, (load, rate) in enumerate(rates.items()):
        begun = [100_000 * n + 1000 * k // rate for k in range(1, 10 * rate + 1)]
        rows = [(f"{k:x}", "", "GET /", at, at + 10) for k, at in enumerate(begun, 1)]
        files[f"{load}.jsonl"] = document(spans(service, *rows)).replace('"a1"', f'"a{n}"')
    return files


def counters(service: str) -> str:
    """What Prometheus has counted of its processors, every 5 s."""
    values, busy = [], 0.0
    for at in range(0, 300, 5):
        values.append([at, str(busy)])
        rate = [*RATES.values()][at // 100] if at % 100 < 10 else 0
        busy += 5 * (BASE + DEMAND * rate)
    series = {
        "metric": {"__name__": "container_cpu_usage_seconds_total", "container": service},
        "values": values,
    }
    data = {"resultType": "matrix", "result": [series]}
    return json.dumps({"status": "success", "data": data})


TABLE = "\n".join(
    ["load,service,cores,processors", *(f"{k},web,{BASE + DEMAND * x},1" for k, x in RATES.items())]
)


@pytest.mark.parametrize("metrics", [TABLE, counters("web")], ids=["table", "prometheus"])
def test_metrics_part_own_time_into_processors_and_waiting(tmp_path, metrics):
    """U = b + X D of three loads: D to 3%, as the rate of a load ends with its last request."""
    (tmp_path / "metrics").write_text(metrics)
    traces = tmp_path / "traces"
    traces.mkdir()
    found = told(
        traces, web_at(RATES), "--metrics", tmp_path / "metrics", "--out", tmp_path / "m.toml"
    )
    time = found["services"]["web"]["processor_time"]
    assert time["mean"] == pytest.approx(DEMAND, rel=0.03)
    assert time["ci95"][0] <= DEMAND * 1.03
    assert time["busy_without_requests"] == pytest.approx(BASE, rel=0.1)
    assert time["share_of_own_time"] == pytest.approx(DEMAND / OWN, rel=0.03)
    assert "waits_within" in findings(found)
    solved = headway("solve", tmp_path / "m.toml", "--set", "arrival_rate=30", "--json")
    assert json.loads(solved.out)["points"][0]["processors"]["web_host"]["busy"] == pytest.approx(
        0.12, rel=0.03
    )


def test_processors_that_work_longer_than_the_spans_are_a_finding(tmp_path):
    (tmp_path / "cpu.csv").write_text(
        "load,service,cpu_s,seconds\n"
        + "".join(f"{k},web,{10 * 0.02 * x},10\n" for k, x in RATES.items())
    )
    found = told(tmp_path, web_at(RATES), "--metrics", tmp_path / "cpu.csv")
    [beyond] = [each for each in found["findings"] if each["kind"] == "work_outside_spans"]
    assert beyond["value"] == pytest.approx(2, rel=0.03)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("service,cores\nweb,0.1\n", "nothing in it names one of the loads"),
        ("load,service,cores\nlow,shop,0.1\n", "nothing in it names one of the services"),
        ("load,service,requests\nlow,web,7\n", "no column says how many processors were busy"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": []}}',
         "no counter of processor time"),
        (counters("web").replace("cpu", "memory"), "no counter of processor time"),
    ],
    ids=["loads", "services", "columns", "nothing", "counters"],
)  # fmt: skip
def test_metrics_of_something_else_are_refused(tmp_path, metrics, message):
    for name, text in {**web_at({"low": 10, "high": 20}), "metrics.txt": metrics}.items():
        (tmp_path / name).write_text(text)
    assert message in refusal("model", tmp_path, "--metrics", tmp_path / "metrics.txt")


def asked(ahead: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Twenty requests of web that ask stock, whose clock is ahead [ms]: both services' spans."""
    kept = [(f"{k}1", "", "page", 100 * k, 100 * k + 40) for k in range(1, 21)]
    asks = [(f"{k}2", f"{k}1", "GET", 100 * k + 10, 100 * k + 30) for k in range(1, 21)]
    work = [
        (f"{k}3", f"{k}2", "look", 100 * k + 11 + ahead, 100 * k + 29 + ahead) for k in range(1, 21)
    ]
    web = spans("web", *kept, *asks)
    for span in web["scopeSpans"][0]["spans"][20:]:
        span["kind"] = 3
    return web, spans("stock", *work)


def words(number: int) -> str:
    """A name without digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def operations(count: int) -> str:
    """As many spans, each of an operation of its own."""
    return otlp(*({"spanId": f"{k:x}", "name": f"work {words(k)}"} for k in range(1, count + 1)))


WEB, STOCK = asked()
ASKED = document(WEB, STOCK)


@pytest.mark.parametrize(
    ("files", "refused"),
    [
        ([""], "no spans (seen: 0.jsonl); export at least one trace"),
        (['{"resourceSpans": []}'], "no spans; export at least one trace"),
        (['{"data": [{"traceID": "1", "spans": [], "processes": {}}]}'],
         "no spans; export at least one trace"),
        ([otlp({"parentSpanId": "01"})], "are each other's parents in a circle"),
        ([otlp({"endTimeUnixNano": "10"})], "a span ends before it starts"),
        ([f'{otlp({})}\n{{"data": [{{"traceID": "1", "spans": []}}]}}'],
         "mixes OpenTelemetry with another format; keep each in its own files"),
        ([partial(operations, 99_999)],
         "more than 10,000 operations"),
        ([partial(operations, 999)],
         "999 operations are asked for from outside"),
        (['[{"traceId": "a", "id": "b", "timestamp": 5, "annotations": [],'
          ' "binaryAnnotations": []}]'],
         "is Zipkin version 1; export version 2, as from /api/v2/traces"),
        (['{"name": "look", "context": {"trace_id": "0xa1", "span_id": "0x01"}, "parent_id": 0}'],
         "trace '0xa1': a span has no start_time"),
        (['{"Traces": [{"Id": "1-5f84c7a5-e7d1852db8c4fd35d88bf49a", "Segments": []}]}'],
         "X-Ray's segments; let OpenTelemetry's collector receive them (awsxray)"),
        (['{"data": {"trace": {"spans": [{"traceId": "a1", "segmentId": "b2", "spanId": 0}]}}}'],
         "SkyWalking's segments; let its agents report to OpenTelemetry's collector"),
        (['[[{"trace_id": 5, "span_id": 6, "meta": {"span.kind": "server"}}]]'],
         "Datadog's spans; let OpenTelemetry's collector receive them (datadog)"),
        (['{"traceId": "AQ==", "spanId": "Ag==", "operationName": "look",'
          ' "startTime": "2017-01-26T16:46:31Z"}'],
         "Jaeger's own structures; ask its API for /api/traces, or write OTLP JSON"),
        (['{"traceId": "a", "id": "b", "timestamp": 5, "duration": 5, "message": "asked"}'],
         "no traces of OpenTelemetry (OTLP JSON), Jaeger or Zipkin (v2); if it is not a trace"),
        (['{"resource_spans": []}'], "no spans; export at least one trace"),
        (['{"traces": [{"traceID": "a1", "rootServiceName": "web", "durationMs": 9, '
          '"spanSet": {"spans": [{"spanID": "01"}]}}]}'],
         "a search answers only what matches it; ask Tempo for each trace, by /api/traces/ID"),
        (['[{"traceId": "a", "id": "b", "timestamp": 5} {"traceId": "a"}]'],
         "this JSON is invalid or truncated"),
        (['{"data": [{"traceID": "a", "spans": []}], "total": }'],
         "this JSON is invalid or truncated"),
    ],
    ids=["empty", "no_span", "empty_trace", "circle", "backwards", "mixed", "operations",
         "entries", "zipkin_1", "console",
         "xray", "skywalking", "datadog", "structures",
         "log", "underscores", "search", "no_comma", "tail"],
)  # fmt: skip
def test_what_is_no_trace_is_refused_in_a_line(tmp_path, files, refused):
    for k, text in enumerate(files):
        (tmp_path / f"{k}.jsonl").write_text(text() if callable(text) else text)
    assert refused in refusal("model", tmp_path)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ([document(WEB, STOCK, STOCK)], {"spans_twice"}),
        ([document(WEB), document(STOCK), document(STOCK)], {"spans_twice"}),
        ([document(WEB), document(STOCK)], set()),
        (
            [document(WEB, STOCK, json.loads(json.dumps(STOCK).replace('"look"', '"other"')))],
            {"identifiers_repeat"},
        ),
        ([document(*asked(3_600_000))], {"clock_off"}),
        ([document(WEB)], {"service_not_traced"}),
        ([document(STOCK)], {"spans_missing"}),
        ([ASKED.replace("service.name", "host.name")], {"service_not_named"}),
    ],
    ids=[
        "repeated",
        "in_several_files_twice",
        "in_several_files",
        "alike",
        "an_hour",
        "no_callee",
        "cut",
        "unnamed",
    ],
)
def test_what_is_odd_in_traces_is_found_and_modelled(tmp_path, files, found):
    """One load of twenty traces each time, and work as if nothing were odd.

    Of who writes no spans, all that its callers waited counts.
    """
    names = {f"{k}.jsonl": text for k, text in enumerate(files)}
    answer = told(tmp_path, names)
    assert findings(answer) - {"threads_not_seen"} == found
    [load] = answer["loads"]
    assert load["arrival_rate"] == pytest.approx(10, rel=1e-6)
    works = {each["service"]: each["work"] for each in answer["entries"]}
    assert works.get("web", 0.020) == pytest.approx(0.020, rel=1e-6)
    assert works.get("stock", 0.018) == pytest.approx(0.018, rel=1e-6)
    assert works.get("GET", 0.020) == pytest.approx(0.020, rel=1e-6)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_other_encodings_of_json_are_read(tmp_path, encoding):
    (tmp_path / "shop.json").write_bytes(ASKED.encode(encoding))
    assert {each["service"] for each in told(tmp_path, {})["entries"]} == {"web", "stock"}


def test_many_operations_from_outside_have_shares(tmp_path):
    """More than a formula has terms: each is one of 205."""
    (tmp_path / "web.jsonl").write_text(operations(205))
    model = tmp_path / "web.toml"
    told(tmp_path, {}, "--out", model)
    answer = headway("solve", model, "--set", "arrival_rate=100/s", "--json")
    [point] = json.loads(answer.out)["points"]
    throughputs = [each["throughput"] for each in point["entries"].values()]
    assert throughputs == pytest.approx([100 / 205] * 205, rel=1e-4)


def test_spans_without_a_resource_belong_to_an_unnamed_service(tmp_path):
    web = json.loads(ASKED)["resourceSpans"][:1]
    del web[0]["resource"]
    [entry, *_] = told(tmp_path, {"a.json": json.dumps({"resourceSpans": web})})["entries"]
    assert entry["service"] == "unknown_service"


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        ({"endTimeUnixNano": "0"}, "a span has no end"),
        ({"endTimeUnixNano": "1"}, "a span ends before it starts"),
        (
            {"startTimeUnixNano": "noon"},
            "the startTimeUnixNano of a span is 'noon', no whole number",
        ),
        ({"parentSpanId": "a"}, "spans of 'web' are each other's parents in a circle"),
        ({"spanId": ""}, "a span has no identifier"),
    ],
)
def test_traces_with_a_broken_span_are_left_out_and_counted(tmp_path, spoilt, why):
    """Of forty traces, one more would be too many."""
    each = [
        {"traceId": f"{k:x}", "spanId": "a", "startTimeUnixNano": str(k * 10 * MILLISECOND),
         "endTimeUnixNano": str((k * 10 + 4) * MILLISECOND)}
        for k in range(1, 41)
    ]  # fmt: skip
    each[7] |= spoilt
    path = tmp_path / "web.jsonl"
    path.write_text("\n".join(otlp(span) for span in each))
    answer = told(tmp_path, {})
    [finding] = [f for f in answer["findings"] if f["kind"] == "traces_left_out"]
    assert f"1 of 40 traces of web was left out: {why}" in finding["text"]
    assert answer["loads"][0]["traces"] == 39
    read = headway("read", path)
    assert f"1 trace of 40 left out: {why}" in " ".join(read.out.split())
    for span in each[8:10]:
        span |= spoilt
    path.write_text("\n".join(otlp(span) for span in each))
    assert why in (refused := refusal("model", tmp_path))
    assert "and 2 more of 40 traces have an impossible span: fix" in refused


def test_files_of_one_name_in_several_folders_are_several_loads(tmp_path):
    for name, rate in {"low": 10, "high": 40}.items():
        (tmp_path / name).mkdir()
        [text] = web_at({"web": rate}).values()
        (tmp_path / name / "t.jsonl").write_text(text.replace('"a0"', f'"a{rate}"'))
    answer = told(tmp_path, {}, "--out", str(tmp_path / "web.toml"))
    assert [each["load"] for each in answer["loads"]] == ["low/t", "high/t"]
    assert headway("solve", tmp_path / "web.toml", "--preset", "high_t").code == 0


def test_services_that_differ_in_marks_only_have_names_of_their_own(tmp_path):
    """Their entries were one, and what the second calls was lost."""
    web = spans("a b", ("1", "", "c", 0, 40), ("2", "1", "c", 1, 20))
    web["scopeSpans"][0]["spans"][1]["kind"] = 3
    answer = told(tmp_path, {"t.jsonl": document(web, spans("a-b", ("3", "2", "c", 2, 19)))})
    assert [each["entry"] for each in answer["entries"]] == ["a_b_c", "a_b_c_2"]
    assert answer["entries"][0]["calls"] == "a_b_c_2"


def test_traces_are_compared_service_by_service(tmp_path):
    """Web takes 40 ms, 18 of them at stock; a stock that takes 10 ms more makes both longer."""
    path, model = tmp_path / "t.jsonl", tmp_path / "t.toml"
    told(tmp_path, {"t.jsonl": ASKED}, "--out", str(model))
    answer = headway("compare", model, "--data", path, "--set", "stock_look_work=28ms", "--json")
    parts = {each["name"]: each for each in json.loads(answer.out)["parts"]}
    assert list(parts) == [None, "web", "stock", "web_page", "stock_look"]
    assert parts["web"]["arrival_rate"] == pytest.approx(10, rel=1e-6)
    times = {name: (each["measured"], each["predicted"]) for name, each in parts.items()}
    whole, part = pytest.approx((0.040, 0.050)), pytest.approx((0.018, 0.028))
    assert times == {
        None: whole, "web": whole, "stock": part, "web_page": whole, "stock_look": part
    }  # fmt: skip
    answer = headway("compare", model, "--data", f"{path}@arrival_rate=40")
    assert "t beside t, 40/s" in answer.out
    assert "every trace was stored" not in answer.out


def test_traces_are_compared_alike_in_python(tmp_path):
    """By path or read before, with the same words; columns and ranges are for tables."""
    path, model = tmp_path / "t.jsonl", tmp_path / "t.toml"
    told(tmp_path, {"t.jsonl": ASKED}, "--out", str(model))
    printed = headway("compare", model, "--data", path).out
    services = read_model(str(model))
    for measured in (path, str(path), read(str(path))):
        assert f"{services.compare(measured)}\n" == printed
    with pytest.raises(InvalidParameter, match="traces are one point a load"):
        services.compare(path, low=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["server"], "server has no task web, stock; give a model of these services"),
        (["t.toml", "--from", "3"], "traces are one point a load"),
    ],
)
def test_traces_of_other_services_are_refused(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    told(tmp_path, {"t.jsonl": ASKED}, "--out", "t.toml")
    assert message in refusal("compare", *options, "--data", "t.jsonl")


def test_calls_that_are_given_up_are_a_finding(tmp_path):
    """Five of twenty callers fail after 5 ms, while stock works on for 18 ms."""
    web, stock = json.loads(json.dumps([WEB, STOCK]))
    for span in web["scopeSpans"][0]["spans"][20:25]:
        start = int(span["startTimeUnixNano"])
        span |= {"endTimeUnixNano": str(start + 5 * MILLISECOND), "status": {"code": 2}}
    answer = told(tmp_path, {"t.jsonl": document(web, stock)})
    [finding] = [f for f in answer["findings"] if f["kind"] == "calls_given_up"]
    assert finding["value"] == 0.25
    assert "25% of all calls were given up before they were answered" in finding["text"]


def test_a_fit_to_traces_says_what_compares_them(tmp_path):
    """It fitted each service's time to that of all."""
    told(tmp_path, {"t.jsonl": ASKED}, "--out", str(tmp_path / "t.toml"))
    fitted = ("fit", tmp_path / "t.toml", "--data", tmp_path / "t.jsonl", "--free", "arrival_rate")
    assert "compares service by service" in refusal(*fitted)
