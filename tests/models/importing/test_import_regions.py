"""Finite-capacity regions of JSIMg files: jobs wait outside, in order of arrival."""

import pytest

from headway.models import import_model
from tests.models.importing.test_import import EXPONENTIAL, single
from tests.models.importing.test_import_orders import opened
from tests.support.command import refusal

REGION = (
    '<blockingRegion name="threads" type="default"><regionNode nodeName="cpu"/>'
    '<globalConstraint maxJobs="1"/><globalMemoryConstraint maxMemory="-1"/>'
    '<classConstraint jobClass="web" maxJobsPerClass="-1"/>'
    '<dropRules dropThisClass="false" jobClass="web"/></blockingRegion></sim>'
)
LIMITED = single(EXPONENTIAL).replace("</sim>", REGION)


def test_a_region_of_one_thread_is_the_queue_before_it(tmp_path):
    """M/M/1 at half of its speed's load, all of its queue outside; without a limit, inside."""
    path = tmp_path / "one.jsimg"
    path.write_text(LIMITED)
    answer = import_model(path)
    assert answer.solution.response_time == pytest.approx(0.5 / 0.75, rel=1e-9)
    assert answer.solution["threads.waiting_time"] == pytest.approx(0.5 / 3, rel=1e-9)
    path.write_text(LIMITED.replace('maxJobs="1"', 'maxJobs="-1"'))
    assert import_model(path).solution.response_time == pytest.approx(0.5 / 0.75, rel=1e-12)
    assert not import_model(path).imported.network.regions


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('dropThisClass="false"', 'dropThisClass="true"', "dropRules with dropThisClass 'true'"),
        ('maxMemory="-1"', 'maxMemory="9"', "globalMemoryConstraint with maxMemory '9'"),
        (
            'nodeName="cpu"',
            'nodeName="Source"',
            "region threads: 'Source' is not a station with a service time",
        ),
        (
            "<globalMemoryConstraint",
            "<quantum/><globalMemoryConstraint",
            "region threads: 'quantum' belongs to a newer version of JMT than headway supports",
        ),
    ],
)
def test_regions_that_do_more_are_refused(tmp_path, old, new, message):
    path = tmp_path / "one.jsimg"
    path.write_text(LIMITED.replace(old, new))
    assert message in refusal("solve", path)


def test_the_limit_of_the_only_class_is_that_of_the_region(tmp_path):
    path = tmp_path / "one.jsimg"
    for all_jobs, of_class in ((1, -1), (-1, 1), (1, 7), (9, 1)):
        limits = f'maxJobs="{all_jobs}"', f'maxJobsPerClass="{of_class}"'
        path.write_text(
            LIMITED.replace('maxJobs="1"', limits[0]).replace('maxJobsPerClass="-1"', limits[1])
        )
        answer = import_model(path)
        assert answer.solution["threads.waiting_time"] == pytest.approx(0.5 / 3, rel=1e-9)
    path.write_text(opened("TailStrategy").replace("</sim>", REGION.replace("web", "a")))
    two = path.read_text().replace('maxJobsPerClass="-1"', 'maxJobsPerClass="4"')
    path.write_text(two)
    assert "classConstraint with maxJobsPerClass '4'" in refusal("solve", path)


def test_regions_of_several_classes_are_refused(tmp_path):
    path = tmp_path / "two.jsimg"
    path.write_text(opened("TailStrategy").replace("</sim>", REGION))
    assert "region threads: several classes are not supported" in refusal("solve", path)
