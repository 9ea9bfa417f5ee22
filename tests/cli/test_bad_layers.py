"""Faulty layered models, given to the command: one line says what is wrong, and where."""

import pytest

from tests.support.command import refusal

MODEL = """
name = "one"
processors.cpu = {}

[tasks.users]
population = 3
entries.use.calls = { ask = 2 }

[tasks.web]
processor = "cpu"
threads = 2

[tasks.web.entries.ask]
activities = { a = 0.1, b = 0.2, c = 0.3 }
flow = ["a", "reply", { together = ["b", "c"], needed = 1 }]

[tasks.database]
processor = "cpu"
entries.read.demand = 0.1

[tasks.log]
processor = "cpu"
entries.note = { demand = 0.1, calls = { read = 1 } }
"""
CALLED = "entries.use.calls = { ask = 2 }", "entries.use.calls = { ask = 2, note = 1 }"
SENT = "entries.use.calls = { ask = 2 }\nentries.use.sends = { note = 1 }"
CHOICE = '{ choice = [[0.5, "b"], [0.4, "c"]] }'
TOGETHER = '{ together = ["b", "c"], needed = 1 }'

IN_TOML = {
    "circle": (
        "entries.read.demand = 0.1",
        "entries.read = { demand = 0.1, calls = { note = 1 } }",
        "go round without end: note -> read -> note",
    ),
    "itself": (
        "calls = { read = 1 }",
        "calls = { read = 1, note = 1 }",
        "go round without end: note -> note",
    ),
    "threads": (
        "entries.read.demand = 0.1",
        "entries = { read = { calls = { more = 1 } }, more = { demand = 1 } }",
        "wait for each other for ever: database -> database",
    ),
    "nobody": ("note = 1 }", "read = 1 }", "nobody calls entry note"),
    "no processor": ('[tasks.log]\nprocessor = "cpu"', "[tasks.log]", "log has no processor"),
    "another": ('[tasks.log]\nprocessor = "cpu"', '[tasks.log]\nprocessor = "gpu"', "'gpu'"),
    "chances": (TOGETHER, CHOICE, "probabilities of a choice sum to 0.9"),
    "join": (TOGETHER, '{ join = ["b", "c"] }', "a part of a flow is the name"),
    "twice": ('"reply", {', '"reply", "reply", {', "replies twice"),
    "in two branches": (
        '"reply", { together = ["b", "c"]',
        '{ together = [["b", "reply"], ["c", "reply"]]',
        "replies twice, in the branch through ask: b and in the branch through ask: c",
    ),
    "on some ways": (
        f'"reply", {TOGETHER}',
        '{ choice = [[0.5, ["b", "reply"]], [0.5, "c"]] }',
        "on that through ask: b and not on that through ask: c",
    ),
    "in a loop": (
        f'"reply", {TOGETHER}',
        '{ loop = ["b", "reply"], times = 1 }, "c"',
        "inside a loop, which may be done twice or never",
    ),
    "quorum": ("needed = 1", "needed = 3", "cannot wait for 3 of 2 branches"),
    "none needed": ("needed = 1", "needed = 0", "cannot wait for 0 of 2 branches"),
    "no threads": ("threads = 2", "threads = 0", "threads of web is 0"),
    "half": ("threads = 2", "threads = 1.5", "threads of web is 1.5"),
    "nobody at all": ("population = 3", "population = 0", "is 0; it must be"),
    "too many": ("population = 3", "population = 1e30", "it may be 10,000,000 at most"),
    "negative": ("a = 0.1", "a = -0.1", "is -0.1; it must be"),
    "unknown": ("{ read = 1 }", "{ reed = 1 }", "'reed', which is not an entry"),
    "unused": ('["a", "reply"', '["reply"', "activity a appears nowhere"),
    "forwards": (
        "entries.read.demand = 0.1",
        "entries.read = { demand = 0.1, forwards = { ask = 1.5 } }",
        "1.5",
    ),
    "no time": (
        "[tasks.web]\nprocessor",
        "[tasks.idle]\npopulation = 2\nentries.sit = {}\n[tasks.web]\nprocessor",
        "clients idle take no time",
    ),
    "thinks": (
        "threads = 2",
        "threads = 2\nthink_time = 1",
        "think_time of web is of clients alone",
    ),
    "piles up": (
        "note = { demand = 0.1",
        "note = { demand = 100",
        "messages pile up",
    ),
    "key": ("threads = 2", "treads = 2", "unknown key treads"),
}


@pytest.mark.parametrize("case", IN_TOML)
def test_a_faulty_model_is_refused_in_one_line(case, tmp_path):
    """With exit code 2."""
    old, new, words = IN_TOML[case]
    whole = MODEL.replace(*CALLED) if case != "piles up" else MODEL.replace(CALLED[0], SENT)
    assert old in whole
    refused(tmp_path / "one.toml", whole.replace(old, new, 1), words)


HEAD = '<lqn-model name="one"><processor name="p" scheduling="fcfs">'
USERS = """<task name="u" scheduling="ref" multiplicity="3"><entry name="use" type="PH1PH2">
<entry-phase-activities><activity name="use" phase="1" host-demand-mean="1">
<synch-call dest="e" calls-mean="1"/></activity></entry-phase-activities></entry></task>"""
A, B, C = (f'<activity name="{name}" host-demand-mean="1"/>' for name in "abc")
BOUND = '<activity name="a" bound-to-entry="e" host-demand-mean="1"/>'
REPLY = '<reply-entry name="e"><reply-activity name="{}"/></reply-entry>'


def pre(before, after):
    """An arrow between activities."""
    return f"<precedence>{before}{after}</precedence>"


def graph(*parts, task='scheduling="fcfs"'):
    """A task with a graph of activities."""
    return f"""<task name="t" {task}><entry name="e" type="NONE"/><task-activities>
    {BOUND}{B}{C}{"".join(parts)}</task-activities></task>"""


def phases(name, calls="", task='scheduling="fcfs"'):
    """A task with an entry of one phase."""
    call = f'<synch-call dest="{calls}" calls-mean="1"/>' if calls else ""
    return f"""<task name="t{name}" {task}><entry name="{name}" type="PH1PH2">
    <entry-phase-activities><activity name="{name}1" phase="1" host-demand-mean="1">{call}
    </activity></entry-phase-activities></entry></task>"""


FROM_A, TO_B = '<pre><activity name="a"/></pre>', '<post><activity name="b"/></post>'
OR = '<post-OR><activity name="b" prob="0.5"/><activity name="c" prob="0.4"/></post-OR>'
AND = '<post-AND><activity name="b"/><activity name="c"/></post-AND>'
QUORUM = '<pre-AND quorum="3"><activity name="b"/><activity name="c"/></pre-AND>'
LOOP = '<post-LOOP><activity name="b" count="2"/></post-LOOP>'
TO_C = TO_B.replace('"b"', '"c"')
FROM_B = FROM_A.replace('"a"', '"b"')
PHASE = '<activity name="more" phase="1" host-demand-mean="1"/>'
TO_D = '<post><activity name="d"/></post>'
D = '<activity name="d" host-demand-mean="1"/>'

IN_LQNX = {
    "circle": (phases("e", "f") + phases("f", "e"), "go round without end: e -> f -> e"),
    "nobody": (phases("e") + phases("f"), "nobody calls entry f"),
    "no processor": ("</processor>" + phases("e") + '<processor name="q">', "has no processor"),
    "chances": (graph(pre(FROM_A, OR), REPLY.format("a")), "sum to 0.9"),
    "join": (
        graph(pre('<pre-AND><activity name="a"/></pre-AND>', TO_B), REPLY.format("b")),
        "a join without a fork",
    ),
    "twice": (graph(pre(FROM_A, TO_B), REPLY.format("a"), REPLY.format("b")), "twice"),
    "quorum": (
        graph(D, pre(FROM_A, AND), pre(QUORUM, TO_D), REPLY.format("d")),
        "cannot wait for 3 of 2 branches",
    ),
    "no threads": (phases("e", task='scheduling="fcfs" multiplicity="0"'), "threads of te is 0"),
    "misspelt": (phases("e", task='multiplicty="4"'), "'multiplicty'; did you mean multiplicity?"),
    "no name of a call": (
        phases("e", "f").replace('dest="f" ', "") + phases("f"),
        "synch-call: it has no dest; add it",
    ),
    "no type": (phases("e").replace(' type="PH1PH2"', ""), "entry e: it has no type; add it"),
    "element": (phases("e").replace("</task>", "<entri/></task>"), "te: <entri> is not supported"),
    "phase": (
        phases("e").replace('phase="1"', 'phase="4"'),
        "phase 4 is none; phases are 1, 2 and",
    ),
    "half a phase": (phases("e").replace('phase="1"', 'phase="1.5"'), "phase 1.5 is none"),
    "phase twice": (
        phases("e").replace("<entry-phase-activities>", f"<entry-phase-activities>{PHASE}"),
        "phase 1 is given twice",
    ),
    "no phase": (
        '<task name="t"><entry name="e" type="PH1PH2"><entry-phase-activities/></entry></task>',
        "entry e: it has no activities; give it some",
    ),
    "phases and a graph": (
        graph()
        .replace("<entry ", "<entry ")
        .replace(
            'type="NONE"/>',
            f'type="NONE"><entry-phase-activities>{PHASE}</entry-phase-activities></entry>',
        ),
        "entry e: it has phases and a graph of activities; delete one",
    ),
    "calls twice": (
        phases("e", "f").replace("<synch", '<synch-call dest="f" calls-mean="2"/><synch')
        + phases("f"),
        "it calls f twice; add up the calls",
    ),
    "order": (
        phases("e").replace('phase="1"', 'phase="1" call-order="LIST"'),
        "call-order 'LIST' is not supported",
    ),
    "without limit": (
        phases("e", task='scheduling="inf" multiplicity="2"'),
        "is without limit (scheduling inf) and 2-",
    ),
    "nowhere": (
        graph(pre(FROM_A, TO_B), REPLY.format("b")),
        "activity c is reached from no entry; bind it",
    ),
    "activity twice": (graph(B), "activity b is defined twice; rename one"),
    "two firsts": (graph(BOUND.replace('"a"', '"d"')), "entry e: a and d are both bound to it"),
    "bound elsewhere": (
        graph(BOUND.replace('"a"', '"d"').replace('"e"', '"g"')),
        "an activity is bound to 'g', which is not one of its entries",
    ),
    "leads twice": (graph(pre(FROM_A, TO_B), pre(FROM_A, TO_C)), "activity a leads on twice; fork"),
    "led to twice": (
        graph(pre(FROM_A, AND), pre(FROM_B, TO_C), REPLY.format("a")),
        "activity c is led to twice",
    ),
    "replies elsewhere": (
        graph(pre(FROM_A, TO_B), REPLY.format("b").replace('"e"', '"use"')),
        "b replies to 'use', which is not one of its entries",
    ),
    "nowhere to": (graph(pre(FROM_A, "<post/>")), "task t: <post> names no activity"),
    "reply of nothing": (graph(REPLY.format("z")), "'z', which replies, is not an activity"),
    "no reply": (graph(pre(FROM_A, TO_B)), "none of its activities replies"),
    "ends in a loop": (graph(pre(FROM_A, LOOP)), "none of its activities replies"),
    "not a file": ("<", "not XML"),
}


@pytest.mark.parametrize("case", IN_LQNX)
def test_a_faulty_lqnx_is_refused_in_one_line(case, tmp_path):
    """With its file."""
    inside, words = IN_LQNX[case]
    refused(tmp_path / "one.lqnx", f"{HEAD}{USERS}{inside}</processor></lqn-model>", words)


def test_a_document_type_is_refused(tmp_path):
    """Whatever it declares."""
    text = '<!DOCTYPE lqn-model [<!ENTITY a "b">]><lqn-model name="one"/>'
    refused(tmp_path / "one.lqnx", text, "contains a document type")


def refused(path, text, words):
    """Solve a file, which is refused in one line."""
    path.write_text(text, encoding="utf-8")
    assert words in refusal("solve", path)
