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
    "quorum": ("needed = 1", "needed = 3", "cannot wait for 3 of 2 branches"),
    "none needed": ("needed = 1", "needed = 0", "cannot wait for 0 of 2 branches"),
    "no threads": ("threads = 2", "threads = 0", "threads of web is 0"),
    "half": ("threads = 2", "threads = 1.5", "threads of web is 1.5"),
    "nobody at all": ("population = 3", "population = 0", "is 0; it must be"),
    "negative": ("a = 0.1", "a = -0.1", "is -0.1; it must be"),
    "unknown": ("{ read = 1 }", "{ reed = 1 }", "'reed', which is no entry"),
    "unused": ('["a", "reply"', '["reply"', "activity a stands nowhere"),
    "forwards": (
        "entries.read.demand = 0.1",
        "entries.read = { demand = 0.1, forwards = { ask = 1.5 } }",
        "1.5",
    ),
    "key": ("threads = 2", "treads = 2", "unknown key treads"),
}


@pytest.mark.parametrize("case", IN_TOML)
def test_a_faulty_model_is_refused_in_one_line(case, tmp_path):
    """With exit code 2."""
    old, new, words = IN_TOML[case]
    whole = MODEL.replace(*CALLED)
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
