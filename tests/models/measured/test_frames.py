"""Columns, data frames, Parquet and Excel in, frames and labelled arrays out."""

import importlib
import io
import sys
import types
import zipfile

import numpy as np
import pandas as pd
import pytest

from headway.errors import MeasurementError, PackageError, UnitError
from headway.models import Measurements, catalogue_model
from headway.models.measured.columns import load_column, response_column
from headway.models.measured.roles import part_of
from headway.models.reading.loadtest import read, read_load_test
from tests.support.command import headway, refusal

FRAME = pd.DataFrame(
    {"Users": [1, 2, 4], "Requests/sec": [199.2, 386.1, 683.8], "p99 (ms)": [8.0, None, 10.5]}
)


def test_columns_in_si_and_in_other_units():
    plain = Measurements.from_columns([100, 200], [3.4e-3, 4e-3])
    result = Measurements.from_columns(
        [0.1, 0.2],
        [3.4, 4.0],
        population=np.array([1, 2]),
        percentiles={99.9: [8, None]},
        utilisation={"cpu": [12, 30]},
        unit={
            "throughput": "kop/s", "response_time": "ms", "percentiles": "us", "utilisation": "%",
        },
    )  # fmt: skip

    for name in ("throughput", "response"):
        ours, theirs = plain.column(name).values, result.column(name).values
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert [str(part_of(column)) for column in result.columns.values()] == [
        "throughput", "response_time", "population", "p99.9", "cpu_util",
    ]  # fmt: skip
    np.testing.assert_allclose(result.column("p99_9").values, [8e-6, np.nan], rtol=1e-12)
    assert result.column("cpu_util").values.tolist() == [0.12, 0.3]
    assert load_column(result).header == "population"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"throughput": [1, 2], "response_time": [1]}, MeasurementError, "of different lengths"),
        ({}, MeasurementError, "there is no column; give for example throughput and"),
        ({"throughput": [-1]}, MeasurementError, "throughput_ops_s is -1; it cannot be negative"),
        ({"throughput": [float("inf")]}, MeasurementError, "not a finite number"),
        ({"throughput": [1], "unit": {"thruput": "op/s"}}, MeasurementError, "mean throughput?"),
        ({"throughput": [1], "unit": {"throughput": "opp"}}, UnitError, "'opp' is not known"),
        ({"errors": ["many"]}, MeasurementError, "'many', not a number"),
    ],
)
def test_bad_columns_are_refused(given, error, message):
    with pytest.raises(error) as refused:
        Measurements.from_columns(**given)
    assert message in str(refused.value)


def test_columns_fit_like_a_file(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("throughput_ops_s,response_ms\n100,3.4\n200,4.0\n300,5.1\n")
    model = catalogue_model("server-single")
    made = Measurements.from_columns([100, 200, 300], [3.4, 4.0, 5.1], unit={"response_time": "ms"})

    ours, theirs = (model.fit(m, ["service_time"]) for m in (made, Measurements.read(path)))
    assert ours.model.parameters["service_time"].value == pytest.approx(
        theirs.model.parameters["service_time"].value, rel=1e-12
    )


def test_a_pandas_frame_there_and_back():
    table = Measurements.from_frame(FRAME, source="lab")
    frame = table.to_frame()
    again = Measurements.from_frame(frame)

    assert [str(part_of(c)) for c in table.columns.values()] == ["population", "throughput", "p99"]
    assert frame.attrs["source"] == "lab"
    assert list(frame.columns) == ["Users", "rps_ops_per_s", "p99_s"]
    for one, other in zip(table.columns.values(), again.columns.values(), strict=True):
        assert part_of(one) == part_of(other)
        np.testing.assert_array_equal(one.values, other.values)


def test_a_frame_takes_units_and_roles_and_keeps_words():
    frame = pd.DataFrame(
        {"rate": [1.0, 2.0], "t": [3, 4], "host": ["a, b", None], "ok": [True, False]}
    )
    table = Measurements.from_frame(frame, {"rate": "req/s", "t": "ms"}, {"t": "response_time"})

    assert response_column(table).values.tolist() == [0.003, 0.004]
    assert table.labels["host"] == ("a, b", "")
    assert table.labels["ok"] == ("yes", "no")
    with pytest.raises(MeasurementError, match="a list is not a data frame; give one from pandas"):
        Measurements.from_frame([1, 2])


class Interchanged:
    """A frame that has nothing but the interchange protocol, lent from pandas."""

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return FRAME.__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)


class Columnar:
    """A frame as polars has it: names, and columns that become lists."""

    columns = ["clients", "rps"]

    def __getitem__(self, name):
        column = types.SimpleNamespace()
        column.to_list = lambda: {"clients": [1, 2], "rps": [9.5, None]}[name]
        return column


@pytest.mark.filterwarnings("ignore:.*[Ii]nterchange")
def test_frames_of_others():
    theirs = Measurements.from_frame(Interchanged())
    np.testing.assert_array_equal(
        theirs.column("p99").values, Measurements.from_frame(FRAME).column("p99").values
    )
    columnar = Measurements.from_frame(Columnar())
    np.testing.assert_array_equal(columnar.column("rps").values, [9.5, np.nan])


def test_a_polars_frame():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"clients": [1, 2], "latency_ms": [3.5, None], "host": ["a", "b"]})
    table = Measurements.from_frame(frame)

    np.testing.assert_array_equal(table.column("latency").values, [0.0035, np.nan])
    assert table.labels["host"] == ("a", "b")


def workbook():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as parts:
        parts.writestr("[Content_Types].xml", "<Types/>")
        parts.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


FILES = [
    (b"PAR1\0\0\0PAR1", "pyarrow", "read_parquet", FRAME, "Parquet"),
    (workbook(), "openpyxl", "read_excel", {"runs": FRAME, "notes": FRAME[[]]}, "Excel workbook"),
]


@pytest.fixture(params=FILES, ids=["parquet", "excel"])
def binary(request, tmp_path, monkeypatch):
    """A file by its first bytes, whatever it is called, and what pandas would make of it."""
    content, engine, reader, made, kind = request.param
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    monkeypatch.setitem(sys.modules, engine, types.ModuleType(engine))
    monkeypatch.setattr(pd, reader, lambda *_, **__: made)
    return path, engine, reader, kind


def test_parquet_and_excel_are_known_by_their_content(binary):
    path, *_, kind = binary
    load_test = read_load_test([str(path)])

    assert [point.throughput for point in load_test.points] == [199.2, 386.1, 683.8]
    assert load_test.tools == (kind,)
    assert Measurements.read(path).kind == kind
    assert read_load_test([str(path.parent)]).tools == (kind,)
    assert "throughput from Requests/sec" in headway("read", path).out


def test_what_pandas_needs_is_said_with_the_command(binary, monkeypatch):
    path, engine, _, kind = binary
    monkeypatch.setitem(sys.modules, engine, None)

    line = refusal("read", path)
    assert f"runs.csv: is a{'n' if kind[0] == 'E' else ''} {kind}" in line
    assert line.endswith(
        f"needs pandas and {engine}; install: python -m pip install pandas {engine}"
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "needs pandas and" in refusal("compare", "server-single", "--data", path)


def test_a_file_that_pandas_cannot_read_is_refused(binary, monkeypatch):
    path, _, reader, kind = binary

    def broken(*_, **__):
        raise OSError("magic bytes\nnot found")

    monkeypatch.setattr(pd, reader, broken)
    assert f"{kind}" in refusal("read", path)
    assert "that cannot be read (magic bytes not found)" in refusal("read", path)


def test_a_workbook_of_several_sheets_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "runs.xlsx"
    path.write_bytes(workbook())
    monkeypatch.setitem(sys.modules, "openpyxl", types.ModuleType("openpyxl"))
    monkeypatch.setattr(pd, "read_excel", lambda *_, **__: {"may": FRAME, "june": FRAME})
    assert "has 2 sheets with cells (may, june); keep only one" in refusal("read", path)


@pytest.mark.parametrize(("engine", "ending"), [("pyarrow", "parquet"), ("openpyxl", "xlsx")])
def test_files_that_pandas_wrote(engine, ending, tmp_path):
    pytest.importorskip(engine)
    path = tmp_path / f"runs.{ending}"
    if ending == "parquet":
        FRAME.to_parquet(path)
    else:
        FRAME.to_excel(path, index=False)
    table = Measurements.read(path)

    np.testing.assert_array_equal(
        table.column("p99").values, Measurements.from_frame(FRAME).column("p99").values
    )
    assert table.column("rps").values.tolist() == [199.2, 386.1, 683.8]


class Dataset:
    """What xarray.Dataset is given, held to what it checks: shapes that fit the dimensions."""

    def __init__(self, values, coords, attrs):
        self.values, self.coords, self.attrs = values, coords, attrs
        sizes = {}
        for dims, array, _ in (*values.values(), *coords.values()):
            assert len(dims) == np.ndim(array)
            for dim, size in zip(dims, np.shape(array), strict=True):
                assert sizes.setdefault(dim, size) == size


@pytest.fixture
def xarray(monkeypatch):
    stand_in = types.ModuleType("xarray")
    stand_in.Dataset = Dataset
    monkeypatch.setitem(sys.modules, "xarray", stand_in)


def grid():
    model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    return model.solve(arrival_rate=[[100.0, 500.0, 900.0]], delay=[[1e-3], [2e-3]])


@pytest.mark.usefixtures("xarray")
def test_a_grid_has_the_swept_parameters_as_dimensions():
    dataset = grid().to_xarray()

    dims, values, attrs = dataset.values["response_time"]
    assert dims == ("delay", "arrival_rate")
    assert attrs == {"units": "s"}
    # delay + S / (1 - U), S = 1 ms
    rates, delays = np.array([100.0, 500, 900]), np.array([[1e-3], [2e-3]])
    np.testing.assert_allclose(values, delays + 1e-3 / (1 - rates * 1e-3), rtol=1e-12)
    assert dataset.coords["arrival_rate"][0] == ("arrival_rate",)
    assert dataset.coords["arrival_rate"][1].tolist() == [100, 500, 900]
    assert dataset.coords["delay"][2] == {"units": "s"}
    assert dataset.values["node.utilisation"][2] == {"units": ""}
    assert dataset.attrs["service_time"] == 0.001
    assert dataset.attrs["model"] == "server-single"


@pytest.mark.usefixtures("xarray")
def test_points_and_single_answers_have_their_dimensions_too():
    model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    paired = model.solve(arrival_rate=[100.0, 200.0], delay=[1e-3, 2e-3]).to_xarray()
    single = model.solve(100.0).to_xarray()

    assert paired.values["response_time"][0] in (("arrival_rate",), ("delay",))
    assert {name: dims for name, (dims, *_) in paired.coords.items()} == dict.fromkeys(
        ("arrival_rate", "delay"), paired.values["response_time"][0]
    )
    assert single.values["response_time"][0] == ()
    assert single.attrs["arrival_rate"] == 100


def test_xarray_that_is_not_installed_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(PackageError, match="needs xarray; install: python -m pip install xarray"):
        grid().to_xarray()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PackageError, match="a data frame, which needs pandas; install"):
        Measurements.from_columns([1]).to_frame()


def test_a_grid_in_xarray_itself():
    pytest.importorskip("xarray")
    dataset = grid().to_xarray()

    assert dataset.response_time.sel(delay=2e-3, arrival_rate=500).item() == pytest.approx(4e-3)
    assert dict(dataset.sizes) == {"delay": 2, "arrival_rate": 3}


def test_neither_is_imported_before_it_is_asked_for():
    importlib.import_module("headway.models.reading.recognise")
    code = "import sys; from headway.models import Measurements as M; M.parse('a_s\\n1\\n', 'a')"
    import subprocess

    text = f"{code}; print(sorted(sys.modules.keys() & {{'pandas', 'xarray', 'pyarrow'}}))"
    out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("given", [{"load": [1.0]}, pd.DataFrame({"load": [1.0]})])
def test_a_table_is_no_path(given):
    with pytest.raises(
        MeasurementError, match="read takes paths, and a .* is measurements already"
    ):
        read(given)
