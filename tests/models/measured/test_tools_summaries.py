"""Summaries that load generators print, of tools that have no other output or are pasted so."""

import pytest

from headway.errors import MeasurementError
from headway.models.measured.points import LONGEST, SHORTEST, Loop
from headway.models.reading.loadtest import points_of
from headway.models.reading.recognise import recognised
from tests.campaigns.spoilt_points import spoilt_file
from tests.support.tool_files import TOOLS, survives

FOLDER = TOOLS / "printed"
KINDS = {
    "h2load.txt": "h2load",
}
MS = 1e-3


def text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def only(printed, name="run.txt"):
    [point] = points_of(printed, name)
    return point


def percentiles(point):
    return {percent: round(time / MS, 6) for percent, time in point.percentiles.items()}


def refused(printed, words):
    """Assert that a text is refused in one line with its file."""
    with pytest.raises(MeasurementError, match=words) as result:
        points_of(printed, "run.txt")
    assert "\n" not in str(result.value)
    assert str(result.value).startswith("run.txt")


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_its_kind_shows_in_its_content(name, kind):
    """Also with the ends of lines of another system, and behind what a shell prints before."""
    printed = text(name)
    assert recognised(printed)[0].kind == kind
    assert points_of(printed.replace("\n", "\r\n"), name) == points_of(printed, name)
    if name.endswith(".txt"):
        assert recognised("$ cd runs\n+ ./run.sh 8\n" + printed)[0].kind == kind


@pytest.mark.parametrize("name", KINDS)
def test_a_spoilt_number_is_found_or_refused(name):
    assert [str(each) for each in spoilt_file(FOLDER / name, name, 40) if not each.outcome] == []


@pytest.mark.parametrize("name", KINDS)
def test_a_spoilt_text_is_read_or_refused_in_one_line(name):
    assert 0 < survives(text(name), 60) < 60


CUT = {
    "h2load.txt": ("requests:", "no line such as 'requests: 900 total"),
}
"""Where an output is cut, and what is missed of it then."""


@pytest.mark.parametrize(("name", "cut"), CUT.items())
def test_a_cut_output_is_refused_in_one_line(name, cut):
    mark, words = cut
    refused(text(name).partition(mark)[0], words)


def test_h2load():
    """60 of 6000 answers had an error status."""
    point = only(text("h2load.txt"))
    assert (point.loop, point.population, point.samples) == (Loop.CLOSED, 8, 6000)
    assert (point.errors, point.duration) == (60, 15.11)
    assert point.throughput == pytest.approx(397.09 * 0.99)
    assert point.response_time == pytest.approx(20.07 * MS)
    assert point.more == pytest.approx({SHORTEST: 6.12 * MS, LONGEST: 101.4 * MS})


def test_h2load_with_several_streams_or_without_its_first_lines():
    """It prints clients and no streams: 397/s of 160 ms are 64 requests outstanding."""
    printed = text("h2load.txt").replace("20.07ms", "90.07ms")
    assert only(printed).population is None
    assert "its 8 clients had several requests outstanding each" in only(printed).notes[0]
    assert only(text("h2load.txt").partition("done\n\n")[2]).population is None


def test_h2load_without_answers():
    lost = "requests: 900 total, 900 started, 900 done, 0 succeeded, 900 failed, 900 errored"
    printed = f"finished in 1.20s, 0.00 req/s, 0B/s\n{lost}, 0 timeout\n"
    point = only(printed)
    assert (point.throughput, point.response_time, point.errors) == (None, None, 900)
    refused(text("h2load.txt").partition("finished")[0], "there is no line 'finished in")
    refused(printed.replace("900", "0"), "no request was answered")


def test_h2load_with_percentiles():
    printed = text("h2load.txt").replace(
        "min         max         mean ", "min         max  median    p95    p99    mean "
    )
    printed = printed.replace("101.40ms ", "101.40ms 19.1ms 31.2ms 48.1ms ")
    assert percentiles(only(printed)) == {50: 19.1, 95: 31.2, 99: 48.1}
    refused(printed.replace("48.1ms ", ""), "8 cells under 9 titles|7 cells under 8 titles")
