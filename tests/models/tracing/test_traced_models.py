"""Models of services from traces, against services whose numbers are known."""

import gzip
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models.reading.traces import read_loads
from headway.models.tracing.findings import findings_of
from headway.models.tracing.flows import Always, Geometric, Ways
from headway.models.tracing.pools import Arrivals, pool_of
from headway.models.tracing.services import services_of
from headway.models.tracing.traced import TracedModel, model_read, model_traces
from tests.campaigns.trace_round_trips import trip
from tests.oracles.traced_services import CLIENT, Played, PlayedEntry, PlayedLoad, Stage, play
from tests.support.trace_forms import AS_WRITTEN, IN_FILES, as_jaeger, as_zipkin, joined
from tests.support.traced import read_of

SHOP = Played(
    {"web": 40.0, "stock": 3.0, "price": 12.0},
    {
        "page": PlayedEntry(
            "web", 0.004, (Stage(("look",), "geometric", 1.2), Stage(("look", "quote")))
        ),
        "look": PlayedEntry("stock", 0.006),
        "quote": PlayedEntry("price", 0.010, (Stage(("look",), "maybe", 0.3),)),
    },
    {"page": 1.0},
)
MOST = 3 / (0.006 * (1.2 + 1 + 0.3))
"""Requests/s at which the three threads of stock are full."""


def traced(shares: Sequence[float], kept: float = 1.0, **options: Any) -> TracedModel:
    """A model of the shop from traces at some shares of its capacity."""
    loads = [
        play(SHOP, share * MOST, 1000, 50 + k, kept=kept, **options)
        for k, share in enumerate(shares)
    ]
    return model_read(read_of(loads), "shop", sampled=kept)


CHAIN = Played(
    {"web": 40.0, "cart": 9.0, "rows": 6.0},
    {
        "page": PlayedEntry("web", 0.004, (Stage(("add",)),)),
        "add": PlayedEntry("cart", 0.006, (Stage(("row",), "geometric", 1.5),)),
        "row": PlayedEntry("rows", 0.003),
    },
    {"page": 1.0},
)
"""Nobody but cart asks for rows."""


@pytest.fixture(scope="module")
def whole() -> TracedModel:
    """The shop at three loads, every request traced."""
    return traced((0.3, 0.5, 0.7))


def by_operation(answer: TracedModel) -> dict[str, Any]:
    return {each.operation: each for each in answer.services.entries.values()}


def test_calls_are_found_with_their_laws(whole: TracedModel) -> None:
    found = by_operation(whole)
    names = {
        k: whole.services.entries[key].operation for k, key in enumerate(whole.services.numbered)
    }
    first, second = found["page"].doing.blocks
    assert [names[n] for n in first.stages[0].callees] == ["look"]
    [[law]] = first.times
    assert isinstance(law, Geometric)
    assert abs(law.mean - 1.2) < 4.5 * law.error
    assert sorted(names[n] for n in second.stages[0].callees) == ["look", "quote"]
    assert second.times == ((Always(1),),)
    [block] = found["quote"].doing.blocks
    [[ways]] = block.times
    assert isinstance(ways, Ways)
    assert abs(ways.mean - 0.3) < 4.5 * ways.error
    assert found["look"].doing.blocks == ()


def test_work_is_told_from_waiting(whole: TracedModel) -> None:
    """Each within 4.5 standard errors, though a third of the requests of stock wait."""
    for name, found in by_operation(whole).items():
        assert abs(found.work - SHOP.entries[name].work) < 4.5 * found.error


def test_numbers_of_calls_go_with_work(whole: TracedModel) -> None:
    """A request of page works as long before each call, so more calls are more work."""
    pair = "web_page_work", "web_page_stock_look_calls"
    assert 0.3 < whole.model.correlations[pair] < 0.9


def test_longer_waits_of_a_root_are_not_taken_for_work() -> None:
    """Two requests of "pair" come at once to one thread, and one waits; half are traced."""
    single, pair = (PlayedEntry("web", 0.004, (Stage(("look",) * n),)) for n in (1, 2))
    played = Played(
        {"web": 90.0, "stock": 1.0},
        {"single": single, "pair": pair, "look": PlayedEntry("stock", 0.006)},
        {"single": 0.8, "pair": 0.2},
    )
    loads = [
        play(played, share / (0.006 * 1.2), 2500, 70 + k, kept=0.5)
        for k, share in enumerate((0.3, 0.5, 0.7))
    ]
    found = model_read(read_of(loads), "shop", sampled=0.5).services.entries.values()
    works = [each for each in found if each.operation == "look"]
    assert len(works) == 2
    for each in works:
        assert abs(each.work - 0.006) < 1.96 * each.error


def test_threads_are_seen_where_requests_wait(whole: TracedModel) -> None:
    pools = whole.services.pools
    assert pools["stock"].threads == 3
    assert pools["web"].threads == pools["price"].threads == inf
    assert pools["web"].low <= 40
    assert pools["price"].low <= 12


def test_the_model_predicts_a_higher_load(whole: TracedModel) -> None:
    """At 0.85 of the capacity, within 15%: the solver's own label is 14% at nine of ten."""
    rate = 0.85 * MOST
    truth = play(SHOP, rate, 5_000, 77).response_time
    answer = float(whole.model.at(arrival_rate=rate).solve().response_time)
    assert abs(answer / truth - 1) < 0.15


def test_loads_that_the_model_misses_are_a_finding(whole: TracedModel) -> None:
    answers = [(load, load.response_time) for load in whole.services.loads]
    for factor, missed in ((1.3, 0), (2.0, 3), (0.5, 3), (inf, 3)):
        off = [(load, factor * time) for load, time in answers]
        found = findings_of(whole.services, (), off)
        assert sum(each.kind == "load_missed" for each in found) == missed


def test_a_tenth_of_the_traces_gives_rates_and_threads() -> None:
    answer = traced((0.3, 0.6, 0.9), kept=0.1)
    rates = [load.rate for load in answer.services.loads]
    assert rates == pytest.approx([0.3 * MOST, 0.6 * MOST, 0.9 * MOST], rel=0.3)
    assert "sampled" in {finding.kind for finding in answer.findings}
    stock = answer.services.pools["stock"]
    assert not stock.seen or stock.low <= 3 <= stock.high


def test_a_load_of_which_traces_were_left_out_unsaid_is_named(whole: TracedModel) -> None:
    """Its requests wait for others that are not in the file, so their work seems longer."""
    kept = {0.3: 1.0, 0.5: 1.0, 0.85: 0.25}
    loads = [play(SHOP, x * MOST, 1000, 50 + k, kept=kept[x]) for k, x in enumerate(kept)]
    services = model_read(read_of(loads), "shop").services
    assert services.growing["stock"].slow == "load2"
    assert not whole.services.growing


def asking(timeout: float = inf) -> Played:
    """A page that looks once."""
    look = Stage(("look",), timeout=timeout)
    entries = {"page": PlayedEntry("web", 0.004, (look,)), "look": PlayedEntry("stock", 0.008)}
    return Played({"web": 60.0, "stock": 4.0}, entries, {"page": 1.0})


LATE = "web_page_stock_given_up_look_share"
"""The parameter of the share of calls that are given up."""


def share_of_late(load: PlayedLoad) -> float:
    """Of the calls of a load; those that were late by 5% of their wait or less count as in time."""
    calls = [span for trace in load.traces for span in trace if span.kind == CLIENT]
    return sum(call.failed for call in calls) / len(calls)


def test_calls_that_are_given_up_take_what_their_callers_waited() -> None:
    """Of calls that take 8 ms, 21% or 29% are given up after 12 ms, but served: times to 3% or 10%.

    Waited for in full, they took 25% longer than was traced. Who looks too late is as much work as
    before, and holds the same threads.
    """
    loads = [play(asking(0.012), rate, 2000, k) for k, rate in enumerate((100.0, 330.0))]
    answer = model_read(read_of(loads))
    found = by_operation(answer)
    assert found["page"].work == pytest.approx(0.004, abs=4.5 * found["page"].error)
    stock = [each for each in answer.services.entries.values() if each.service == "stock"]
    assert sorted(each.operation for each in stock) == ["look", "look, late"]
    whole = sum(each.requests * each.work for each in stock) / 4000
    assert whole == pytest.approx(0.008, rel=0.08)  # 4.5 standard errors of 4,000
    assert answer.services.pools["stock"].threads == 4
    assert {each.kind for each in answer.findings} == {"calls_given_up", "threads_not_seen"}
    for load, each, near in zip(loads, answer.compared, (0.03, 0.1), strict=True):
        assert each.response_time == pytest.approx(load.response_time, rel=near)
    [given_up] = [each for each in answer.findings if each.kind == "calls_given_up"]
    assert ", look of stock after 12 ms; " in given_up.text
    shares = [tomllib.loads(answer.text)["presets"][f"load{k}"][LATE] for k in range(2)]
    assert shares == pytest.approx([share_of_late(load) for load in loads], rel=0.15)
    assert shares[1] > 1.1 * shares[0]
    wait = tomllib.loads(answer.text)["tasks"]["stock_given_up"]["entries"]["stock_given_up_look"]
    assert {"demand": 0, "sends": {"stock_look_late": 1}, "fixed": True} in wait[
        "activities"
    ].values()


def test_calls_that_nobody_received_are_given_up(tmp_path: Path) -> None:
    """A tenth of them fail without a span of who is asked, which was said to write none."""
    documents = [json.loads(line) for line in play(asking(), 50.0, 300, 3).lines]
    for document in documents[::10]:
        [web, _] = document["resourceSpans"]
        document["resourceSpans"] = [web]
        web["scopeSpans"][0]["spans"][1]["status"] = {"code": 2}
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, documents)))
    answer = model_traces([str(tmp_path)])
    [finding] = [each for each in answer.findings if each.severity == "warning"]
    assert (finding.kind, finding.value) == ("calls_given_up", pytest.approx(0.1))
    assert {each.service for each in answer.services.entries.values()} == {
        "web", "stock", "stock, given up"
    }  # fmt: skip


POSTING = Played(
    {"web": 60.0, "stock": 30.0, "post": 2.0},
    {
        "page": PlayedEntry(
            "web",
            0.004,
            (Stage(("look",), "maybe", 0.4), Stage(("mail",), "maybe", 0.6, sent="traced")),
        ),
        "look": PlayedEntry("stock", 0.006),
        "mail": PlayedEntry("post", 0.020),
    },
    {"page": 1.0},
)


def linked(played: Played) -> Played:
    """The same with messages that begin traces which are linked to who sent them."""
    entries = {
        name: replace(
            entry,
            stages=tuple(replace(s, sent="linked") if s.sent else s for s in entry.stages),
        )
        for name, entry in played.entries.items()
    }
    return replace(played, entries=entries)


def written(path: Path, load: PlayedLoad, form: Callable[[dict[str, Any]], Any]) -> str:
    """A file of a load in another form, a document a line."""
    path.write_text("\n".join(json.dumps(form(json.loads(line))) for line in load.lines))
    return str(path)


def test_links_say_who_sent_a_message(tmp_path: Path) -> None:
    """Traces that begin with a message are part of those that they link to, in OTLP and Jaeger."""
    load = play(linked(POSTING), 50.0, 600, 4)
    whole = model_read(read_of([play(POSTING, 50.0, 600, 4)]))
    for form in (dict, as_jaeger):
        answer = model_traces([written(tmp_path / f"{form.__name__}.jsonl", load, form)])
        [[sent]] = by_operation(answer)["page"].messages.values()
        assert sent.mean == pytest.approx(0.6, abs=4.5 * (0.24 / 600) ** 0.5)
        assert {
            answer.services.entries[key].operation for key in answer.services.loads[0].shares
        } == {"page"}
        kinds = {each.kind for each in answer.findings}
        assert kinds == {"links_followed", "threads_not_seen"}
        assert len(answer.services.entries) == len(whole.services.entries)


def test_links_to_spans_that_are_not_there_are_said(tmp_path: Path) -> None:
    """Who sends them is in another file, which is not given: mails come from outside."""
    load = play(linked(POSTING), 50.0, 300, 4)
    mails = tuple(each for each in load.traces if each[0].linked)
    answer = model_traces([written(tmp_path / "t.jsonl", replace(load, traces=mails), dict)])
    [finding] = [each for each in answer.findings if each.severity == "warning"]
    assert (finding.kind, finding.value) == ("links_lost", 1.0)
    senders = tuple(each for each in load.traces if not each[0].linked)
    answer = model_traces([written(tmp_path / "t.jsonl", replace(load, traces=senders), dict)])
    [finding] = [each for each in answer.findings if each.severity == "warning"]
    assert finding.kind == "receivers_not_traced"
    split = [
        written(tmp_path / f"{k}.jsonl", replace(load, traces=part), dict)
        for k, part in enumerate((senders, mails))
    ]
    assert len(model_traces(split).services.loads) == 1


def test_links_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    """Of two traces each begins with a link to the other."""
    ends = {"traceId": "a1", "spanId": "01"}, {"traceId": "b2", "spanId": "02"}
    spans = [{**ends[0], "links": [ends[1]]}, {**ends[1], "links": [ends[0]]}]
    (tmp_path / "t.json").write_text(otlp(*spans))
    answer = model_traces([str(tmp_path)])
    assert "links_lost" in {each.kind for each in answer.findings}


def test_messages_are_sent_whatever_is_called() -> None:
    """A page that calls somebody at times does not send its messages at such times only."""
    load = play(POSTING, 50.0, 1500, 4)
    answer = model_read(read_of([load]))
    found = by_operation(answer)
    [[sent]] = found["page"].messages.values()
    assert sent.mean == pytest.approx(0.6, abs=4.5 * (0.24 / 1500) ** 0.5)
    assert abs(found["mail"].work - 0.020) < 4.5 * found["mail"].error
    solution = answer.model.solve()
    rate = answer.services.loads[0].rate
    assert float(solution["post_mail.throughput"]) == pytest.approx(sent.mean * rate, rel=1e-4)
    assert float(solution.response_time) == pytest.approx(load.response_time, rel=0.1)


def test_clocks_are_corrected() -> None:
    """An hour, corrected to the time on the way, 0.15 ms each; work does not change."""
    answer = traced((0.3, 0.6), skews={"stock": 3600.003})
    [off] = [finding for finding in answer.findings if finding.kind == "clock_off"]
    assert off.value == pytest.approx(-3600.003, abs=2e-4)
    assert off.text.startswith("the clock of stock is")
    look = by_operation(answer)["look"]
    assert abs(look.work - 0.006) < 4.5 * look.error


def test_a_service_without_spans_is_said_and_its_callees_are_kept() -> None:
    answer = traced((0.4,), silent=["price"])
    kinds = {finding.kind for finding in answer.findings}
    assert {"service_not_traced", "callers_not_traced"} <= kinds
    [peer] = [each for each in answer.services.entries.values() if each.peer]
    held = SHOP.holding()
    assert peer.work == pytest.approx(held["quote"] - 0.3 * held["look"], rel=0.25)
    [mean] = answer.services.orphans.values()
    assert mean == pytest.approx(0.3, abs=0.06)
    rate = answer.services.loads[0].rate
    assert rate == pytest.approx(0.4 * MOST, rel=0.15)


def test_files_of_one_trace_are_one_load(tmp_path: Path) -> None:
    lines = play(SHOP, 50.0, 300, 1).lines
    services = [json.loads(line) for line in lines]
    for k in range(2):
        parts = [{"resourceSpans": doc["resourceSpans"][k::2]} for doc in services]
        (tmp_path / f"part{k}.jsonl").write_text("\n".join(map(json.dumps, parts)))
    split = model_traces([str(tmp_path)])
    [load] = split.services.loads
    assert load.traces == 300
    assert not [finding for finding in split.findings if finding.kind == "spans_missing"]


@pytest.mark.parametrize("skew", [0.0, 0.02])
def test_what_only_a_silent_service_asks_for_is_not_from_outside(
    tmp_path: Path, skew: float
) -> None:
    """With the clock of its callee 20 ms off nothing shows it, and the doubt is said."""
    load = play(CHAIN, 60.0, 400, 5, silent=["cart"], skews={"rows": skew})
    (tmp_path / "chain.jsonl").write_text("\n".join(load.lines))
    answer = model_traces([str(tmp_path)])
    [found] = [f for f in answer.findings if f.kind in ("callers_inferred", "outside_in_doubt")]
    roots = {key.entry for key in answer.services.loads[0].rates}
    rows = next(k.entry for k, e in answer.services.entries.items() if e.service == "rows")
    peer = next(each for each in answer.services.entries.values() if each.peer)
    if skew:
        assert found.kind == "outside_in_doubt"
        assert found.value == pytest.approx(90, rel=0.25)
        assert rows in roots
        assert abs(peer.work - 0.0105) < 4.5 * peer.error  # with what rows does for it
    else:
        assert found.kind == "callers_inferred"
        assert rows not in roots
        assert abs(peer.work - 0.006) < 4.5 * peer.error + CHAIN.network * 1.5


def test_a_long_file_is_cut_by_time(tmp_path: Path) -> None:
    (tmp_path / "day.jsonl").write_text("\n".join(play(SHOP, 50.0, 1000, 2).lines))
    loads = model_traces([str(tmp_path)], window=4.0).services.loads
    assert sorted(load.name for load in loads) == ["day-1", "day-2", "day-3", "day-4"]


def test_a_job_that_runs_all_the_time_hides_no_threads(tmp_path: Path) -> None:
    """It left nobody known to be there from the first: not in services that it never asks."""
    lines = play(SHOP, 0.7 * MOST, 1000, 52).lines
    first = re.search(r'"startTimeUnixNano": "(\d+)"', lines[0])
    assert first
    begun = int(first[1])
    job = otlp({"startTimeUnixNano": str(begun), "endTimeUnixNano": str(begun + 3600 * 10**9)})
    (tmp_path / "t.jsonl").write_text("\n".join([*lines, job.replace('"web"', '"job"')]))
    pools = model_traces([str(tmp_path)]).services.pools
    assert pools["stock"].threads == 3
    assert pools["job"].threads == inf


def works_in(path: Path) -> list[float]:
    """The work of each entry of the shop, by its traces."""
    entries = services_of(read_loads([str(path)]).loads).entries.values()
    found = {each.operation: each.work for each in entries}
    return [found[entry] for entry in SHOP.entries]


def test_jaeger_and_zipkin_give_the_same_model(tmp_path: Path) -> None:
    """Their times are whole microseconds: work within 2 us."""
    documents = [json.loads(line) for line in play(SHOP, 50.0, 300, 3).lines]
    traces = [trace for each in documents for trace in as_jaeger(each)["data"]]
    zipkin = [span for each in documents for span in as_zipkin(each)]
    files = {
        "otlp.jsonl": "\n".join(map(json.dumps, documents)),
        "jaeger.json": json.dumps({"data": traces}),
        "zipkin.json": json.dumps(zipkin),
        "joined.json": json.dumps(joined(zipkin, told=True)),
        "untold.json": json.dumps(joined(zipkin, told=False)),
    }
    works = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        works.append(works_in(tmp_path / name))
    for other in works[1:]:
        np.testing.assert_allclose(other, works[0], atol=2e-6)


def test_what_other_exporters_write_gives_the_same_model(tmp_path: Path) -> None:
    """To a thousandth: times with a point are 256 ns apart."""
    documents = [json.loads(line) for line in play(SHOP, 50.0, 150, 3).lines]

    def work(text: str) -> list[float]:
        (tmp_path / "one.json").write_text(text)
        return works_in(tmp_path / "one.json")

    usual = work("\n".join(map(json.dumps, documents)))
    for name, written in IN_FILES.items():
        assert work(written(documents)) == usual, name
    for name, changed in AS_WRITTEN.items():
        others = json.loads(json.dumps(documents))
        for document in others:
            for resource in document["resourceSpans"]:
                scope = resource["scopeSpans"][0]
                scope["spans"] = [changed(span) for span in scope["spans"]]
        np.testing.assert_allclose(work(IN_FILES["a list"](others)), usual, rtol=1e-3, err_msg=name)


SPAN = {
    "traceId": "a1",
    "spanId": "01",
    "name": "GET /",
    "kind": 2,
    "startTimeUnixNano": "1000",
    "endTimeUnixNano": "2000",
}


def otlp(*spans: Mapping[str, Any]) -> str:
    scope = {
        "scopeSpans": [{"spans": [{**SPAN, **span} for span in spans]}],
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]},
    }
    return json.dumps({"resourceSpans": [scope]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (otlp({"parentSpanId": "02"}, {"spanId": "02", "parentSpanId": "01"}),
         "trace 'a1': spans of 'web' are each other's parents in a circle"),
        (otlp({"endTimeUnixNano": "10"}), "a span ends before it starts"),
        (otlp({"traceId": ""}), "a span has no identifier of its trace"),
        (otlp({"endTimeUnixNano": "9" * 19}), "endTimeUnixNano of a span is '9+', no whole number"),
        (otlp({"startTimeUnixNano": "-5"}), "is '-5', no whole number of ns"),
        (otlp({"startTimeUnixNano": True}), "is 'True', no whole number of ns"),
        (otlp({}, {"spanId": "02"}).replace("}, {", "} {"), "this JSON is invalid or truncated"),
        (otlp({}).replace(json.dumps(SPAN), f"{json.dumps(SPAN)}, 0"),
         "a span has no startTimeUnixNano"),
        (otlp({"links": "a"}).replace('"a"', f'"a{json.dumps(SPAN)}"'), "invalid or truncated"),
        ('{"resourceSpans": []}', "no spans; export at least one trace"),
        ('{"resourceSpans": [', "this JSON is invalid or truncated; export the file again"),
        (f"{otlp({})}\n{otlp({})[:-9]}", ":2: this JSON .* truncated; leave that line out, or"),
        ("a,b\n1,2\n", "no traces of OpenTelemetry"),
        (otlp({}).replace('"spans"', '"scope": {"attributes": [{"key": "tailsampling.policy", '
                          '"value": {"stringValue": "slow"}}]}, "spans"'),
         "a tail sampler chose these traces"),
    ],
)  # fmt: skip
def test_bad_traces_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(MeasurementError, match=message) as error:
        model_traces([str(path)])
    assert "\n" not in str(error.value)


def test_spans_that_are_there_twice_count_once(tmp_path: Path) -> None:
    lines = play(SHOP, 50.0, 200, 4).lines
    (tmp_path / "once.jsonl").write_text("\n".join(lines))
    (tmp_path / "twice.jsonl.gz").write_bytes(gzip.compress("\n".join(lines * 2).encode()))
    once, twice = (
        model_traces([str(tmp_path / name)]) for name in ("once.jsonl", "twice.jsonl.gz")
    )
    assert twice.text == once.text.replace("once", "twice")
    assert "spans_twice" in {finding.kind for finding in twice.findings}


def in_order(threads: int, short: float = 1.0) -> Arrivals:
    """Requests of a pool in order of arrival, 85% full; those that wait do a share of the work."""
    draws = np.random.default_rng(threads)
    n = 4000
    came = np.cumsum(draws.exponential(1 / (0.85 * threads), n))
    free = np.zeros(threads)
    answered = np.empty(n)
    for i in range(n):
        k = int(free.argmin())
        work = draws.exponential(1.0) * (short if free[k] > came[i] else 1.0)
        free[k] = answered[i] = max(came[i], free[k]) + work
    return Arrivals(came, answered, answered, np.zeros(n, int), np.arange(n), np.ones(n, bool))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_pool_is_found_by_who_waited(threads: int) -> None:
    """The number is found exactly."""
    assert pool_of([in_order(threads)]).threads == threads


@pytest.mark.parametrize(("threads", "short"), [(1, 0.86), (2, 0.86)])
def test_a_pool_is_seen_though_those_who_waited_happened_to_work_less(
    threads: int, short: float
) -> None:
    """By 3.4 standard errors, as one pool in 40 did by Welch: their wait counted as work."""
    assert pool_of([in_order(threads, short)]).threads == threads


def test_a_load_that_is_too_high_shows_threads_and_work_alone() -> None:
    """Nobody finds a thread of stock free, so those who waited longest are told from others."""
    found = services_of(read_of([play(SHOP, 1.3 * MOST, 1000, 50)]).loads)
    assert found.pools["stock"].threads == SHOP.threads["stock"]
    for entry in found.entries.values():
        assert abs(entry.work - SHOP.entries[entry.operation].work) < 3 * entry.error


@pytest.fixture(scope="module")
def measured() -> TracedModel:
    """Traces of a measured application."""
    return model_traces(["traces/*.jsonl.gz"], "shop")


def test_the_measured_shop(measured: TracedModel) -> None:
    """Threads, and the model's times at the loads, to 15%.

    Clients of the last load wait for each other, which the model asks from outside: its times are
    longer for that, in the event loop more so than by layers.
    """
    threads = {name: pool.threads for name, pool in measured.services.pools.items()}
    assert threads == {"auth": inf, "catalog": 6, "front": inf, "price": 3, "store": 5}
    assert all(abs(each.difference or inf) < 0.15 for each in measured.compared)


def test_the_measured_shop_is_sized(measured: TracedModel) -> None:
    """At 180/s price lacks a thread, and no other service does: nothing is near the target.

    Of its three threads 2.75 are busy there, by the time that the traces hold them.
    """
    busy = measured.model.at(arrival_rate=180.0)
    choice = {"price_threads": range(3, 6), "store_threads": range(5, 8)}
    best = busy.size(["response_time <= 60 ms"], choice, "price_threads + store_threads").best
    assert [best.values[name] for name in choice] == [4, 5]
    few, enough = (float(busy.solve(price_threads=n).response_time) for n in (3, 4))
    assert enough < 0.06 / 1.1 < 0.06 * 1.15 < few


def test_the_page_says_how_right_models_are() -> None:
    """One of the systems of the page's table: nothing is further off than its line says."""
    page = (Path(__file__).parents[3] / "docs/accuracy/traces.md").read_text()
    lines = dict(
        re.findall(r"^(mean numbers|response times).*?([\d.]+)% at most$", page, re.MULTILINE)[:2]
    )
    figures = trip(7019)
    assert all(each.found for each in figures if each.kind == "structure")
    assert all(each.inside for each in figures if each.kind == "threads")
    most = {
        "calls": float(lines["mean numbers"]) + 0.1,
        "response": float(lines["response times"]) + 1.0,
    }
    for kind, percent in most.items():
        assert max(100 * abs(each.off) for each in figures if each.kind == kind) <= percent


@pytest.mark.slow
def test_structures_come_back() -> None:
    """Of eight systems: structure of each entry, mean calls to 6%, work in its interval."""
    figures = [each for seed in range(500, 508) for each in trip(seed, 1500)]
    assert np.mean([each.found for each in figures if each.kind == "structure"]) > 0.95
    calls = np.abs([each.off for each in figures if each.kind == "calls"])
    assert np.quantile(calls, 0.9) < 0.06
    assert np.mean([each.inside for each in figures if each.kind == "work"]) > 0.88
