"""What a layered system refuses, each in one line; and its program."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest

from headway.errors import GraphError
from headway.queueing.layers.flow import NOBODY, Choice, Flow, Loop, Reply, Series, Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.program import Answer, Branch, Call, Done, Serve, Wait, program_of
from headway.queueing.layers.system import LayeredSystem


def shop(
    tasks: Mapping[str, Task] | None = None,
    entries: Mapping[str, Entry] | None = None,
    page: Flow | None = None,
) -> LayeredSystem:
    """Clients, a web task that reads twice, and a database; with changes."""
    flow = page or Step("page", 0.01, calls={"read": 2.0})
    return LayeredSystem(
        "shop",
        {"users": Processor(float("inf")), "cpu": Processor(), "disk": Processor()},
        {
            "users": Task("users", 5, 1.0, clients=True),
            "web": Task("cpu", 2),
            "database": Task("disk"),
            **(tasks or {}),
        },
        {
            "use": Entry("users", Step("use", calls={"page": 1.0})),
            "page": Entry("web", flow),
            "read": Entry("database", Step("read", 0.005)),
            **(entries or {}),
        },
    )


def test_a_program_takes_a_demand_in_slices_between_calls() -> None:
    """Slices of D / (1 + Y), and after each a call with probability Y / (1 + Y)."""
    program = program_of(shop())
    page = program.starts["page"]
    slice_, branch, call, back, answer, done = program.instructions[page : page + 6]
    assert isinstance(slice_, Serve)
    assert slice_.mean == pytest.approx(0.01 / 3, rel=1e-12)
    assert isinstance(branch, Branch)
    assert [chance for chance, _ in branch.ways] == pytest.approx([2 / 3, 1 / 3], rel=1e-12)
    assert [at for _, at in branch.ways] == [page + 2, page + 4]
    assert (call, back) == (Call("read"), Branch(((1.0, page),)))
    assert (answer, done) == (Answer(()), Done())
    assert program.instructions[program.starts["use"]] == Wait(1.0)


@pytest.mark.parametrize("turn", [1, -1])
def test_layers_follow_calls_in_whatever_order_tasks_stand(turn: int) -> None:
    names = [f"s{k}" for k in range(30)][::turn]
    after = dict(pairwise(names[::turn]))
    calls = {name: {after[name]: 1.0} if name in after else {} for name in names}
    system = LayeredSystem(
        "chain",
        {"cpu": Processor()},
        {name: Task("cpu") for name in names},
        {
            name: Entry(name, Step(name, 0.01, calls=calls[name]), float(name == "s0"))
            for name in names
        },
    )
    assert system.layers == tuple(frozenset({f"s{k}"}) for k in range(30))


def _unasked() -> LayeredSystem:
    return shop(entries={"write": Entry("database", Step("write", 0.01))})


def _in_a_circle() -> LayeredSystem:
    return shop(entries={"read": Entry("database", Step("read", 0.01, calls={"page": 0.5}))})


def _each_waiting() -> LayeredSystem:
    back = Step("read", 0.01, calls={"log": 1.0})
    log = Entry("web", Step("log", 0.001))
    return shop(entries={"read": Entry("database", back), "log": log})


REFUSED: dict[str, tuple[Callable[[], LayeredSystem], str]] = {
    "no processor": (lambda: shop({"web": Task("cpus", 2)}), "no processor 'cpus'; did you mean"),
    "no task": (lambda: shop(entries={"x": Entry("webb", Step("x"))}), "no task 'webb'"),
    "no entry": (lambda: shop({"idle": Task("cpu")}), "task idle has no entry"),
    "no such call": (lambda: shop(page=Step("p", 1.0, calls={"red": 1.0})), "calls 'red', which"),
    "clients called": (lambda: shop(page=Step("p", 1.0, calls={"use": 1.0})), "who serve nobody"),
    "unasked": (_unasked, "nobody calls entry write"),
    "circle": (_in_a_circle, "requests go round without end: page -> read -> page"),
    "deadlock": (_each_waiting, "threads can wait for each other for ever: web -> database -> web"),
    "two replies": (lambda: shop(page=Series((Reply(), Step("p", 1.0), Reply()))), "replies twice"),
    "a reply in a loop": (lambda: shop(page=Loop(Reply(), 2.0)), "inside a loop, which may be"),
    "replies in two branches": (
        lambda: shop(
            page=Together((Series((Step("p"), Reply())), Series((Step("q"), Reply()))), 2)
        ),
        "replies twice, in the branch through p and in the branch through q",
    ),
    "a reply in a branch and behind it": (
        lambda: shop(page=Series((Together((Reply(), Step("p")), 2), Step("q"), Reply()))),
        "replies twice, behind p and behind q",
    ),
    "some ways reply": (
        lambda: shop(page=Choice(((0.5, Reply()), (0.5, Step("p", 1.0))))),
        "on some ways of a choice only, on that without a step and not on that through p",
    ),
    "chances": (
        lambda: shop(page=Choice(((0.5, Step("p", 1.0)), (0.4, Step("q", 1.0))))),
        "probabilities of a choice sum to 0.9; they must sum to 1",
    ),
    "quorum": (lambda: shop(page=Together((Step("p"), Step("q")), 3)), "cannot wait for 3 of 2"),
    "branches in a circle": (
        lambda: shop(page=Together((Step("p"), Step("q")), 2, (((1,), 1), ((0,), 1)))),
        "branches wait for each other for ever: q -> p -> q",
    ),
    "a branch behind none": (
        lambda: shop(page=Together((Step("p"), Step("q")), 2, (NOBODY, ((2,), 1)))),
        "the branch through q cannot wait for 1 of 1 others",
    ),
    "a quorum behind too few": (
        lambda: shop(page=Together((Step("p"), Step("q")), 2, (NOBODY, ((0,), 2)))),
        "the branch through q cannot wait for 2 of 1 others",
    ),
    "stragglers beside an order": (
        lambda: shop(page=Together((Step("p"), Step("q")), 1, (NOBODY, ((0,), 1)))),
        "all are needed; leave out needed",
    ),
    "forwards": (
        lambda: shop(entries={"page": Entry("web", Step("p"), forwards={"read": 1.5})}),
        "probabilities to forward sum to 1.5",
    ),
    "clients reply": (
        lambda: shop(entries={"use": Entry("users", Series((Step("u"), Reply())))}),
        "is of clients, who neither answer",
    ),
    "two entries of clients": (
        lambda: shop(entries={"more": Entry("users", Step("more"))}),
        "clients users have 2 entries",
    ),
    "two steps of a name": (
        lambda: shop(entries={"also": Entry("web", Step("page"), 1.0)}),
        "has two steps 'page'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_run_is_refused_in_one_line(case: str) -> None:
    """With the part that is wrong."""
    make, words = REFUSED[case]
    with pytest.raises(GraphError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_nothing_begins_without_clients_and_arrivals() -> None:
    """A system of services alone."""
    with pytest.raises(GraphError, match="neither clients nor arrivals"):
        LayeredSystem(
            "still", {"cpu": Processor()}, {"a": Task("cpu")}, {"x": Entry("a", Step("x"))}
        )
