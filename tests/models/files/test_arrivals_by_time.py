"""Arrivals of model files that follow time: traces and tables of rates, read and played."""

import numpy as np
import pytest

from headway.errors import GraphError, HeadwayError, ModelFileError
from headway.models import parse_model
from headway.models.files.courses import rates_of_text
from headway.models.files.reading import read_model
from headway.models.files.writing import to_toml
from headway.models.simulating.jobs import blueprint
from headway.queueing.flows.courses import RateTable, Trace

MODEL = """
name = "site"
[stations.cpu]
kind = "MMm"
service_time = "10 ms"
servers = 4
[arrivals]
cpu = {}
"""
DAY = RateTable((0.0, 60.0), (100.0, 300.0), 120.0)


def model(text, folder=None, **files):
    """The model of one station whose arrivals are these."""
    if folder is None:
        return parse_model(MODEL.replace("{}", text))
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    path = folder / "site.toml"
    path.write_text(MODEL.replace("{}", text), encoding="utf-8")
    return read_model(path)


def course(of):
    return of.graph.arrival_courses["cpu"]


@pytest.mark.parametrize(
    "text",
    [
        '{ rates = { "0 s" = 100, "1 min" = "300 op/s" } }',
        '{ rates = { 0 = 100, 60 = "0.3 kop/s" }, period = "2 min" }',
    ],
)
def test_rates_stand_in_a_table_by_time(text):
    assert course(model(text)) == DAY


@pytest.mark.parametrize(
    "content",
    [
        "time,rate\n0,100\n60,300\n",
        "minute,rate_per_s\n0,100\n1,300\n",
        "time_ms;rate\n0;100\n60000;300\n",
        "time,requests\n0,6000\n60,18000\n",
        "clock,rate_ops_s\n08:00,100\n08:01,300\n",
        "timestamp,other,rate\n2026-11-25T08:00:00,x,100\n2026-11-25T08:01:00Z,x,300\n",
        "timestamp,rate_per_min\n1764057600,6000\n1764057660,18000\n",
    ],
)
def test_rates_stand_in_a_file(content, tmp_path):
    found = course(model('{ rates = "day.csv" }', tmp_path, day=content))
    assert (found.starts, found.period) == (DAY.starts, DAY.period)
    assert found.rates == pytest.approx(DAY.rates, rel=1e-12)


@pytest.mark.parametrize(
    ("content", "gaps"),
    [
        ("gap_ms\n10\n20\n5\n", (0.01, 0.02, 0.005)),
        ("time_ms\n1000\n1010\n1030\n1035\n", (0.01, 0.02, 0.005)),
        (
            "timestamp\n2026-11-25T08:00:00\n2026-11-25T08:00:00.5\n2026-11-25T08:00:02\n",
            (0.5, 1.5),
        ),
    ],
)
def test_a_trace_has_gaps_or_points_in_time(content, gaps, tmp_path):
    found = course(model('{ trace = "log.csv" }', tmp_path, log=content))
    assert found.gaps == pytest.approx(gaps, rel=1e-12, abs=1e-9)


def test_a_simulation_plays_what_the_file_says():
    (stream,) = blueprint(model("{ rates = { 0 = 100, 60 = 300 } }")).classes[0].arriving
    assert (stream.changing, stream.rate) == (DAY, 200)
    (stream,) = blueprint(model("{ trace = [0.5, 1.5] }")).classes[0].arriving
    assert (stream.gaps, stream.rate) == ((0.5, 1.5), 1)


def test_a_simulated_queue_follows_the_rates():
    """Half the time nobody comes: of Poisson arrivals at the mean rate half as many would wait."""
    burst = model('{ rates = { 0 = 760, 100 = 0 }, period = "200 s" }').simulate(half_width=0.1)
    steady = model("380").solve().response_time
    assert burst["throughput"].holds(380)
    assert burst["response_time"].mean > 0
    assert burst["cpu.queue_length"].mean > 380 * steady  # 760/s are more than 400/s can serve


def test_what_is_written_reads_back():
    rates = '{ rates = { 0 = 0.1, "0.3 s" = 300 }, period = 0.7 }'
    for text in (rates, "{ trace = [0.1, 1.5] }"):
        one = model(text)
        assert course(parse_model(to_toml(one))) == course(one)


def test_a_steady_state_is_refused_where_rates_change():
    changing = model("{ rates = { 0 = 100, 60 = 300 } }")
    for ask in (
        changing.solve,
        lambda: changing.closed_form("response_time"),
        changing.sensitivity,
    ):
        with pytest.raises(GraphError, match="change with time"):
            ask()


def test_a_trace_still_has_the_scv_of_its_gaps():
    solved = model("{ trace = [0.01, 0.03, 0.02] }").solve()
    assert solved["cpu.arrival_scv"] == pytest.approx(np.var([1, 3, 2]) / 4, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{ rates = { 60 = 1, 0 = 2 } }', "go backwards"),
        ('{ rates = { 0 = 1, 60 = -2 } }', "0 or more"),
        ('{ rates = { 0 = 0, 60 = 0 } }', "all zero"),
        ('{ rates = { 5 = 1, 60 = 2 } }', "begin with 0"),
        ('{ rates = { 0 = 1 } }', "need a period"),
        ('{ rates = { 0 = 1, 60 = 2 }, period = "50 s" }', "longer than the last"),
        ('{ rates = { 0 = 1, 60 = 2 }, rate = 5 }', "keep one of them"),
        ('{ rates = { 0 = 1, 60 = 2 }, trace = [1] }', "keep one of them"),
        ('{ rates = 7 }', "must be a file"),
        ('{ rate = 7, period = 5 }', "period needs rates"),
        ('{ rate = 7, column = "x" }', "column needs trace"),
        ("{ trace = [0, 0] }", "all zero"),
        ("{ trace = [1, -1] }", "0 or more"),
        ('{ trace = [1, 2], column = "x" }', "delete it"),
        ("{ trace = 7 }", "must be a file"),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_are_refused_in_one_line(text, words):
    with pytest.raises(ModelFileError, match=words) as caught:
        model(text)
    assert "\n" not in str(caught.value)
    assert ":8 [arrivals.cpu]" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("time,rate\n0,5\n60,7\n50,8\n", "day.csv:4: the time goes backwards"),
        ("hour,rate_a,rate_b\n0,5,50\n1,6,60\n", "'rate_a' and 'rate_b' could each be the load"),
        ("hour,requests,error_rate\n0,5,1\n1,6,1\n", "'requests' and 'error_rate' could each"),
        ("date,hour,rate\n2026-11-25,23,5\n2026-11-26,0,6\n", "'date' and 'hour' are all times"),
        ("time,rate\n2026-03-29T00:00,5\n2026-03-29T03:00+02:00,6\n", "day.csv:2: .* no time zone"),
        ("time,rate\n0,5\n60,7\n60,8\n", "day.csv:4: the time is the same"),
        ("time,rate\n0,5\n60,-7\n", "day.csv:3: the rate is '-7'"),
        ("time,rate\n0,5\n60,\n", "day.csv:3: the rate is empty: a gap"),
        ("time,rate\n0,5\n60,1\n120,1\n180,1\n240,1\n400,1\n", "day.csv:7: a gap: 160 s"),
        ("time,rate\n0,0\n60,0\n", "all zero"),
        ("time,rate\n0,5\n", "one row"),
        ("time,rate\nnoon,5\n1,4\n", "is not a time"),
        ("time,rate\n25:00,5\n1,4\n", "is not a time"),
        ("a,b,c\n1,2,3\n4,5,6\n", "no columns of times and rates"),
    ],
)
def test_days_that_cannot_be_are_refused_in_one_line(content, words):
    with pytest.raises(HeadwayError, match=words) as caught:
        rates_of_text(content, "day.csv")
    assert "\n" not in str(caught.value)


def test_points_in_time_that_go_backwards_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="log.csv:4: goes back in time by 5 s"):
        model('{ trace = "log.csv" }', tmp_path, log="time\n1\n9\n4\n")


def test_arrivals_by_time_stand_beside_no_classes():
    text = MODEL.replace("{}", "{ trace = [1] }") + "[classes.web]\narrival_rate = 1\n"
    with pytest.raises(ModelFileError, match="delete the class"):
        parse_model(text)


def test_a_trace_has_times_that_can_be():
    with pytest.raises(HeadwayError, match="0 or more"):
        Trace((1.0, float("inf")))


@pytest.mark.parametrize(
    ("content", "starts", "rates"),
    [
        ("hour,error_rate,rate_per_s\n0,0.1,50\n1,0.2,60\n", (0.0, 3600.0), (50.0, 60.0)),
        ("minute,error_rate_percent,requests\n0,3,60\n1,2,90\n", (0.0, 60.0), (1.0, 1.5)),
        ("timestamp,rate\n1700000000000,5\n1700000060000,6\n", (1.7e9, 1.7e9 + 60), (5.0, 6.0)),
    ],
)
def test_the_column_that_has_the_unit_of_a_rate_is_taken(content, starts, rates):
    found = rates_of_text(content, "day.csv")
    assert (found.starts, found.rates) == (starts, rates)


def test_periods_with_an_end_last_until_it():
    day = rates_of_text("start,end,rate\n0,60,5\n60,240,6\n", "day.csv")
    assert (day.starts, day.rates, day.end) == ((0.0, 60.0), (5.0, 6.0), 240.0)
    counted = rates_of_text("start_min,end_min,requests\n0,1,120\n1,5,480\n", "day.csv")
    assert counted.rates == pytest.approx((2.0, 2.0), rel=1e-12)
    assert counted.end == 300
