"""Titles of columns in any usual style: which quantity, in which unit, in which role."""

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import MeasurementError, UnitError
from headway.models import Measurements
from headway.models.language.titles import RATE, plain_title, split_header, unit_in_words
from headway.models.language.units import unit
from headway.models.measured.roles import (
    MANY,
    ROLES,
    ColumnRole,
    part_named,
    part_of,
    role_names,
    titled,
)


@pytest.mark.parametrize(
    ("title", "role", "written"),
    [
        ("Response Time [ms]", "response_time", "ms"),
        ("latency_ms", "response_time", "ms"),
        ("Latency (ms)", "response_time", "ms"),
        ("Latency, ms", "response_time", "ms"),
        ("Latency (avg, us)", "response_time", "us"),
        ("responseTimeMs", "response_time", "ms"),
        ("ResponseTime(sec)", "response_time", "s"),
        ("RESPONSE_TIME_MS", "response_time", "ms"),
        ("Average Response Time (milliseconds)", "response_time", "ms"),
        ("mean latency in seconds", "response_time", "s"),
        ("latency_ms_mean", "response_time", "ms"),
        ("Avg. request latency µs", "response_time", "us"),
        ("Time per request [ms]", "response_time", "ms"),
        ("rps", "throughput", "op/s"),
        ("RPS", "throughput", "op/s"),
        ("req/s", "throughput", "op/s"),
        ("requests/s", "throughput", "op/s"),
        ("Requests/sec", "throughput", "op/s"),
        ("Requests per second (mean)", "throughput", "op/s"),
        ("requestsPerSecond", "throughput", "op/s"),
        ("requests_per_min", "throughput", "op/min"),
        ("IOPS", "throughput", "op/s"),
        ("kIOPS", "throughput", "kop/s"),
        ("TPS", "throughput", "op/s"),
        ("QPS", "throughput", "op/s"),
        ("ops_s", "throughput", "op/s"),
        ("Throughput (req/s)", "throughput", "op/s"),
        ("Throughput_rps", "throughput", "op/s"),
        ("Achieved RPS", "throughput", "op/s"),
        ("Target RPS", "offered_rate", "op/s"),
        ("Offered load [req/s]", "offered_rate", "op/s"),
        ("requested_qps", "offered_rate", "op/s"),
        ("p99 (us)", "p99", "us"),
        ("p99_ms", "p99", "ms"),
        ("p99Ms", "p99", "ms"),
        ("latency_ms_p99", "p99", "ms"),
        ("Latency p99.9 (ms)", "p99.9", "ms"),
        ("95th percentile (ms)", "p95", "ms"),
        ("99% [ms]", "p99", "ms"),
        ("Median response time [s]", "p50", "s"),
        ("VUs", "population", ""),
        ("# Users", "population", ""),
        ("Number of Threads", "population", ""),
        ("# Samples", "samples", ""),
        ("Total Requests", "samples", ""),
        ("failed requests", "errors", ""),
        ("Error Count", "errors", ""),
        ("think time (s)", "think_time", "s"),
        ("Duration (s)", "duration", "s"),
        ("cpu_util", "cpu_util", ""),
        ("CPU %", "cpu_util", "%"),
        ("cpu_percent", "cpu_util", "%"),
        ("Disk Busy (%)", "disk_util", "%"),
        ("nicUtilization", "nic_util", ""),
        ("cores", "cores", ""),
    ],
)
def test_usual_titles(title, role, written):
    column = Measurements.parse(f'host,"{title}"\na,1\n', "own.csv").columns[title]

    assert str(part_of(column)) == role
    assert (column.unit.scale, column.unit.dimension) == (
        unit(written).scale,
        unit(written).dimension,
    )


@pytest.mark.parametrize(
    "title",
    [
        "rate_per_s", "Request rate [1/s]", "elapsed_ms", "Time (ms)", "Average (ms)",  # either
        "Throughput [MB/s]", "throughput_mb_s", "bandwidth_mbit_s",  # of bytes, not of requests
        "Errors [%]", "users_per_s", "latency [op]",  # another dimension
        "Std Dev (ms)", "peak rps", "disk p99 [ms]",
        "service_time_ms", "queries", "mean", "s", "ms",
    ],
)  # fmt: skip
def test_titles_that_tell_no_role(title):
    table = Measurements.parse(f'"{title}"\n1\n', "own.csv")
    part = part_of(table.columns[title])

    assert part is None or (title == "queries" and str(part) == "samples")


def test_kilobits_are_not_taken_for_kilobytes():
    assert split_header("Bandwidth Mb/s")[1] is None
    assert split_header("Bandwidth (Mb/s)")[1] is None
    assert str(split_header("Bandwidth MB/s")[1]) == "MB/s"
    assert str(split_header("bandwidth_mb_s")[1]) == "MB/s"


UNITS = {
    "op/s": ["op/s", "req/s", "requests/sec", "ops/s", "requests per second"],
    "s": ["s", "ms", "us", "milliseconds", "sec"],
}
SNAKE = {
    "op/s": ["ops_s", "ops_per_s", "rps", "requests_per_second"],
    "s": ["s", "ms", "us", "ns", "seconds"],
}
CASES = (str, str.upper, str.title, str.capitalize)


@st.composite
def styled(draw):
    """A title of a role in some style, and that role."""
    role = draw(st.sampled_from(ROLES))
    words = draw(st.sampled_from([title for title in role.titles if title != RATE])).split("_")
    if draw(st.booleans()):
        words = [draw(st.sampled_from(["mean", "average", "avg"])), *words]
    blank = draw(st.sampled_from([" ", "_", "-"]))
    case = draw(st.sampled_from(CASES))
    if draw(st.booleans()):  # camelCase
        name = words[0] + "".join(map(str.capitalize, words[1:]))
    else:
        name = case(blank.join(words))
    wanted = role.unit.text
    if wanted not in UNITS:
        return name, role
    form = draw(st.sampled_from(["[{}]", " [{}]", "({})", " ({})", ", {}", "suffix"]))
    if form != "suffix":
        return name + form.format(draw(st.sampled_from(UNITS[wanted]))), role
    suffix = draw(st.sampled_from(SNAKE[wanted]))
    return name + blank + (suffix.upper() if name.isupper() else suffix).replace("_", blank), role


@settings(max_examples=400)
@given(styled())
def test_the_style_of_a_title_does_not_change_its_role(pair):
    title, role = pair

    assert titled(title) == ColumnRole(role), title
    if role.unit.text in UNITS:
        value = split_header(title)[1]
        assert value is not None, title
        assert value.dimension == role.unit.dimension


@given(st.text(string.printable, max_size=30))
def test_any_title_is_read(text):
    name, result = split_header(text)

    assert result is None or name
    assert isinstance(plain_title(text), str)
    titled(text)


def test_what_headway_writes_has_the_role_it_was_written_for():
    for role in ROLES:
        assert titled(role.written) == ColumnRole(role)
    for role, key in zip(MANY, ("99.9", "cpu", "max"), strict=True):
        assert titled(ColumnRole(role, key).written) == ColumnRole(role, key)


def test_roles_are_given_by_any_of_their_names():
    for name in role_names()[:-1]:
        assert part_named(name) == part_named(name.upper().replace("_", " "))
    assert str(part_named("latency")) == "response_time"
    with pytest.raises(MeasurementError, match="'thruput' is not a column role; did you mean"):
        part_named("thruput")


@pytest.mark.parametrize(
    ("text", "same"),
    [("requests/s", "op/s"), ("Millisecond", "ms"), ("percent", "%"), ("kIOPS", "kop/s")],
)
def test_units_in_words(text, same):
    assert unit_in_words(text).scale == unit(same).scale
    with pytest.raises(UnitError, match=re.escape("unit 'furlongs' is not known")):
        unit_in_words("furlongs")
