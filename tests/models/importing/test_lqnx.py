"""LQNX files: what they mean, against laws and the event loop, and what is refused."""

import json

import pytest

from headway.errors import ModelFileError
from headway.models import find_model, import_model
from headway.queueing.layers.flow import NOBODY, Choice, Loop, Reply, Step, Together
from headway.queueing.layers.playing import play_layers
from tests.support.places import ROOT

FILES = ROOT / "tests/data/lqn"
RANDOM = sorted(FILES.glob("model_*.lqnx"))


def written(tmp_path, inside, users='<synch-call dest="e" calls-mean="1"/>'):
    """A file with one kind of clients and what else is given."""
    path = tmp_path / "one.lqnx"
    path.write_text(
        f"""<lqn-model name="one"><processor name="p" scheduling="inf">
        <task name="u" scheduling="ref" multiplicity="1"><entry name="u" type="PH1PH2">
        <entry-phase-activities><activity name="u1" phase="1" host-demand-mean="1">{users}
        </activity></entry-phase-activities></entry></task>{inside}</processor></lqn-model>"""
    )
    return str(path)


def activities(graph, first="a"):
    """A task whose entry begins with an activity of a graph."""
    each = "".join(
        f'<activity name="{name}" host-demand-mean="1"'
        + (' bound-to-entry="e"' if name == first else "")
        + "/>"
        for name in "abcd"
    )
    return f"""<task name="t"><entry name="e" type="NONE"/><task-activities>{each}{graph}
    </task-activities></task>"""


def test_the_example_is_a_closed_network_of_two_queues():
    """Ten clients think for 5 s, and share two processors of 1 s and 2.5 x 0.8 s: by hand."""
    queues, rate = [0.0, 0.0], 0.0
    for n in range(1, 11):
        stays = [demand * (1 + queue) for demand, queue in zip((1.0, 2.0), queues, strict=True)]
        rate = n / (5.0 + sum(stays))
        queues = [rate * stay for stay in stays]
    solution = find_model(str(FILES / "example.lqnx")).solve(method="exact")
    assert solution.throughput == pytest.approx(rate, rel=1e-9)


def test_a_forwarded_request_is_waited_for():
    """Three times of 1 s in turn: X = 1/3."""
    solution = find_model(str(FILES / "simple-forwarding.lqnx")).solve()
    assert solution.throughput == pytest.approx(1 / 3, rel=1e-9)
    assert solution.method == "product form"


@pytest.mark.parametrize("path", RANDOM, ids=lambda path: path.stem[6:])
def test_random_models_are_those_of_the_event_loop(path):
    """The whole chain lies in its 99.9% interval."""
    model = find_model(str(path))
    played = play_layers(model.graph.layers.at("played", model.inputs), 400_000, seed=5)
    exact = model.solve(method="exact")
    assert played.clients["c0"].throughput.holds(float(exact["c0.throughput"]), 0.999)


def test_numbers_are_parameters():
    """Clients and threads by the name of their task, so that they can be set and sized."""
    model = find_model(str(RANDOM[0]))
    assert {"c0_population", "t0_threads"} <= set(model.parameters)
    more = model.at(c0_population=1).solve().throughput
    assert more < model.solve().throughput


def test_graphs_of_activities_are_flows(tmp_path):
    """A fork with a quorum, behind it a choice and a loop, and a reply before the end."""
    graph = """
    <precedence><pre><activity name="a"/></pre>
      <post-AND><activity name="b"/><activity name="c"/></post-AND></precedence>
    <precedence><pre-AND quorum="1"><activity name="b"/><activity name="c"/></pre-AND>
      <post><activity name="d"/></post></precedence>
    <reply-entry name="e"><reply-activity name="d"/></reply-entry>"""
    model = find_model(written(tmp_path, activities(graph)))
    flow = model.graph.layers.at("x", model.inputs).entries["e"].flow
    together = next(part for part in flow.parts if isinstance(part, Together))
    assert together.needed == 1
    assert any(isinstance(part, Reply) for part in flow.parts[-1].parts)
    replying = graph.replace('reply-activity name="d"', 'reply-activity name="b"')
    model = find_model(written(tmp_path, activities(replying)))
    assert model.solve().method == "chain"
    flow = model.graph.layers.at("x", model.inputs).entries["e"].flow
    together = next(part for part in flow.parts if isinstance(part, Together))
    assert Reply() in together.branches[0].parts
    looped = """
    <precedence><pre><activity name="a"/></pre>
      <post-OR><activity name="b" prob="0.3"/><activity name="c" prob="0.7"/></post-OR></precedence>
    <precedence><pre-OR><activity name="b"/><activity name="c"/></pre-OR>
      <post-LOOP end="a"><activity name="d" count="3"/></post-LOOP></precedence>"""
    with pytest.raises(ModelFileError, match="go round: a -> b -> a"):
        find_model(written(tmp_path, activities(looped)))
    looped = looped.replace('<post-LOOP end="a">', "<post-LOOP>")
    with pytest.raises(ModelFileError, match="none of its activities replies"):
        find_model(written(tmp_path, activities(looped)))
    looped = looped.replace("<post-LOOP>", '<post-LOOP end="z">')
    looped += """<activity name="z" host-demand-mean="1"/>
    <reply-entry name="e"><reply-activity name="z"/></reply-entry>"""
    model = find_model(written(tmp_path, activities(looped)))
    flow = model.graph.layers.at("x", model.inputs).entries["e"].flow
    kinds = [type(part) for part in flow.parts]
    assert kinds[:4] == [Step, Choice, Loop, Step]
    solution = model.solve()
    assert solution.throughput == pytest.approx(1 / (1 + 1 + 1 + 3 + 1), rel=1e-9)


CROSSED = """P 1  p cpu i  -1
T 1  t users r use -1 cpu m 1  -1
E 1  A use a  -1
A users  s a 1 -1  s b 1 -1  s c 1 -1  s d 2 -1  s e 3 -1  s f 1 -1  s g 1 -1
: a -> b & c; b -> d & e; c & d -> f; f & e -> g  -1
"""


def test_joins_of_branches_of_several_forks(tmp_path):
    """A client alone; of exponential times the mean until the last is found state by state."""
    file = tmp_path / "crossed.in"
    file.write_text(CROSSED)
    model = find_model(str(file))
    assert model.solve().method == "chain"
    together = model.graph.layers.at("x", model.inputs).entries["use"].flow.parts[1]
    assert together.behind == (NOBODY, NOBODY, ((0,), 1), ((1, 2), 2), ((0,), 1), ((3, 4), 2))
    before = {"b": "", "c": "", "d": "b", "e": "b", "f": "cd", "g": "fe"}
    rates = {"b": 1, "c": 1, "d": 1 / 2, "e": 1 / 3, "f": 1, "g": 1}

    def mean(done):
        left = [n for n, waits in before.items() if n not in done and {*waits} <= done]
        if not left:
            return 0.0
        return (1 + sum(rates[n] * mean(done | {n}) for n in left)) / sum(rates[n] for n in left)

    assert model.solve().throughput == pytest.approx(1 / (1 + mean(frozenset())), rel=1e-9)


BROKEN = {
    "c & d -> f; f & e -> b": "go round to d; use a loop",
    "c & d & e -> f": "the join of c, d, e ends several branches of one fork and others",
    "c & d & g -> f": "not all that a join needs follow from the fork to b and c",
}


@pytest.mark.parametrize("joins", BROKEN)
def test_joins_that_cannot_be_are_refused(joins, tmp_path):
    """Around, of all of an inner fork beside others, and of an activity that nothing leads to."""
    file = tmp_path / "crossed.in"
    file.write_text(CROSSED.replace("c & d -> f; f & e -> g", joins))
    with pytest.raises(ModelFileError, match=BROKEN[joins]):
        find_model(str(file))


def test_results_in_a_file_are_compared():
    """One customer: X = 1 / (2 + 0.5 + 2 x 1.25) = 0.2; the file is 2.5% off at one place."""
    answer = import_model(FILES / "shop_with_results.lqnx")
    off = {(line.station, line.measure): line.difference for line in answer.lines}
    wrong = {("web", "throughput"), ("page", "throughput")}
    for key, difference in off.items():
        assert difference == pytest.approx(0.4 / 0.41 - 1 if key in wrong else 0, abs=1e-9)
    inside = {(line.station, line.measure): line.inside for line in answer.lines}
    assert {key for key, is_in in inside.items() if is_in is False} == {("web", "throughput")}
    assert ("web", "busy") in {key for key, is_in in inside.items() if is_in}
    assert set(answer.file.unread) == {
        "proc-utilization",
        "squared-coeff-variation",
        "proc-waiting",
    }
    text = str(answer)
    assert "2 of 3 simulated intervals of the file contain the solved value" in text
    assert "not compared: proc-utilization" in text
    document = json.loads(answer.to_json())
    assert document["values"][0] == {
        "part": "processor",
        "name": "desk",
        "measure": "busy",
        "in_file": 0.1,
        "interval": None,
        "solved": pytest.approx(0.1, rel=1e-9),
        "difference": pytest.approx(0, abs=1e-9),
        "inside": None,
    }


PHASES = """<lqn-model name="phases"><processor name="desk" scheduling="inf">
<task name="user" scheduling="ref"><entry name="use" type="PH1PH2"><entry-phase-activities>
<activity name="ask" phase="2" host-demand-mean="1">
<result-activity service-time="2"><result-conf-95 service-time="0.1"/></result-activity>
<synch-call dest="page" calls-mean="1"/></activity>
<activity name="read" phase="3" host-demand-mean="3">
<result-activity service-time="3"><result-conf-95 service-time="0.2"/></result-activity>
</activity></entry-phase-activities></entry></task></processor>
<processor name="web" scheduling="inf"><task name="web" scheduling="inf">
<entry name="page" type="PH1PH2" open-arrival-rate="0.5"><result-entry open-wait-time="1"/>
<entry-phase-activities><activity name="p1" phase="1" host-demand-mean="1">
<result-activity service-time="1"/></activity>
<activity name="p2" phase="2" host-demand-mean="0.5"><result-activity service-time="0.5"/>
</activity>
<activity name="p3" phase="3" host-demand-mean="0.25"><result-activity service-time="0.25"/>
</activity></entry-phase-activities></entry></task></processor></lqn-model>"""


def test_times_of_phases_and_of_requests_from_outside_mean_the_same(tmp_path):
    """Behind the answer are phases 2 and 3; clients have one time; and waits have the service in.

    Nobody waits for anybody, so each time is that of its demands.
    """
    path = tmp_path / "phases.lqnx"
    path.write_text(PHASES)
    answer = import_model(path)
    found = {(line.station, line.measure): line for line in answer.lines}
    assert {key: line.in_file for key, line in found.items()} == {
        ("use", "service_time"): 5,
        ("page", "response_time"): 1,
        ("page", "service_time"): 1,
        ("page", "second_phase"): 0.75,
    }
    for line in found.values():
        assert line.difference == pytest.approx(0, abs=1e-9)
    given = found["use", "service_time"].expected
    assert (given.low, given.high) == pytest.approx((4.7, 5.3))


def test_parts_of_one_name_have_numbers_of_their_own(tmp_path):
    """A task, its processor and its first entry are all called web."""
    path = tmp_path / "one.lqnx"
    path.write_text(
        """<lqn-model name="one"><processor name="u" scheduling="fcfs">
        <task name="u" scheduling="ref"><entry name="u" type="PH1PH2"><entry-phase-activities>
        <activity name="u" phase="1" host-demand-mean="1"><synch-call dest="web" calls-mean="1"/>
        <synch-call dest="x" calls-mean="1"/></activity></entry-phase-activities></entry></task>
        </processor><processor name="web" scheduling="fcfs">
        <task name="web" scheduling="fcfs"><entry name="web" type="PH1PH2"><entry-phase-activities>
        <activity name="a" phase="1" host-demand-mean="2" think-time="1"/></entry-phase-activities>
        </entry><entry name="x" type="PH1PH2"><entry-phase-activities>
        <activity name="b" phase="1" host-demand-mean="4"/></entry-phase-activities></entry></task>
        </processor></lqn-model>"""
    )
    (point,) = json.loads(find_model(str(path)).solve().to_json())["points"]
    assert point["entries"]["web"]["throughput"] == pytest.approx(1 / 8, rel=1e-9)
    assert point["entries"]["web"]["service_time"] == pytest.approx(3, rel=1e-9)
    assert point["tasks"]["web"]["throughput"] == pytest.approx(2 / 8, rel=1e-9)
    assert point["tasks"]["web"]["busy"] == pytest.approx(7 / 8, rel=1e-9)
    assert point["processors"]["web"]["busy"] == pytest.approx(6 / 8, rel=1e-9)
    assert point["processors"]["u"]["busy"] == pytest.approx(1 / 8, rel=1e-9)


REFUSED = {
    "semaphore": ('<task name="t" scheduling="semaphore"/>', "scheduling 'semaphore' is not"),
    "rwlock": ('<task name="t" scheduling="rwlock"/>', "scheduling 'rwlock' is not supported"),
    "replication": ('<task name="t" replication="some"/>', "replication is 'some'; it must be a"),
    "no entry": ('<task name="t"/>', "task t has no entry"),
    "no call": ("", "calls 'e', which is not an entry"),
    "twice": ('<task name="u"/>', "task u is defined twice"),
    "unbound": (
        '<task name="t"><entry name="e" type="NONE"/><task-activities/></task>',
        "no activity is bound",
    ),
    "join": (
        activities(
            '<precedence><pre-AND><activity name="a"/></pre-AND><post><activity name="b"/></post>'
            "</precedence>"
        ),
        "a join without a fork",
    ),
    "join of one of two entries": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="NONE"/>
        <entry name="f" type="NONE"/><task-activities>
        <activity name="a" bound-to-entry="e"/><activity name="b" bound-to-entry="f"/>
        <activity name="c"/><precedence><pre-AND quorum="1"><activity name="a"/>
        <activity name="b"/></pre-AND><post><activity name="c"/></post></precedence>
        </task-activities></task>""",
        "the join of a, b is of 2 entries; it needs one activity of each, and all of them",
    ),
    "unknown activity": (
        activities(
            '<precedence><pre><activity name="a"/></pre><post><activity name="z"/></post>'
            "</precedence>"
        ),
        "'z' is not an activity",
    ),
    "chances": (
        activities(
            '<precedence><pre><activity name="a"/></pre><post-OR><activity name="b" prob="0.5"/>'
            '<activity name="c" prob="0.4"/></post-OR></precedence>'
        ),
        "probabilities of a choice sum to 0.9",
    ),
    "demand": (
        '<task name="t"><entry name="e" type="PH1PH2"><entry-phase-activities><activity name="a" '
        'phase="1" host-demand-mean="much"/></entry-phase-activities></entry></task>',
        "host-demand-mean is 'much'; it must be a number",
    ),
    "no reply": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="NONE"/><task-activities>
        <activity name="a" bound-to-entry="e" host-demand-mean="1"/></task-activities></task>""",
        "entry e: none of its activities replies, and its callers wait",
    ),
    "a reply for nobody": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="PH1PH2"><entry-phase-activities>
        <activity name="p" phase="1"><asynch-call dest="f" calls-mean="1"/></activity>
        </entry-phase-activities></entry></task>
        <task name="v" scheduling="fcfs"><entry name="f" type="NONE"/><task-activities>
        <activity name="a" bound-to-entry="f" host-demand-mean="1"/>
        <reply-entry name="f"><reply-activity name="a"/></reply-entry></task-activities></task>""",
        "entry f: activity a replies, but nobody waits for it, as it is only sent to; leave the",
    ),
    "circle": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="PH1PH2"><entry-phase-activities>
        <activity name="a" phase="1" host-demand-mean="1"><synch-call dest="f" calls-mean="1"/>
        </activity></entry-phase-activities></entry></task>
        <task name="v" scheduling="fcfs"><entry name="f" type="PH1PH2"><entry-phase-activities>
        <activity name="b" phase="1" host-demand-mean="1"><synch-call dest="e" calls-mean="1"/>
        </activity></entry-phase-activities></entry></task>""",
        "requests go round without end: e -> f -> e; break the circle",
    ),
    "two graphs": (
        '<task name="t"><entry name="e" type="NONE"/><task-activities/><task-activities/></task>',
        "task t: it has two graphs of activities; put all into one",
    ),
    "a phase twice": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="PH1PH2"><entry-phase-activities>
        <activity name="a" phase="1" host-demand-mean="1"/>
        <activity name="a" phase="2" host-demand-mean="1"/>
        </entry-phase-activities></entry></task>""",
        "task t: activity a is defined twice; rename one",
    ),
    "a type that is none": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="PHASES"><entry-phase-activities>
        <activity name="a" phase="1"/></entry-phase-activities></entry></task>""",
        "entry e: type 'PHASES' is none; it is PH1PH2 with phases, and NONE without",
    ),
    "a type of the other kind": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="NONE"><entry-phase-activities>
        <activity name="a" phase="1"/></entry-phase-activities></entry></task>""",
        "entry e: it has phases, but its type is NONE; change one of them",
    ),
    "a fan-in from nobody": (
        """<task name="t" scheduling="fcfs" replication="2"><fan-in source="us" value="2"/>
        <entry name="e" type="PH1PH2"><entry-phase-activities>
        <activity name="a" phase="1"/></entry-phase-activities></entry></task>""",
        "task t: its fan-in has source 'us', which is not a task",
    ),
    "led to twice": (
        activities(
            '<precedence><pre><activity name="a"/></pre><post-AND><activity name="b"/>'
            '<activity name="c"/></post-AND></precedence><precedence><pre-AND><activity name="b"/>'
            '<activity name="c"/></pre-AND><post><activity name="b"/></post></precedence>'
        ),
        "task t: activity b is led to twice, or bound to an entry too",
    ),
    "led to and bound": (
        """<task name="t" scheduling="fcfs"><entry name="e" type="NONE"/>
        <entry name="f" type="NONE" open-arrival-rate="0.1"/><task-activities>
        <activity name="a" bound-to-entry="e"/><activity name="b" bound-to-entry="f"/>
        <precedence><pre><activity name="a"/></pre><post><activity name="b"/></post></precedence>
        <reply-entry name="e"><reply-activity name="b"/></reply-entry></task-activities></task>""",
        "task t: activity b is led to twice, or bound to an entry too",
    ),
    "quorum": (
        activities(
            '<precedence><pre><activity name="a"/></pre><post-AND><activity name="b"/>'
            '<activity name="c"/></post-AND></precedence><precedence><pre-AND quorum="1.5">'
            '<activity name="b"/><activity name="c"/></pre-AND></precedence>'
        ),
        "quorum is 1.5; it must be a whole number",
    ),
    "no processor": (
        '</processor><task name="lost"/><processor name="q">',
        "task lost: it has no processor; put it into one",
    ),
}


def test_a_document_type_is_refused_without_a_word_of_other_tools(tmp_path):
    """Whatever it declares."""
    path = tmp_path / "one.lqnx"
    path.write_text('<!DOCTYPE lqn-model [<!ENTITY a "b">]><lqn-model name="one"/>')
    with pytest.raises(ModelFileError, match="contains a document type; models need none"):
        find_model(str(path))


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_is_refused_by_name(case, tmp_path):
    """In one line, with the file."""
    inside, words = REFUSED[case]
    with pytest.raises(ModelFileError, match=words) as refused:
        find_model(written(tmp_path, inside))
    assert "\n" not in str(refused.value)
    assert "one.lqnx" in str(refused.value)
