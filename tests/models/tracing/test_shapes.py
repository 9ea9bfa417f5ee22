"""Shapes of traces that are common in the field: proxies, messages in batches, calls again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.models.tracing.traced import TracedModel, model_traces
from tests.support.shapes import KINDS, Drawing, Shape, Step, drawn

REQUESTS = 300


def modelled(tmp_path: Path, text: str) -> TracedModel:
    path = tmp_path / "load.json"
    path.write_text(text)
    return model_traces([str(path)])


def by_name(answer: TracedModel) -> dict[tuple[str, str], Any]:
    return {(each.service, each.operation): each for each in answer.services.entries.values()}


def calls_of(answer: TracedModel, entry: Any) -> list[tuple[tuple[str, ...], float]]:
    """The operations that an entry asks for at once, and how often it comes to that."""
    numbered = answer.services.numbered
    operation = {key: each.operation for key, each in answer.services.entries.items()}
    return [
        (
            tuple(operation[numbered[callee]] for callee in stage.callees),
            sum(law.mean for law in times),
        )
        for block in entry.doing.blocks
        for stage, times in zip(block.stages, block.times, strict=True)
    ]


def total(answer: TracedModel) -> float:
    """Work of all entries for all requests [s]."""
    return sum(each.work * each.requests for each in answer.services.entries.values())


def spent(text: str, *kinds: int) -> float:
    """Length of all spans of some kinds that are in no other of these kinds [s]."""
    spans = [
        span
        for resource in json.loads(text)["resourceSpans"]
        for span in resource["scopeSpans"][0]["spans"]
    ]
    above = {span["spanId"]: span["parentSpanId"] for span in spans}
    chosen = {span["spanId"] for span in spans if span["kind"] in kinds}
    return sum(
        (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) * 1e-9
        for span in spans
        if span["spanId"] in chosen and above[span["spanId"]] not in chosen
    )


def asks(*steps: Step) -> Shape:
    return Shape("client", "web", "GET", (0.2, *steps, 0.2))


def test_what_a_proxy_repeats_within_one_call_comes_in_turn(tmp_path: Path) -> None:
    """So do redirections that a client follows. What they have in common is the client's span."""
    look = Shape("server", "stock", "look", (5.0,))
    lost = Shape("server", "stock", "look", (2.0,), failed=True)
    page = Shape(
        "server",
        "web",
        "page",
        (1.0, lambda draws: asks(lost, 0.3, look) if draws.random() < 0.3 else asks(look), 1.0),
    )
    answer = modelled(tmp_path, drawn(page, REQUESTS))
    [(callees, often)] = calls_of(answer, by_name(answer)["web", "page"])
    asked = by_name(answer)["stock", "look"].requests
    assert callees == ("look",)
    assert often == pytest.approx(asked / REQUESTS)
    assert asked > 1.2 * REQUESTS
    [compared] = answer.compared
    assert compared.difference == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("apart", [False, True], ids=["one name", "names of their own"])
def test_proxies_beside_services_add_no_requests_of_theirs(tmp_path: Path, apart: bool) -> None:
    """Client, its proxy, the server's proxy and server: two proxies if they have names."""
    beside = "-proxy" if apart else ""
    look = Shape("server", "stock", "GET /look", (4.0,))
    inbound = Shape("server", f"stock{beside}", "stock:80/*", (0.2, look, 0.2))
    outbound = Shape("client", f"web{beside}", "stock:80/*", (0.3, inbound, 0.3))
    page = Shape("server", "web", "GET /page", (2.0, asks(outbound), 1.0))
    answer = modelled(
        tmp_path, drawn(Shape("server", f"web{beside}", "web:80/*", (0.1, page, 0.1)))
    )
    entries = by_name(answer)
    assert len(entries) == (5 if apart else 2)
    assert {("web", "GET /page"), ("stock", "GET /look")} <= entries.keys()
    assert {each.requests for each in entries.values()} == {REQUESTS}
    texts = [each.text for each in answer.findings if each.kind == "requests_told_twice"]
    assert len(texts) == (not apart)
    assert all(f"load has {2 * REQUESTS} spans of servers or consumers" in text for text in texts)
    work = entries["stock", "GET /look"].work
    assert work == pytest.approx(0.004 if apart else 0.0044, rel=0.2)
    [compared] = answer.compared
    assert compared.difference == pytest.approx(0, abs=1e-3)


def test_requests_with_one_span_more_hold_one_thread(tmp_path: Path) -> None:
    """Two threads, and two spans of each request: with three, none of them would wait."""
    draws = np.random.default_rng(5)
    text = Drawing()
    free = [0.0, 0.0]
    at = 1.7e12
    for _ in range(2000):
        at += draws.exponential(3.6)
        begin = max(at, min(free))
        end = begin + draws.exponential(5.0)
        free[free.index(min(free))] = end
        trace = text.identifier(32)
        text.draw(_lasting("server", "web", "GET"), at, trace)
        text.last(at, end)
        text.draw(_lasting("server", "web", "GET /page"), at, trace, text.key)
        text.last(at, end)
    answer = modelled(tmp_path, text.text())
    [entry] = answer.services.entries.values()
    assert (entry.operation, entry.requests) == ("GET /page", 2000)
    assert answer.services.pools["web"].threads == 2


BEGUN = {
    "by a consumer": "consumer",
    "by a client": "client",
    "by a poll": "internal",
}


def batches(kind: str, within: bool, size: int = 5) -> str:
    """Messages of web that mailer takes five at a time, with links in one span or in each."""
    text, at = Drawing(3), 1.7e12
    sent: list[tuple[str, str]] = []
    publish = Shape("producer", "web", "orders publish", (0.3,))
    for _ in range(REQUESTS):
        at += text.draws.expovariate(1 / 20)
        trace = text.identifier(32)
        text.draw(Shape("server", "web", "order", (2.0, publish)), at, trace)
        [sender] = [s["spanId"] for _, s in text.spans[-2:] if s["kind"] == 4]
        sent.append((trace, sender))
        if len(sent) == size:
            _take(text, at + 30, kind, sent, within)
            sent = []
    return text.text()


def _take(text: Drawing, at: float, kind: str, sent: list[tuple[str, str]], within: bool) -> None:
    trace = text.identifier(32)
    each = tuple(Shape("consumer", "mailer", "orders process", (4.0,)) for _ in sent)
    insert = Shape("client", "mailer", "insert", (3.0,), about=(("db.system", "mysql"),))
    receive = Shape(kind, "mailer", "orders receive", (0.3, *(each if within else ()), insert))
    text.draw(receive, at, trace, links=() if within else sent)
    processed = [span for _, span in text.spans if span["traceId"] == trace and span["kind"] == 5]
    for span, (other, itself) in zip(processed[: len(sent)], sent if within else (), strict=within):
        span["links"] = [{"traceId": other, "spanId": itself}]


@pytest.mark.parametrize("within", [False, True], ids=["links", "links within"])
@pytest.mark.parametrize("kind", BEGUN.values(), ids=BEGUN)
def test_messages_taken_several_at_once_are_received(
    tmp_path: Path, kind: str, within: bool
) -> None:
    """Each batch counts as sent by one sender, and the others' messages are no one else's."""
    answer = modelled(tmp_path, text := batches(kind, within))
    entries = by_name(answer)
    batch = entries["mailer", "orders receive"]
    assert entries.keys() == {("web", "order"), ("mailer", "orders receive"), ("mysql", "mysql")}
    assert batch.requests == REQUESTS / 5
    [laws] = entries["web", "order"].messages.values()
    assert sum(law.mean for law in laws) == pytest.approx(0.2)
    assert "receivers_not_traced" not in {finding.kind for finding in answer.findings}
    [load] = answer.services.loads
    assert load.traces == REQUESTS
    whole = spent(text, KINDS["server"], KINDS[kind])
    assert total(answer) == pytest.approx(whole, rel=0.02)


def _hedged(draws: np.random.Generator, delay: float) -> tuple[float, float, float]:
    """When the first of two calls is answered, and how long both work [ms]."""
    one, other = draws.exponential(5.0, 2)
    return min(one, delay + other), one, other


@pytest.mark.parametrize("delay", [0.0, 8.0], ids=["at once", "after a while"])
def test_calls_that_are_cancelled_after_an_answer_race_for_it(tmp_path: Path, delay: float) -> None:
    """The store works on. Of two at once, the first answer takes half of the mean."""
    draws, text, at = np.random.default_rng(8), Drawing(), 1.7e12
    twice = 0
    for _ in range(1000):
        at += draws.exponential(40.0)
        first, *works = _hedged(draws, delay)
        trace = text.identifier(32)
        text.draw(_lasting("server", "web", "page"), at, trace)
        text.last(at, at + first)
        page = text.key
        for work, begun in zip(works, (at, at + delay), strict=True):
            if begun < at + first:
                answered = begun + work <= at + first + 1e-9
                text.draw(_lasting("client", "web", "read", failed=not answered), at, trace, page)
                text.last(begun, at + first)
                text.draw(_lasting("server", "store", "read"), at, trace, text.key)
                text.last(begun, begun + work)
                twice += begun > at
    answer = modelled(tmp_path, text.text())
    entries = by_name(answer)
    assert entries.keys() == {("web", "page"), ("store", "read")}
    assert entries["store", "read"].requests == (1000 + twice if delay else 2000)
    assert entries["store", "read"].work == pytest.approx(0.005, rel=0.1)
    [compared] = answer.compared
    assert compared.difference == pytest.approx(0, abs=0.05)


def test_timeouts_near_the_answer_to_another_call_are_given_up(tmp_path: Path) -> None:
    """Of two calls at once, one is given up after 20 ms whatever the other does."""
    draws, text, at = np.random.default_rng(9), Drawing(), 1.7e12
    slow = 0
    for _ in range(800):
        at += draws.exponential(80.0)
        works = draws.exponential(15.0, 2)
        waits = np.minimum(works, 20.0)
        trace = text.identifier(32)
        text.draw(_lasting("server", "web", "page"), at, trace)
        text.last(at, at + waits.max())
        page = text.key
        for work, wait in zip(works, waits, strict=True):
            text.draw(_lasting("client", "web", "read", failed=work > wait), at, trace, page)
            text.last(at, at + wait)
            text.draw(_lasting("server", "store", "read"), at, trace, text.key)
            text.last(at, at + work)
        slow += int((works > 1.05 * waits).sum())
    [load] = modelled(tmp_path, text.text()).services.requests
    assert load.failures.given_up == slow


def _lasting(kind: str, service: str, name: str, failed: bool = False) -> Shape:
    return Shape(kind, service, name, (), failed)


def many(names: list[str]) -> str:
    text, at = Drawing(), 1.7e12
    for name in names:
        at += text.draws.expovariate(1 / 20)
        text.draw(Shape("server", "web", name, (2.0,)), at, text.identifier(32))
    return text.text()


def test_identifiers_of_letters_and_digits_are_told_by_their_number(tmp_path: Path) -> None:
    """Of 200 such names one in seven has no digit, and stands for itself."""
    draws, letters = (
        np.random.default_rng(1),
        list("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRST"),
    )
    each = letters + list("0123456789")
    keys = ["".join(draws.choice(each, 11)) for _ in range(200)]
    answer = modelled(tmp_path, many([f"GET /v/{key}" for key in keys]))
    plain = sum(not any(c.isdigit() for c in key) for key in keys)
    assert len(answer.services.entries) == plain + 1
    assert by_name(answer)["web", "GET /v/{id}"].requests == 200 - plain


def test_operations_that_are_asked_for_only_once_are_a_finding(tmp_path: Path) -> None:
    draws = np.random.default_rng(2)
    keys = ["".join(draws.choice(list("abcdefghij"), 9)) for _ in range(60)]
    names = [f"GET /of/{key}" for key in keys]
    few = modelled(tmp_path, many([*names[:50], "GET /", "GET /"]))
    assert "operations_asked_once" not in {finding.kind for finding in few.findings}
    answer = modelled(tmp_path, many([*names, "GET /", "GET /"]))
    [text] = [each.text for each in answer.findings if each.kind == "operations_asked_once"]
    assert "60 operations of 'web' were asked for only once" in text


@pytest.mark.parametrize(
    ("abouts", "peers"),
    [
        (({"db.name": "shop"}, {"db.name": "shop"}), {"shop"}),
        (({"db.system": "mysql", "db.name": "a"}, {"db.system": "mysql"}), {"mysql"}),
        (({"http.url": "http://stock:80/a/5"}, {"url.full": "http://me:it@stock:80/b?c=1"}),
         {"stock:80"}),
        (({"rpc.service": "cart.Cart"}, {"rpc.service": "stock.Stock"}),
         {"cart.Cart", "stock.Stock"}),
        (({"messaging.system": "kafka", "messaging.destination": "a"},
          {"messaging.system": "kafka", "messaging.destination.name": "b"}), {"a", "b"}),
        (({"server.address": "db-1", "db.name": "a"}, {"net.peer.name": "db-1"}), {"db-1"}),
    ],
    ids=["database", "system", "url", "rpc", "topics", "address"],
)  # fmt: skip
def test_callees_without_spans_have_the_name_that_their_callers_know(
    tmp_path: Path, abouts: tuple[dict[str, str], ...], peers: set[str]
) -> None:
    calls = [
        Shape("client", "web", f"ask {k}", (3.0,), about=tuple(each.items()))
        for k, each in zip("ab", abouts, strict=True)
    ]
    answer = modelled(tmp_path, drawn(Shape("server", "web", "page", (1.0, *calls)), 50))
    named = {each.service for each in answer.services.entries.values() if each.peer}
    assert named == peers
