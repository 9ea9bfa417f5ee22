"""What nccl-tests prints, of old and new versions: cells equal what stands in the rows."""

import pytest

from headway.models.reading.loadtest import points_of
from tests.support.tool_files import refused, sample

NEW, OLD = sample("nccl", "new-all-reduce-4.txt"), sample("nccl", "old-all-reduce.txt")
ROW = "        1024           512      half     sum      -1    13.13    0.08    0.12      0"


def test_a_row_is_a_point_out_of_place_and_one_in_place():
    first, second, *_ = points = points_of(NEW, "run")
    assert len(points) == 18
    assert first.name == "all_reduce, half, out-of-place, 1024 bytes"
    assert second.name == "all_reduce, half, in-place, 1024 bytes"
    assert first.response_time == pytest.approx(13.13e-6, rel=1e-12)
    assert first.more == {
        "message_size_bytes": 1024,
        "bandwidth_bytes_s": pytest.approx(0.08e9, rel=1e-12),
        "processors": 4,
        "machines": 1,
    }


def test_old_heads_name_no_test_but_bandwidths_tell_it():
    point = points_of(OLD, "run")[0]
    assert point.name == "all_reduce, float, out-of-place, 1024 bytes"
    assert point.more["processors"] == 4


def test_a_reduce_scatter_is_told_by_its_bandwidths():
    """busbw / algbw is 3/4 on 4 GPUs, with an operation."""
    rows = [line for line in OLD.splitlines() if " sum " in line]
    text = OLD
    for row in rows:
        cells = row.split()
        for rate, bus in ((5, 6), (9, 10)):
            text = text.replace(
                f"{cells[rate]:>6s}  {cells[bus]:>6s}",
                f"{cells[rate]:>6s}  {0.75 * float(cells[rate]):6.2f}",
            )
    assert points_of(text, "run")[0].name.startswith("reduce_scatter, float")


def test_what_neither_head_nor_bandwidths_tell_has_no_name():
    text = NEW.replace("# Collective test starting: all_reduce_perf\n", "").replace(
        "   sum ", "  none "
    )
    assert points_of(text, "run")[0].name == "half, out-of-place, 1024 bytes"


def test_ranks_on_several_hosts_are_on_several_machines():
    point = points_of(sample("nccl", "new-all-gather-two-machines.txt"), "run")[0]
    assert (point.more["processors"], point.more["machines"]) == (16, 2)
    assert point.name.startswith("all_gather, half")


def test_several_runs_of_one_file_keep_their_ranks():
    two = sample("nccl", "new-all-reduce-2.txt") + NEW
    counts = [point.more["processors"] for point in points_of(two, "both")]
    assert counts == [2] * 18 + [4] * 18


def test_lines_of_the_head_without_their_mark_are_read():
    bare = NEW.replace("#wrong", "wrong").replace("#", " ").replace("wrong", "#wrong")
    assert points_of(bare, "run")[0].more["processors"] == 4


def test_cells_that_old_versions_leave_blank():
    """all_gather has no operation there, and prints nothing under its title."""
    text = NEW.replace("all_reduce", "all_gather").replace(
        "     sum      -1 ", "                -1 "
    )
    point = points_of(text, "run")[0]
    assert point.name == "all_gather, half, out-of-place, 1024 bytes"
    assert point.response_time == pytest.approx(13.13e-6, rel=1e-12)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[: text.index("# Avg")], "no line 'Avg bus bandwidth' follows; check"),
        (lambda text: text.replace(ROW, ROW[:60]), "run:14: 10 cells under 13 titles"),
        (lambda text: text.replace("13.13", "-13.1"), "'-13.1' is negative"),
        (lambda text: text.replace("13.13", "13.x3"), "'13.x3' is not a number"),
        (lambda text: text.replace(ROW, f"{ROW[:-1]}7"), "run:14: the tool found 7 wrong"),
        (lambda text: text[: text.index(ROW)], "there is no row below its titles"),
    ],
)
def test_damaged_outputs_are_refused(damage, words):
    assert ROW in NEW
    refused(damage(NEW), words)
