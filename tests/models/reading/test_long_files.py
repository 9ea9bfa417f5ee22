"""Files too long to be read whole: the same points, in memory that does not grow with them."""

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import MeasurementError
from headway.models.measured.tools.kit import timeline, times
from headway.models.measured.tools.kit.times import PRECISION, TimeSketch
from headway.models.reading import gather
from headway.models.reading.loadtest import points_of, read_load_test
from tests.support.command import headway
from tests.support.tool_files import TOOLS, sample

LOGS = (
    "jmeter/jmeter-5.6.3.csv", "jmeter/jmeter-5.6.3.xml", "k6/points.ndjson", "gatling/open.log",
    "locust/stats_history.csv", "hey/requests.csv",
)  # fmt: skip
HEADER = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Files of more than a kilobyte are long."""
    monkeypatch.setattr(gather, "LARGEST_FILE", 1000)


@pytest.mark.parametrize("name", LOGS)
def test_a_long_file_gives_the_points_of_its_text(name):
    (result,), (text,) = read_load_test([str(TOOLS / name)]).points, points_of(sample(name), name)
    assert result.document() | {"file": ""} == text.document() | {"file": ""}


def log(path, rows):
    chance = random.Random(5)
    with path.open("w") as file:
        file.write(HEADER)
        for i in range(rows):
            elapsed = int(chance.expovariate(1 / 40))
            file.write(
                f"{1700000000000 + 5 * i},{elapsed},front page,200,user {i % 8},true,512,8\n"
            )
    return path


def peak(path):
    tracemalloc.start()
    try:
        point = read_load_test([str(path)]).points[0]
        return tracemalloc.get_traced_memory()[1], point.samples
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_a_log(tmp_path, monkeypatch):
    """Rows of 60 bytes: five times as many, half a megabyte more, take no more memory."""
    monkeypatch.setattr(times, "CHUNK", 1000)
    monkeypatch.setattr(timeline, "SLOTS", 1024)
    peak(log(tmp_path / "warm.jtl", 100))
    small, _ = peak(log(tmp_path / "small.jtl", 2_000))
    large, rows = peak(log(tmp_path / "large.jtl", 10_000))
    assert rows == 10_000
    assert large - small < 50_000


@pytest.mark.slow
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.floats(0, 100))
def test_percentiles_of_counted_times_are_those_of_the_list(drawn, percent):
    result = TimeSketch()
    for time in drawn:
        result.append(time)
    assert len(result) == len(drawn)
    assert result.mean == pytest.approx(np.mean(drawn), rel=1e-12)
    expected = np.percentile(drawn, percent)
    assert result.percentile(percent) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_times_that_are_too_many_are_taken_together():
    """The mean stays exact; percentiles are off by what is said."""
    drawn = np.random.default_rng(3).lognormal(3, 1, 4000)
    result = TimeSketch(most=500)
    for time in drawn:
        result.append(time)
    assert result.mean == pytest.approx(drawn.mean(), rel=1e-12)
    for percent in (50, 90, 99, 99.9):
        expected = np.percentile(drawn, percent)
        assert result.percentile(percent) == pytest.approx(expected, rel=1.001 * PRECISION)
    assert not result.exact
    assert len(result.values) < len(drawn)


def test_long_files_that_must_be_read_whole_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("headway.models.reading.loadtest.LARGEST_FILE", 1000)
    with pytest.raises(MeasurementError, match="MB are more than the limit of 0 MB"):
        read_load_test([str(TOOLS / "fio/fio-2.17.json")])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"170000000\xff0000,1,a,200,t,true,1,1\n", "x.jtl:1502: not a text file in UTF-8"),
        (b"1" * 1_100_000, "x.jtl:1502: a line is longer than 1 MB"),
        (b"1700000000000,1,a\n", "x.jtl:1502: this row has 3 cells instead of 8"),
    ],
)
def test_spoilt_lines_of_long_files_are_refused(tmp_path, row, message):
    path = log(tmp_path / "x.jtl", 1500)
    path.write_bytes(path.read_bytes() + row)
    with pytest.raises(MeasurementError, match=message):
        read_load_test([str(path)])


def test_the_command_reads_long_files(tmp_path):
    path = log(tmp_path / "x.jtl", 3_000)
    table = headway("read", path, "--csv").out.splitlines()
    assert table[0].startswith("population,throughput_ops_s,response_s")
    assert len(table) == 2
