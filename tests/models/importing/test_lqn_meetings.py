"""Joins of activities of several entries in LQNX and its text form: read, written and answered."""

import pytest

from headway.errors import ModelFileError
from headway.models import find_model, parse_model
from headway.models.files.writing import to_toml
from headway.models.importing.lqn.lqnx import read_lqnx
from headway.models.importing.lqn.writing import to_lqnx
from headway.models.importing.reader import model_of
from headway.models.importing.safe_xml import parse_xml
from headway.models.structure.layered import system_of
from headway.models.structure.parts.flows import parts_of
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.flow import Reply
from headway.queueing.layers.program import program_of
from tests.models.importing.test_lqnx_written import model_of as model_from
from tests.models.importing.test_lqnx_written import same
from tests.support.cases import mostly_slow
from tests.support.layered_systems import closed_meeting
from tests.support.layers import layered_system, with_meeting

NEAR = 3e-3  # the widest interval of the published means is 1% wide (95%)

TWO = """
P 3 p p1 f {users}  p p2 f {users}  p p3 f -1
T 3 t t1 r e1 -1 p1  t t2 r e2 -1 p2  t t3 n e3 e4 -1 p3 -1
E 4
s e1 1 -1  y e1 e3 1 -1
s e2 1 -1  y e2 e4 1 -1
A e3 a1  A e4 a2
-1
A t3 {steps}
:
{flow}
-1
"""

SOLVED = {
    "80": ("", 3, "a2 & a1 -> a3; a3[e3,e4]", (0.584719, 0.585908, 0.585226, 0.707346, 0.175524)),
    "81": ("", 3, "a1[e3] & a2 -> a3; a3[e4]", (0.665232, 0.666455, 0.666358, 0.805315, 0.199795)),
    "82": (
        "i",
        6,
        "a1 -> a3 & a4; a4[e3] & a3 -> a5; a5 & a2 -> a6; a6[e4]",
        (0.615611, 0.614749, 0.615711, 0.827914, 0.369416),
    ),
    "83": (
        "i",
        6,
        "a1 -> (0.4) a3 + (0.6) a4; a3 + a4 -> a5; a5[e3] & a2 -> a6; a6[e4]",
        (0.615586, 0.616678, 0.616519, 0.802428, 0.308294),
    ),
}
"""Models of the regression tests of LQNS, and what its simulator says of them (``sim-results``):
throughput of the clients, of the task that lets them meet, its utilisation, and its processor's.
"""


def text_of(users: str, count: int, flow: str) -> str:
    """The text of a model in which two clients meet."""
    steps = " ".join(f"s a{n} 0.1" for n in range(1, count + 1))
    return TWO.format(users=users, steps=steps, flow=flow)


def read(tmp_path, *parts):
    path = tmp_path / "met.in"
    path.write_text(text_of(*parts))
    return model_of(path)


@pytest.mark.parametrize("case", SOLVED)
def test_answers_are_those_of_another_simulator(case, tmp_path):
    """Within its intervals, the widest of 1% (95%)."""
    *parts, known = SOLVED[case]
    means = by_chain(system_of(read(tmp_path, *parts))[0])
    assert means is not None
    rates = [means.throughput(name) for name in ("t1", "t2", "t3")]
    assert [*rates, means.busy("t3"), means.use("p3")] == pytest.approx(known, rel=NEAR)


@pytest.mark.parametrize("case", SOLVED)
def test_what_is_read_is_written_and_read_again(case, tmp_path):
    model = read(tmp_path, *SOLVED[case][:3])
    system, text = system_of(model)[0], to_toml(model)
    assert system.entries["e3_and_e4"].meets == ("e3", "e4")
    assert to_toml(parse_model(text)) == text
    written = read_lqnx(parse_xml(to_lqnx(model).encode(), "x"), "x", "x")
    for again in (parse_model(text), written):
        other = system_of(again)[0]
        assert program_of(system) == program_of(other)
        assert (system.processors, system.tasks) == (other.processors, other.tasks)


def test_a_meeting_says_whom_it_answers_and_when(tmp_path):
    flow = "a1 & a2 -> a3; a3[e4] -> a4; a4[e3]"
    entry = system_of(read(tmp_path, "", 4, flow))[0].entries["e3_and_e4"]
    said = [part if isinstance(part, Reply) else part.name for part in parts_of(entry.flow)]
    assert said == ["a3", Reply("e4"), "a4", Reply("e3")]


@pytest.mark.parametrize("seed", range(6))
def test_drawn_meetings_are_written_as_model_files(seed):
    """Beside all else that layered services have."""
    model = model_from(with_meeting(layered_system(seed), seed))
    text = to_toml(model)
    again = parse_model(text)
    same(system_of(model)[0], system_of(again)[0])
    assert to_toml(again) == text


@pytest.mark.parametrize("seed", mostly_slow((3, 8, 11, 0, 5, 6, 7, 9), 2))
def test_drawn_meetings_answer_alike_when_they_are_written_as_lqnx(seed):
    """With quorums, second phases, forwarding and answers on the way."""
    system = closed_meeting(seed)
    text = to_lqnx(model_from(system))
    again = system_of(read_lqnx(parse_xml(text.encode(), "x"), "x", "x"))[0]
    one, other = by_chain(system), by_chain(again)
    renamed = {"met": "told_and_shown"}
    for name, entry in one.entries.items():
        found = other.entries[renamed.get(name, name)]
        assert vars(found) == pytest.approx(vars(entry), rel=1e-9, abs=1e-12)


def test_a_small_model_is_exact_unasked(tmp_path):
    """The thread serves as many meetings as each client makes requests."""
    (tmp_path / "met.in").write_text(text_of(*SOLVED["81"][:3]))
    solution = find_model(str(tmp_path / "met.in")).solve()
    assert (solution.method, solution.approximation) == ("chain", "")
    assert solution["t3.throughput"] == pytest.approx(solution["t1.throughput"], rel=1e-9)
    assert solution["t3.utilisation"] == pytest.approx(0.805315, rel=2e-3)
    waits = solution["e3.response_time"], solution["e4.response_time"]
    assert solution["t3.response_time"] == pytest.approx(sum(waits) / 2, rel=1e-9)


REFUSED = {
    "who is elsewhere": (3, "a1[e4] & a2[e3] -> a3", "a1 replies to e4, whose requests do not"),
    "some of them": (3, "a1 & a2 (1) -> a3; a3[e3,e4]", "the join of a1, a2 is of 2 entries; it"),
    "a branch of a fork": (
        6,
        "a1 -> a3 & a4; a4 & a2 -> a5; a5[e3] & a3 -> a6; a6[e4]",
        "meet in a join without a fork|not all that a join needs follow from the fork",
    ),
    "twice": (3, "a1[e3] & a2 -> a3; a3[e3,e4]", "replies to 'e3', which answers before they meet"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_joins_that_cannot_be_are_refused_in_one_line(case, tmp_path):
    count, flow, words = REFUSED[case]
    with pytest.raises(ModelFileError, match=words) as refused:
        read(tmp_path, "", count, flow)
    assert "\n" not in str(refused.value)


def test_a_join_needs_a_single_thread(tmp_path):
    (tmp_path / "met.in").write_text(text_of(*SOLVED["80"][:3]).replace("-1 p3 -1", "-1 p3 m 2 -1"))
    with pytest.raises(ModelFileError, match="meet in one thread; give task t3 a single thread"):
        model_of(tmp_path / "met.in")
