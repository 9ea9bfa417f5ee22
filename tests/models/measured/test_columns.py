"""Which number a column is: roles and statistics by title, and which column is the load."""

import re

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import Measurements
from headway.models.measured.columns import is_population, load_column, response_column
from headway.models.measured.roles import ROLES, role_of
from headway.models.measured.statistic import Measure, percentile_of, statistic
from tests.support.places import ROOT

POPULATIONS = (
    "clients", "threads", "connections", "vus", "users", "outstanding", "population",
    "concurrency", "queue_depth", "iodepth",
)  # fmt: skip


def table(header, rows=((8, 9, 1), (9, 10, 2))):
    width = header.count(",") + 1
    lines = [",".join(map(str, row[:width])) for row in rows]
    return Measurements.parse("\n".join([header, *lines]), "own.csv")


@pytest.mark.parametrize(
    ("title", "role"),
    [
        *((title, "population") for title in POPULATIONS if title != "outstanding"),
        ("outstanding", "requests inside"),
        ("outstanding_requests", "requests inside"),
        ("Clients", "population"),
        ("num_clients", "population"),
        ("Number of threads", "population"),
        ("User Count", "population"),
        ("concurrent_users", "population"),
        ("VUs", "population"),
        ("clients_jobs", "population"),
        ("Queue depth", "population"),
        ("throughput_ops_s", "throughput"),
        ("Throughput [op/s]", "throughput"),
        ("achieved_ops_s", "throughput"),
        ("mean_throughput_kops_s", "throughput"),
        ("arrival_rate_ops_per_s", "offered rate"),
        ("requested_ops_s", "offered rate"),
        ("offered_per_s", "offered rate"),
        ("load_ops_s", "offered rate"),
        ("response_ms", "response time"),
        ("Response time [ms]", "response time"),
        ("mean_response_time_us", "response time"),
        ("avg_latency_ms", "response time"),
        ("latency_mean_ms", "response time"),
        # of another dimension, or another statistic, or nothing known
        ("users_per_s", None),
        ("throughput", None),
        ("load", None),
        ("response", None),
        ("throughput_mb_s", None),
        ("latency_p99_ms", None),
        ("max_latency_ms", None),
        ("median_response_ms", None),
        ("disk_time_ms", None),
        ("latency_us_per_kb", None),
        ("business_metric", None),
    ],
)
def test_roles_by_title(title, role):
    result = role_of(table(title).column(title))

    assert (result.name if result else None) == role


def test_no_title_has_two_roles():
    titles = [title for role in ROLES for title in role.titles]

    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(
    ("title", "percent"),
    [
        ("latency_p99_ms", 99),
        ("response_p95", 95),
        ("p99 (us)", 99),
        ("p50_us", 50),
        ("p99.9_ms", 99.9),
        ("p999_ms", 99.9),
        ("p9999_ms", 99.99),
        ("P95 [ms]", 95),
        ("99%", 99),
        ("99% [ms]", 99),
        ("99.9% [ms]", 99.9),
        ("95%_line_ms", 95),
        ("95th percentile [ms]", 95),
        ("95th_percentile_ms", 95),
        ("99thPercentileLatency(us)", 99),
        ("99.9th percentile", 99.9),
        ("latency_99th_us", 99),
        ("percentile_90_ms", 90),
        ("pct99_ms", 99),
        ("quantile_0.95_ms", 95),
        ("quantile_0.999_ms", 99.9),
        ("median_ms", 50),
        ("response_median_ms", 50),
        ("MedianLatency(us)", 50),
        ("Latency (p99)", 99),
    ],
)
def test_percentiles_by_title(title, percent):
    result = statistic(title)

    assert result.measure is Measure.PERCENTILE
    assert result.percent == pytest.approx(percent, rel=1e-12)  # 0.999 times a hundred


@pytest.mark.parametrize(
    ("title", "measure"),
    [
        ("max_ms", Measure.MAXIMUM),
        ("response_max_ms", Measure.MAXIMUM),
        ("MaxLatency(us)", Measure.MAXIMUM),
        ("Maximum [ms]", Measure.MAXIMUM),
        ("p100_ms", Measure.MAXIMUM),
        ("minimum_ms", Measure.MINIMUM),
        ("Min latency [ms]", Measure.MINIMUM),
        ("read_deviation_ms", Measure.DEVIATION),
        ("stddev_ms", Measure.DEVIATION),
        ("latency std dev [ms]", Measure.DEVIATION),
    ],
)
def test_other_statistics_by_title(title, measure):
    assert statistic(title).measure is measure


@pytest.mark.parametrize(
    "title",
    [
        "response_ms",
        "Response time [ms]",
        "response_min",  # minutes
        "mean_ms",
        "disk_time_ms",
        "phase_ms",
        "network_us",
        "stage_95_ms",
        "maximal_ms",
        "p_ms",
        "utilisation_percent",
        "gap_us_per_kb",
        "standard_ms",
    ],
)
def test_means_are_no_other_statistic(title):
    assert statistic(title) is None


@pytest.mark.parametrize("title", ["response_max_ms", "minimum_ms", "read_deviation_ms"])
def test_statistics_that_no_model_predicts_are_refused(title):
    with pytest.raises(MeasurementError, match=f"own.csv: column {title} is a .*--y"):
        percentile_of("own.csv", table(title).column(title))


@pytest.mark.parametrize(
    ("header", "load"),
    [
        ("throughput_ops_s,response_ms", "throughput_ops_s"),
        ("achieved_ops_s,requested_ops_s", "achieved_ops_s"),
        ("requested_ops_s,throughput_ops_s", "throughput_ops_s"),
        ("offered_ops_s,response_ms", "offered_ops_s"),
        *((f"{title},response_ms", title) for title in POPULATIONS),
        # a population that was set is what a closed test varies, whatever came through
        ("clients,throughput_ops_s,response_ms", "clients"),
        ("throughput_ops_s,iodepth", "iodepth"),
        # requests seen inside are an outcome beside a rate; so is a population beside an asked one
        ("outstanding,throughput_ops_s,response_ms", "throughput_ops_s"),
        ("connections,requested_ops_s,response_ms", "requested_ops_s"),
        ("clients,load_ops_s,response_ms", "load_ops_s"),
        # without a unit `load` is no rate
        ("load,clients,response_ms", "clients"),
        ("users,throughput_mb_s,response_ms", "users"),
    ],
)
def test_which_column_is_the_load(header, load):
    assert load_column(table(header)).header == load


def test_a_population_that_stays_the_same_is_not_what_was_varied():
    clients = table("clients,throughput_ops_s,response_ms", [(8, 100, 1), (8, 200, 2)])
    offered = table("clients,throughput_ops_s,offered_ops_s", [(1, 100, 300), (8, 200, 300)])

    assert load_column(clients).header == "throughput_ops_s"
    assert load_column(offered).header == "clients"


def test_a_column_that_sets_a_parameter_is_no_load():
    header = "threads,throughput_ops_s,response_ms"

    assert load_column(table(header), taken=["threads"]).header == "throughput_ops_s"


def test_x_says_which_column_is_the_load():
    data = table("outstanding,throughput_ops_s,response_ms")

    assert is_population(load_column(data, "outstanding"))
    with pytest.raises(MeasurementError, match="no column 'thruput'"):
        load_column(data, "thruput")


def test_the_response_time_is_the_mean_unless_another_is_named():
    data = table("latency_p99_ms,latency_ms,throughput_ops_s")

    assert response_column(data).header == "latency_ms"
    assert response_column(data, "latency_p99").header == "latency_p99_ms"
    with pytest.raises(MeasurementError, match="there is no column 'response_time'"):
        response_column(table("latency_p99_ms,throughput_ops_s"))


def test_an_ending_that_is_no_unit_is_named():
    with pytest.raises(
        MeasurementError, match="'furlongs' in response_furlongs is not a known unit"
    ):
        response_column(table("response_furlongs,throughput_ops_s"))


def test_titles_are_read_as_they_stand_among_many():
    """Every role's first title is found among all first titles: none hides another."""
    units = {"op/s": "_ops_s", "s": "_s", "job": ""}
    header = ",".join(role.titles[0] + units[role.unit.text] for role in ROLES)
    values = np.arange(len(ROLES))
    data = Measurements.parse(f"{header}\n{','.join(map(str, values))}\n", "own.csv")

    assert [role_of(c).name for c in data.columns.values()] == [role.name for role in ROLES]


def test_the_reference_lists_every_role_as_declared():
    page = (ROOT / "docs/reference/csv.md").read_text()
    marks = {True: " yes ", False: " "}

    for role in ROLES:
        titles = ", ".join(f"`{title}`" for title in role.titles)
        row = re.search(
            rf"^\| {role.name} \| {titles} \|[^|]*\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE
        )
        assert row, role
        assert row.groups() == (marks[role.load], marks[role.closed])
