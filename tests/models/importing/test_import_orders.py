"""Whose turn it is at the queues of JSIMg files, against the laws that tell its mean."""

import pytest

from headway.models import import_model
from headway.models.importing.orders import STRATEGIES
from tests.models.importing.test_import import CLOSED, EXPONENTIAL, PEERS, single
from tests.support import jmt_files as jmt
from tests.support.command import refusal
from tests.support.places import ROOT

FAST, SLOW = jmt.times("Exponential", {"lambda": 5}), jmt.times("Exponential", {"lambda": 2})
ERLANG = jmt.times("Erlang", {"alpha": 8, "r": 4})  # 0.5 s, scv 1/4
ONCE = jmt.times("Exponential", {"lambda": 1})


def opened(put, kind="Server", laws=(FAST, SLOW), **more):
    """Two open classes of 1 /s each at one queue, of which JMT lets b go first."""
    both, on = dict(zip("ab", laws, strict=True)), dict.fromkeys("ab", "RandomStrategy")
    return jmt.jsimg(
        jmt.open_class("a", priority=0) + jmt.open_class("b", priority=3),
        jmt.source("Source", dict.fromkeys("ab", ONCE), on),
        jmt.queue("cpu", both, on, kind, put, **more),
        jmt.sink(),
        jmt.links(("Source", "cpu"), ("cpu", "Sink")),
    )


def closed(put, kind, laws):
    """Three jobs of a and two of b between a delay and a queue."""
    both, back = dict(zip("ab", laws, strict=True)), dict.fromkeys("ab", "RandomStrategy")
    return jmt.jsimg(
        CLOSED,
        jmt.queue("think", dict.fromkeys("ab", ONCE), back, "Delay"),
        jmt.queue("cpu", both, back, kind, put),
        jmt.links(("think", "cpu"), ("cpu", "think")),
    )


def imported_from(tmp_path, text):
    path = tmp_path / "one.jsimg"
    path.write_text(text)
    return import_model(path)


def response(answer, name):
    return answer.solution[f"class {name}.response_time"]


def test_the_largest_priority_of_jmt_goes_first(tmp_path):
    """Cobham: what is in service, 0.2^2 + 0.5^2, delays b by its own load, a by both."""
    answer = imported_from(tmp_path, opened("TailStrategyPriority"))
    left = 0.2**2 + 0.5**2
    assert not answer.solution.approximation
    assert response(answer, "b") == pytest.approx(0.5 + left / 0.5, rel=1e-12)
    assert response(answer, "a") == pytest.approx(0.2 + left / (0.5 * 0.3), rel=1e-12)


def test_the_largest_priority_interrupts_the_others(tmp_path):
    """To b the queue is M/M/1 of its own; a is stretched by its rounds, and waits for all work."""
    answer = imported_from(tmp_path, opened("FCFSPRStrategyPriority", "PreemptiveServer"))
    assert response(answer, "b") == pytest.approx(0.5 / 0.5, rel=1e-12)
    left = 0.2**2 + 0.5**2
    assert response(answer, "a") == pytest.approx(0.2 / 0.5 + left / (0.5 * 0.3), rel=1e-12)


def test_priorities_have_their_law_of_any_times_at_one_server(tmp_path):
    """Cobham and Kleinrock, of b with Erlang times: what is left of a service is m2 / 2."""
    head = imported_from(tmp_path, opened("TailStrategyPriority", laws=(FAST, ERLANG)))
    left = 0.2**2 + 0.5**2 * 1.25 / 2
    assert not head.solution.approximation
    assert response(head, "b") == pytest.approx(0.5 + left / 0.5, rel=1e-12)
    assert response(head, "a") == pytest.approx(0.2 + left / (0.5 * 0.3), rel=1e-12)
    resumed = imported_from(
        tmp_path, opened("FCFSPRStrategyPriority", "PreemptiveServer", (FAST, ERLANG))
    )
    assert not resumed.solution.approximation
    own = 0.5 + 0.5**2 * 1.25 / 2 / 0.5
    assert response(resumed, "b") == pytest.approx(own, rel=1e-12)
    assert response(resumed, "a") == pytest.approx(0.2 / 0.5 + left / (0.5 * 0.3), rel=1e-12)


@pytest.mark.parametrize("laws", [(FAST, SLOW), (FAST, ERLANG)])
def test_the_last_that_interrupts_has_the_means_of_sharing(tmp_path, laws):
    """Both have one product form, of any times: closed and open ones, exactly."""
    last = imported_from(tmp_path, closed("LCFSPRStrategy", "PreemptiveServer", laws))
    shared = imported_from(tmp_path, closed("TailStrategy", "PSServer", (FAST, SLOW)))
    assert not last.solution.approximation
    for name in ("cpu.queue_length", "cpu.utilisation", "class a.throughput"):
        assert last.solution[name] == pytest.approx(shared.solution[name], rel=1e-12)
    opens = imported_from(tmp_path, opened("LCFSPRStrategy", "PreemptiveServer", laws))
    assert response(opens, "b") == pytest.approx(0.5 / 0.3, rel=1e-12)
    assert ("only the means at cpu agree with the order in the file" in "".join(opens.notes)) is (
        ERLANG in laws
    )


@pytest.mark.parametrize("put", ["RandStrategy", "HeadStrategy"])
def test_who_is_next_changes_no_mean_of_jobs_that_are_alike(tmp_path, put):
    """Two classes of one exponential time are M/M/1; one of any times is Pollaczek-Khinchine's."""
    several = imported_from(tmp_path, opened(put, laws=(FAST, FAST)))
    assert response(several, "a") == pytest.approx(0.2 / 0.6, rel=1e-12)
    one = imported_from(tmp_path, single(ERLANG, put=put))
    assert one.solution.response_time == pytest.approx(0.5 + 0.25 * 1.25 / 2 * 0.5 / 0.75)
    assert "only the means at cpu agree with the order in the file" in one.notes[0]
    assert not several.solution.approximation


def test_random_order_of_unlike_classes_says_that_it_is_near(tmp_path):
    answer = imported_from(tmp_path, closed("RandStrategy", "Server", (FAST, SLOW)))
    assert answer.solution.approximation


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            opened("HeadStrategy"),
            "cpu: last come, first served, without preemption (HeadStrategy) is supported only for",
        ),
        (
            opened("RandStrategy", laws=(FAST, ERLANG)),
            "cpu: service times that are not exponential are not supported in random order",
        ),
        (
            closed("TailStrategyPriority", "Server", (FAST, ERLANG)),
            "cpu: service times that are not exponential are not supported with priorities, except",
        ),
        (
            opened("FCFSPRStrategyPriority", "PreemptiveServer", (FAST, ERLANG), servers=2),
            "cpu: service times that are not exponential are not supported with preemptive",
        ),
        (
            opened("LCFSPRStrategy", "PreemptiveServer", (FAST, ERLANG), servers=2),
            "cpu: service times that are not exponential are not supported with preemption by the",
        ),
        (
            opened("LCFSPRStrategyPriority", "PreemptiveServer"),
            "cpu: preemptive queue strategy LCFSPRStrategyPriority is not supported",
        ),
        (
            opened("TailStrategy", "PreemptiveServer"),
            "cpu: preemptive queue strategy TailStrategy is not supported",
        ),
        (opened("LCFSPRStrategy"), "cpu: queue strategy LCFSPRStrategy is not supported"),
        (opened("SJFStrategy"), "cpu: queue strategy SJFStrategy is not supported"),
        (
            opened("HeadStrategy", "PSServer"),
            "cpu: shared servers with order HeadStrategy are not supported",
        ),
        (
            opened("TailStrategy").replace("TailStrategy", "RandStrategy", 1),
            "cpu: several queue strategies by class (RandStrategy, TailStrategy) are not supported",
        ),
        (
            single(EXPONENTIAL, put="LCFSPRStrategy", kind="PreemptiveServer", size=4),
            "cpu: a limit of 4 jobs is supported only for one open class, served in order of "
            "arrival",
        ),
        (opened("TailStrategyPriority").replace('"3"', '"high"'), "priority is 'high'"),
    ],
)
def test_orders_without_a_law_are_refused_by_name(tmp_path, text, message):
    path = tmp_path / "one.jsimg"
    path.write_text(text)
    assert message in refusal("solve", path)


def test_times_of_any_spread_in_order_of_arrival_say_that_they_are_near():
    """The shared file of Erlang and hyperexponential times beside a simulation of it."""
    answer = import_model(PEERS / "fcfs.jsimg")
    assert "not exponential" in answer.solution.approximation
    by_name = {row["name"]: row["difference"] for row in answer.model.check(half_width=0.05).rows()}
    for name in ("class Class1", "class Class2"):
        assert abs(by_name[f"{name}.throughput"]) < 0.06  # 4% are seen, in intervals of 3 to 7%
        assert abs(by_name[f"{name}.response_time"]) < 0.06


def test_open_classes_of_any_spread_have_the_law_of_their_mixture(tmp_path):
    """Pollaczek-Khinchine: both wait the same, exactly."""
    answer = imported_from(tmp_path, opened("TailStrategy", laws=(FAST, ERLANG)))
    wait = (0.2**2 * 2 + 0.5**2 * 1.25) / 2 / 0.3
    assert not answer.solution.approximation
    assert response(answer, "a") == pytest.approx(0.2 + wait, rel=1e-12)
    assert response(answer, "b") == pytest.approx(0.5 + wait, rel=1e-12)


def test_the_reference_names_every_order():
    page = (ROOT / "docs/reference/jmt-files.md").read_text()
    assert {n for by in STRATEGIES.values() for n in by if f"`{n}`" not in page} == set()
