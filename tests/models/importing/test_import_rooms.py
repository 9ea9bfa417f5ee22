"""Full rooms of JSIMg files: jobs are lost, blocked after service, or wait outside."""

import pytest

from headway.models import import_model, parse_model
from tests.models.importing.test_import import CONSTANT, EXPONENTIAL, single
from tests.support import jmt_files as jmt
from tests.support.command import headway, refusal

ON = {"web": "RandomStrategy"}
BLOCKED = ("<value>drop</value>", "<value>BAS blocking</value>")
WAITING = ("<value>drop</value>", "<value>waiting queue</value>")


def rate(each):
    return {"web": jmt.times("Exponential", {"lambda": each})}


def circle(places=2, population=5, cpu="Server", put="TailStrategy", more=(), disk=EXPONENTIAL):
    """Closed jobs: half of them go from the processor to a disk with room for some."""
    return jmt.jsimg(
        jmt.closed_class("web", population, "think"),
        jmt.queue("think", rate(1), ON, "Delay"),
        jmt.queue("cpu", rate(5), ON, cpu, put),
        jmt.queue("disk", {"web": disk}, ON, size=places).replace(*BLOCKED),
        jmt.links(("think", "cpu"), ("cpu", "disk"), ("cpu", "think"), ("disk", "think"), *more),
    )


def imported_from(tmp_path, text):
    path = tmp_path / "rooms.jsimg"
    path.write_text(text)
    return import_model(path)


BY_HAND = """
name = "hand"
reference = "think"
[parameters]
population = 5
[stations.think]
kind = "Delay"
service_time = 1
[stations.cpu]
kind = "MM1"
service_time = 0.2
[stations.disk]
kind = "MM1K"
service_time = 0.5
capacity = 2
blocking = "after service"
[[routes]]
from = "think"
to = "cpu"
[[routes]]
from = "cpu"
to = "disk"
probability = 0.5
[[routes]]
from = "cpu"
to = "think"
probability = 0.5
[[routes]]
from = "disk"
to = "think"
"""


def test_closed_jobs_stay_at_the_server_before_a_full_one(tmp_path):
    answer, by_hand = imported_from(tmp_path, circle()), parse_model(BY_HAND).solve()
    assert answer.solution["cpu.blocked"] > 0
    for name in ("throughput", "cpu.blocked", "cpu.queue_length", "disk.queue_length"):
        assert answer.solution[name] == pytest.approx(by_hand[name], rel=1e-12), name


def test_two_servers_in_turn_are_a_small_chain(tmp_path):
    """Two jobs, a place at the second: with one blocked both servers hold one, and one works.

    States (first, second): 2+0, 1+1, and blocked; the first serves 5 /s, the second 2 /s.
    """
    text = jmt.jsimg(
        jmt.closed_class("web", 2, "cpu"),
        jmt.queue("cpu", rate(5), ON),
        jmt.queue("disk", rate(2), ON, size=1).replace(*BLOCKED),
        jmt.links(("cpu", "disk"), ("disk", "cpu")),
    )
    answer = imported_from(tmp_path, text)
    weights = (1.0, 5 / 2, (5 / 2) ** 2)
    assert answer.solution.throughput == pytest.approx(2 * (1 - 1 / sum(weights)), rel=1e-9)
    assert answer.solution["cpu.blocked"] == pytest.approx(weights[2] / sum(weights), rel=1e-9)
    assert not answer.solution.approximation


def test_who_waits_outside_an_orderly_queue_waits_as_inside(tmp_path):
    answer = imported_from(tmp_path, single(EXPONENTIAL, size=4).replace(*WAITING))
    assert answer.solution.response_time == pytest.approx(0.5 / 0.75, rel=1e-12)
    assert answer.notes == ("jobs that wait outside cpu for room count as being there",)


def test_closed_jobs_wait_outside_a_region(tmp_path):
    """One place round a server is its queue, all of it outside."""
    region = (
        '<blockingRegion name="threads"><regionNode nodeName="cpu"/>'
        '<globalConstraint maxJobs="1"/></blockingRegion></sim>'
    )
    text = jmt.jsimg(
        jmt.closed_class("web", 4, "think"),
        jmt.queue("think", rate(1), ON, "Delay") + jmt.queue("cpu", rate(2), ON),
        jmt.links(("think", "cpu"), ("cpu", "think")),
    )
    free = imported_from(tmp_path, text).solution
    solution = imported_from(tmp_path, text.replace("</sim>", region)).solution
    assert solution.throughput == pytest.approx(free.throughput, rel=1e-9)
    assert solution["cpu.queue_length"] == pytest.approx(free["cpu.utilisation"], rel=1e-9)


def test_a_full_room_that_blocks_is_written_as_a_model_file(tmp_path):
    path, out = tmp_path / "rooms.jsimg", tmp_path / "rooms.toml"
    path.write_text(circle())
    assert headway("import", path, "--out", out).code == 0
    solved = [headway("solve", each, "--json").out for each in (out, path)]
    assert solved[0] == solved[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            single(EXPONENTIAL, size=4).replace(*BLOCKED),
            "cpu: it blocks jobs when full, but they come from 'Source', which is not a station "
            "with",
        ),
        (
            circle(cpu="PSServer"),
            "disk: it blocks jobs when full, which is supported only if cpu serves in order of",
        ),
        (
            circle(put="RandStrategy"),
            "disk: it blocks jobs when full, which is supported only if cpu serves in order of",
        ),
        (
            circle(disk=CONSTANT),
            "disk: a limit of 2 jobs is supported only for one class, served in order of arrival",
        ),
        (
            circle().replace("</sim>", jmt.closed_class("b", 2, "think") + "</sim>"),
            "disk: it blocks jobs when full, which is not supported for several classes",
        ),
        (
            circle().replace("BAS blocking", "retrial"),
            "disk: a limited queue with 'retrial' is not supported",
        ),
        (
            single(EXPONENTIAL, put="HeadStrategy", size=4).replace(*WAITING),
            "cpu: a limited queue with 'waiting queue' is not supported",
        ),
        (
            single(EXPONENTIAL, servers=4, size=2).replace(*WAITING),
            "cpu: a limited queue with 'waiting queue' is not supported",
        ),
        (
            circle().replace(BLOCKED[1], BLOCKED[0]),
            "disk: a limit of 2 jobs is supported only for one open class, served in order of",
        ),
        (circle(more=[("disk", "disk")]), "not sent straight back"),
    ],
)
def test_full_rooms_without_a_law_are_refused(tmp_path, text, message):
    path = tmp_path / "rooms.jsimg"
    path.write_text(text)
    assert message in refusal("solve", path)
