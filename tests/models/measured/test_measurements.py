import numpy as np
import pytest
from scipy.stats import linregress

from headway.errors import MeasurementError
from headway.models import Measurements, curve, data_path
from headway.models.files.separated import rows_of
from headway.models.language.titles import split_header
from headway.models.measured.measurements import LARGEST_FILE
from headway.models.measured.regression import r_squared, regression_line
from headway.models.reading.recognise import read_any

GOOD = "system,throughput_ops_s,response_ms\nX,100,3.40\nX,200,4.0\nX,300,5\n"


def test_values_units_labels_lines_and_resolution():
    read = Measurements.parse(GOOD, "raid.csv")

    response = read.column("response")
    assert response.values.tolist() == [3.4e-3, 4e-3, 5e-3]
    # Printed as 3.40, 4.0 and 5: known to half a unit of the last digit.
    np.testing.assert_allclose(response.resolution, [5e-6, 5e-5, 5e-4], rtol=1e-12)
    assert read.labels == {"system": ("X", "X", "X")}
    assert read.lines == (2, 3, 4)
    assert read.column("throughput_ops_s").values.tolist() == [100.0, 200.0, 300.0]


@pytest.mark.parametrize(
    "change", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n")]
)
def test_byte_order_mark_and_crlf_are_accepted(tmp_path, change):
    path = tmp_path / "raid.csv"
    path.write_bytes(change(GOOD.encode()))

    read = Measurements.read(path)

    assert read.column("response").values.tolist() == [3.4e-3, 4e-3, 5e-3]
    assert list(read.columns) == ["throughput_ops_s", "response_ms"]


def test_empty_cells_are_missing_and_left_out_of_the_curve():
    read = Measurements.parse(GOOD + "X,400,\n", "raid.csv")

    assert np.isnan(read.column("response").values[-1])
    assert curve(read).load.values.tolist() == [100.0, 200.0, 300.0]


def column_values(table, *names):
    """A table of whose columns some are asked for; only then their cells matter."""
    for name in names:
        table.column(name)
    return table


def with_row(row):
    return GOOD + row + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "raid.csv: the file is empty"),
        ("\n\n", "raid.csv: the file is empty"),
        ("100,3.4\n200,4\n", "raid.csv:1: no header"),
        ("throughput_ops_s,response_ms\n", "has a header but no rows"),
        ("a_ms,a_ms\n1,2\n", "raid.csv:1: column 'a_ms' appears twice"),
        ("a_ms,\n1,2\n", "raid.csv:1: a column has no name"),
        (with_row("X,400,abc"), "raid.csv:5: response_ms is 'abc', not a number"),
        (with_row("X,400,nan"), "raid.csv:5: response_ms is 'nan', not a finite number"),
        (with_row("X,inf,4"), "raid.csv:5: throughput_ops_s is 'inf', not a finite number"),
        (with_row("X,400,-4"), "raid.csv:5: response_ms is -4; it cannot be negative"),
        (with_row("X,400"), "raid.csv:5: 2 cells, but the header names 3 columns"),
        ('a_ms,b_ms\n"1,2\n', "raid.csv"),
    ],
)
def test_refused_with_file_line_and_column(text, message):
    with pytest.raises(MeasurementError) as refused:
        column_values(Measurements.parse(text, "raid.csv"), "throughput", "response")

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("throughput_ops_s,time_ms\n1,2\n", "there is no column 'response_time'"),
        ("rate_ops_s,response_ms\n1,2\n", "there is no column 'throughput'"),
        ("throughput_ms,response_ms\n1,2\n", "throughput_ms is in ms; it needs a unit like op/s"),
        ("throughput_ops_s,response\n1,2\n", "response has no unit in its name"),
        ("throughput_ops_s,response_ms\n1,\n", "no row has both"),
    ],
)
def test_curves_need_their_columns(text, message):
    with pytest.raises(MeasurementError, match=message):
        curve(Measurements.parse(text, "raid.csv"))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MeasurementError, match="there is no such file"):
        Measurements.read(tmp_path / "nothing.csv")
    with pytest.raises(MeasurementError, match="cannot be read"):
        Measurements.read(tmp_path)
    (tmp_path / "zip.csv").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(MeasurementError, match="not a text file"):
        Measurements.read(tmp_path / "zip.csv")
    large = tmp_path / "large.csv"
    with large.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    with pytest.raises(MeasurementError, match="limit of 20 MB"):
        Measurements.read(large)


def test_line_agrees_with_scipy():
    data = Measurements.read(data_path("network_sensitivity/table_a_5_raid_performance.csv"))
    x, y = data.column("throughput").values, data.column("response").values

    line, peer = regression_line(x, y), linregress(x, y)

    expected = [peer.slope, peer.intercept, peer.rvalue**2, peer.stderr, peer.intercept_stderr]
    rows = [line.slope, line.intercept, line.r_squared, line.slope_error, line.intercept_error]
    np.testing.assert_allclose(rows, expected, rtol=1e-10)


@pytest.mark.slow
def test_line_agrees_with_statsmodels():
    import statsmodels.api as sm

    data = Measurements.read(data_path("network_sensitivity/table_a_5_raid_performance.csv"))
    x, y = data.column("throughput").values, data.column("response").values

    line = regression_line(x, y)

    peer = sm.OLS(y, sm.add_constant(x)).fit()
    # Tolerance: two least-squares algorithms on 12 well-conditioned points.
    expected = [peer.params[1], peer.params[0], peer.rsquared, peer.bse[1], peer.bse[0]]
    rows = [line.slope, line.intercept, line.r_squared, line.slope_error, line.intercept_error]
    np.testing.assert_allclose(rows, expected, rtol=1e-10)


def test_a_line_needs_three_points_and_two_loads():
    with pytest.raises(MeasurementError, match="needs at least 3 points"):
        regression_line(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    with pytest.raises(MeasurementError, match="different loads"):
        regression_line(np.ones(3), np.arange(3.0))


def test_r_squared_of_a_flat_measurement():
    assert r_squared(np.ones(3), np.ones(3)) == 1.0
    assert r_squared(np.ones(3), np.zeros(3)) == -np.inf


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_spreadsheets_titles_and_separators(mark):
    text = f"Throughput [op/s]{mark}Response time (ms)\n100{mark}3.4\n200{mark}4.0\n"
    data = Measurements.parse(text, "sheet")

    assert data.column("throughput").values.tolist() == [100, 200]
    assert data.column("response_time").values.tolist() == pytest.approx([3.4e-3, 4e-3], rel=1e-12)


@pytest.mark.parametrize(
    ("header", "row", "cells"),
    [
        ("clients;latency, mean;throughput", "1;2;3", 3),
        ("clients;latency, mean;throughput", "1;0,5;3", 3),
        ("load;latency, mean", "1,5;0,5", 2),
        ("load,mean;of all,p95", "1,2,3", 3),
        ("load\tmean, of all", "1\t2", 2),
        ('load,"mean; of all"', "1,2", 2),
        ("load;mean", "1", 2),
    ],
)
def test_marks_in_titles_part_no_cells(header, row, cells):
    assert len(rows_of(f"{header}\n{row}\n", "a.csv")[0][1]) == cells


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_header_may_begin_as_a_comment_does(mark):
    text = f"# run of May, the first\n# clients{mark}throughput\n1{mark}50\n2{mark}90\n"
    data = Measurements.parse(text, "own")

    assert {name: c.values.tolist() for name, c in data.columns.items()} == {
        "clients": [1, 2], "throughput": [50, 90]}  # fmt: skip
    assert data.lines == (3, 4)


def test_a_comment_above_a_header_or_of_other_words_is_none():
    assert rows_of("# one, two\na,b\n1,2\n", "a.csv")[0] == (2, ["a", "b"])
    assert rows_of("# one, two, three\n1,2\n", "a.csv") == [(2, ["1", "2"])]
    assert rows_of("# 3,4\n1,2\n", "a.csv") == [(2, ["1", "2"])]
    with pytest.raises(MeasurementError, match="no header"):
        Measurements.parse("# measured in May\n1,2\n", "a.csv")


def test_a_title_with_another_word_in_brackets_has_no_unit():
    assert split_header("Response time (measured)") == ("Response time (measured)", None)


def test_a_decimal_comma_is_read_where_it_can_be_nothing_else():
    text = "throughput_ops_s;response_ms\n1.000;3,4\n2.000;12,75\n"
    data = Measurements.parse(text, "sheet")

    assert data.column("throughput").values.tolist() == [1000, 2000]
    assert data.column("response").values.tolist() == pytest.approx([3.4e-3, 12.75e-3], rel=1e-12)
    # Known to half a unit of the last digit, in whichever way that is written.
    np.testing.assert_allclose(data.column("response").resolution, [5e-5, 5e-6], rtol=1e-12)


def test_lines_that_begin_with_a_sign_are_comments():
    text = "# SPECsfs97, run 3\nthroughput_ops_s,response_ms\n100,3.4\n  # warm\n200,4.0\n"
    measured = read_any(text, "curve.csv")

    assert measured.kind == "CSV"
    assert measured.lines == (3, 5)
    assert measured.column("response").values.tolist() == [0.0034, 0.004]
