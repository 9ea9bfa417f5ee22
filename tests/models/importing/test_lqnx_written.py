"""Layered services written as model files and as LQNX, and read again: the same services."""

from dataclasses import fields, is_dataclass, replace
from itertools import count
from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import ModelFileError
from headway.models import catalogue_model, find_model, parse_model
from headway.models.files.writing import to_toml
from headway.models.importing.lqn.lqnx import read_lqnx
from headway.models.importing.lqn.writing import to_lqnx
from headway.models.importing.safe_xml import parse_xml
from headway.models.language.formula import of_number
from headway.models.structure.graph import ModelGraph
from headway.models.structure.layered import system_of
from headway.models.structure.model import Model
from headway.models.structure.parts.layers import Layers
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.flow import NOBODY, Choice, Loop, Reply, Series, Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem
from tests.models.files.test_layered_files import FLOW, SHOP
from tests.support.layered_systems import random_system
from tests.support.layers import layered_system

SEEDS = st.integers(0, 10**6)
NUMBERS = (int, float)


def model_of(system):
    """A model whose formulas are the system's numbers."""

    def formulas(part, name=""):
        if isinstance(part, NUMBERS) and name not in ("priority", "needed", "clients", "fixed"):
            return of_number(float(part))
        if isinstance(part, dict):
            return {key: formulas(value) for key, value in part.items()}
        if isinstance(part, tuple):
            return tuple(map(formulas, part))
        if is_dataclass(part) and not isinstance(part, str):
            made = {
                f.name: formulas(getattr(part, f.name), f.name)
                for f in fields(part)
                if f.name != "behind"
            }
            return replace(part, **made)
        return part

    each = (system.processors, system.tasks, system.entries)
    return Model.of(replace(ModelGraph(system.name), layers=Layers(*map(formulas, each))))


def plain(flow):
    """A flow without names, steps of no time, and the reply that goes without saying."""
    found = parts(flow)
    return found[:-1] if found and found[-1] == Reply() else found


def parts(part):
    """The parts of a flow in series, each without names."""
    match part:
        case Series(inside):
            return tuple(each for one in inside for each in parts(one))
        case Step():
            return () if part == Step(part.name) else (replace(part, name=""),)
        case Choice(ways):
            return (Choice(tuple((chance, parts(way)) for chance, way in ways)),)
        case Together(branches):
            return (replace(part, branches=tuple(map(parts, branches))),)
        case Loop(body, mean):
            return (Loop(parts(body), mean),)
    return (part,)


def silent(part):
    """The parts of a flow without replies, wherever they stand."""
    match part:
        case tuple():
            return tuple(silent(each) for each in part if each != Reply())
        case Choice(ways):
            return Choice(tuple((chance, silent(way)) for chance, way in ways))
        case Together(branches):
            return replace(part, branches=silent(branches))
        case Loop(body, mean):
            return Loop(silent(body), mean)
    return part


def same(one, other, heard=None):
    """The services of a model as they are compared; replies of the entries that are heard."""
    for system in (one, other):
        assert isinstance(system, LayeredSystem)
    flows = [
        {
            n: replace(e, flow=plain(e.flow) if n in (heard or (n,)) else silent(plain(e.flow)))
            for n, e in system.entries.items()
        }
        for system in (one, other)
    ]
    assert flows[0] == flows[1]
    assert one.processors == other.processors
    assert one.tasks == other.tasks


@settings(max_examples=15)
@given(SEEDS)
def test_model_files_have_the_same_services(seed):
    """Of every kind that the event loop plays, to the last bit; and written twice, the same."""
    model = model_of(layered_system(seed))
    text = to_toml(model)
    again = parse_model(text)
    same(system_of(model)[0], system_of(again)[0])
    assert to_toml(again) == text


@settings(max_examples=15)
@given(SEEDS)
def test_lqnx_has_the_same_services(seed):
    """Those with a discipline that LQNX knows; of a processor without limit, none matters.

    Replies for which nobody waits are left out.
    """
    system = layered_system(seed)
    orders = {one.discipline for one in system.processors.values() if one.servers != inf}
    model = model_of(system)
    if "lcfs" in orders:
        with pytest.raises(ModelFileError, match="no word for the discipline lcfs of"):
            to_lqnx(model)
        return
    again = read_lqnx(parse_xml(to_lqnx(model).encode(), "x"), "x", "x")
    tasks = {
        name: replace(task, discipline=Discipline.FCFS) if task.threads == inf else task
        for name, task in system.tasks.items()
    }
    one, other = replace(system, tasks=tasks), replace(system_of(again)[0], name=system.name)
    same(one, other, system.answering(outside=True))


@pytest.mark.parametrize("seed", range(40, 46))
def test_answers_are_the_same(seed):
    """By the whole chain or by layers, whichever is taken, to 1e-9."""
    model = model_of(random_system(seed, clients=2, layers=2, tasks=2))
    first = model.solve()
    for again in (
        parse_model(to_toml(model)),
        read_lqnx(parse_xml(to_lqnx(model).encode(), "x"), "x", "x"),
    ):
        second = again.solve()
        assert second.method == first.method
        for name in ("throughput", "response_time", "task0.utilisation", "cpu0.utilisation"):
            assert second[name] == pytest.approx(first[name], rel=1e-9)


@pytest.mark.parametrize("text", [SHOP, FLOW], ids=["shop", "flow"])
def test_formulas_stay_formulas(text):
    """In a model file; in LQNX they are numbers."""
    model = parse_model(text)
    again = parse_model(to_toml(model))
    assert again.graph.layers.names == model.graph.layers.names
    assert again.parameters == model.parameters
    same(system_of(model)[0], system_of(again)[0])


@settings(max_examples=15)
@given(SEEDS)
def test_graphs_of_activities_are_drawn_and_read_again(seed):
    """Parts in parts, replies before the end, and ways without any step."""
    draw, number = Random(seed), count()

    def part(depth):
        def inside():
            return Series(tuple(part(depth - 1) for _ in range(draw.randint(0, 3))))

        kind = draw.choice(("step", "choice", "loop", "together")) if depth else "step"
        if kind == "choice":
            return Choice(((0.25, inside()), (0.75, inside())))
        if kind == "loop":
            return Loop(inside(), draw.uniform(0.5, 3))
        if kind == "together":
            branches = tuple(inside() for _ in range(draw.randint(2, 3)))
            return Together(branches, draw.randint(1, len(branches)))
        return Step(f"s{next(number)}", draw.uniform(0.1, 1))

    row = [part(2) for _ in range(draw.randint(1, 4))]
    at = draw.randint(0, len(row))
    match row[at:]:
        case [Together(branches, needed), *_]:
            row[at] = Together((Series((branches[0], Reply())), *branches[1:]), needed)
        case _:
            row.insert(at, Reply())
    base = random_system(1)
    name = next(n for n, e in base.entries.items() if not base.tasks[e.task].clients)
    step = Step("first", calls=dict.fromkeys(base.entries[name].uses, 1.0))
    entry = Entry(base.entries[name].task, Series((step, *row)))
    system = replace(base, entries={**base.entries, name: entry})
    model = model_of(system)
    same(system, system_of(parse_model(to_toml(model)))[0])
    again = read_lqnx(parse_xml(to_lqnx(model).encode(), "x"), "x", "x")
    same(system, system_of(again)[0])


@settings(max_examples=15)
@given(SEEDS)
def test_branches_that_wait_for_others_are_written_and_read_again(seed):
    """Any order, with quorums; a join behind them in LQNX is one more branch there."""
    draw = Random(seed)
    count = draw.randint(3, 5)
    steps = [Step(f"s{n}", draw.uniform(0.1, 1)) for n in range(count)]
    behind = [NOBODY]
    for n in range(1, count):
        waits = tuple(sorted(draw.sample(range(n), draw.randint(int(n == 1), min(n, 2)))))
        behind.append((waits, draw.randint(1, len(waits)) if waits else 0))
    branches = tuple(
        Series((step, Choice(((0.5, Step(f"{step.name}x", 0.2)), (0.5, Series(()))))))
        for step in steps
    )
    rest = draw.choice(((), (Step("rest", 0.3),), (Reply(), Step("rest", 0.3))))
    reply = draw.randrange(count)
    if rest == ():
        branches = (*branches[:reply], Series((branches[reply], Reply())), *branches[reply + 1 :])
    page = Series((Step("first", 0.1), Together(branches, count, tuple(behind)), *rest))
    system = LayeredSystem(
        "ordered",
        {"far": Processor(inf)},
        {"users": Task("far", 1, 1.0, clients=True), "web": Task("far")},
        {"use": Entry("users", Step("use", 0.2, calls={"page": 1.0})), "page": Entry("web", page)},
    )
    model = model_of(system)
    again = parse_model(to_toml(model))
    same(system, system_of(again)[0])
    read = read_lqnx(parse_xml(to_lqnx(model).encode(), "x"), "x", "x")
    first = by_chain(system)
    second = by_chain(replace(system_of(read)[0], name="ordered"))
    for name, means in first.entries.items():
        for part in fields(means):
            assert getattr(second.entries[name], part.name) == pytest.approx(
                getattr(means, part.name), rel=1e-9, abs=1e-12
            )


def test_a_long_row_of_choices_stays_short(tmp_path):
    """Forty choices in a row, whose ways meet each time, are forty parts, not 2^40."""
    steps = "".join(f'a{k} = "1 ms"\nb{k} = "2 ms"\nc{k} = "1 ms"\n' for k in range(40))
    flow = ", ".join(f'"c{k}", {{ choice = [[0.5, "a{k}"], [0.5, "b{k}"]] }}' for k in range(40))
    text = f"""
    [processors.cpu]
    [tasks.users]
    population = 1
    [tasks.users.entries.visit]
    calls = {{ page = 1 }}
    fixed = true
    [tasks.web]
    processor = "cpu"
    [tasks.web.entries.page]
    flow = [{flow}]
    [tasks.web.entries.page.activities]
    {steps}
    """
    model = parse_model('name = "long"\n' + text)
    path = tmp_path / "long.lqnx"
    path.write_text(to_lqnx(model))
    again = find_model(str(path))
    same(system_of(model)[0], system_of(again)[0])
    assert again.solve().throughput == pytest.approx(1 / 0.1, rel=1e-9)


def test_what_lqnx_cannot_say_is_refused():
    """Stations, and several operating points."""
    with pytest.raises(ModelFileError, match="it has stations; LQNX files have tasks"):
        to_lqnx(catalogue_model("server-single"))
    with pytest.raises(ModelFileError, match="several operating points; give one"):
        to_lqnx(parse_model(SHOP).at(users=[1.0, 2.0]))
