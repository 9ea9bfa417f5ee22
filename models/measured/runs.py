"""The benchmarks' own files: ``sfssum`` (one line per run) and ``sfsres`` (one report per run)."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from headway.errors import MeasurementError
from headway.kinds import number_of
from headway.models.files.separated import rows_of
from headway.models.measured.measurements import Measurements
from headway.models.measured.pages import is_html
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import Reader

_SFSSUM_2008 = re.compile(
    r"\s*(?:INVALID\s+)?\d+\s+\d+\s+[\d.]+\s+\d+\s+\d+\s+(?:NFS\d?|CIFS)\s",
    re.IGNORECASE | re.ASCII,
)
_SFSSUM_2020 = re.compile(
    r"^[ \t]*Business[ \t]+Requested[ \t]+Achieved[ \t]+Avg Lat", re.MULTILINE
)
_SFSSUM_CSV = re.compile(r"\A\s*business,requested,achieved,avg_lat_ms\b", re.IGNORECASE)
_SFSRES = re.compile(r"SFS Aggregate Results|AGGREGATE RESULTS SUMMARY")
_XML = re.compile(r"\s*(<\?xml\b[^>]*>\s*)?<(!DOCTYPE|!ENTITY|summary\b)", re.IGNORECASE)

_CURVE = ("requested_ops_s", "throughput_ops_s", "response_ms")
_COLUMNS_2008 = (
    *_CURVE,
    "operations",
    "run_time_s",
    "protocol",
    "transport",
    "version",
    "file_set_kb",
    "client_machines",
    "processes",
    "reads",
    "writes",
    "benchmark",
    "valid",
)
_COLUMNS_2020 = (
    "business_metric",
    *_CURVE,
    "transferred_kb_s",
    "read_kb_s",
    "written_kb_s",
    "run_time_s",
    "client_machines",
    "processes",
    "file_size_kb",
    "client_data_mib",
    "start_data_mib",
    "initial_file_space_mib",
    "maximum_file_space_mib",
    "workload",
    "valid",
)
_CHUNK, _DEEPEST = 20_000, 20  # characters parsed at a time, and how deep a list of runs may be
_INVALID = "no"
_MARK = "INVALID"
_ENTITY = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
_METRICS = {
    "op rate": "requested_ops_s",
    "achieved rate": "throughput_ops_s",
    "average latency": "response_ms",
    "overall throughput": "transferred_kb_s",
    "read throughput": "read_kb_s",
    "write throughput": "written_kb_s",
    "run time": "run_time_s",
    "clients": "client_machines",
    "processes per client": "processes",
    "file size": "file_size_kb",
    "client data set size": "client_data_mib",
    "starting data set size": "start_data_mib",
    "initial file space": "initial_file_space_mib",
    "maximum file space": "maximum_file_space_mib",
}
_METRIC_UNITS = {"ops_s": "ops/s", "ms": "milliseconds", "s": "seconds"}


def _assembled(
    titles: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], source: str
) -> Measurements:
    """Make measurements from cells as printed, which keeps their resolution."""
    if not rows:
        msg = f"{source}: it contains no run; it needs lines with requested and achieved load"
        raise MeasurementError(msg)
    return Measurements.of_cells(titles, rows, source)


def read_sfssum_2008(text: str, source: str) -> Measurements:
    """Read an ``sfssum`` file of SFS 2008; invalid runs stay, with ``valid`` set to no.

    Examples
    --------
    >>> line = "INVALID  100  99  1.5  29984  300 NFS3 T 4  11537568  1 16  8  8 2008"
    >>> read_sfssum_2008(line, "sfssum").labels["valid"]
    ('no',)
    """
    rows = []
    for line, content in enumerate(text.splitlines(), 1):
        cells = content.split()
        if not cells:
            continue
        valid = _INVALID if cells[0].upper() == _MARK else "yes"
        cells = cells[1:] if valid == _INVALID else cells
        _check_cells(cells, len(_COLUMNS_2008) - 1, f"{source}:{line}")
        rows.append((line, [*cells, valid]))
    return _assembled(_COLUMNS_2008, rows, source)


def _check_cells(cells: Sequence[str], wanted: int, place: str) -> None:
    if len(cells) != wanted:
        msg = (
            f"{place}: {len(cells)} cells, but a run has {wanted}; check that the file is complete"
        )
        raise MeasurementError(msg)


def read_sfssum_2020(text: str, source: str) -> Measurements:
    """Read an ``sfssum`` text file of SPECstorage 2020."""
    rows = []
    for line, content in enumerate(text.splitlines(), 1):
        cells = content.split()
        if cells and re.fullmatch(r"[0-9.]+", cells[0]):
            rows.append((line, _with_mark(cells, f"{source}:{line}")))
    return _assembled(_COLUMNS_2020, rows, source)


def read_sfssum_csv(text: str, source: str) -> Measurements:
    """Read an ``sfssum`` CSV file of SPECstorage 2020."""
    rows = [
        (line, _with_mark([cell.strip() for cell in cells if cell.strip()], f"{source}:{line}"))
        for line, cells in rows_of(text, source)[1:]
    ]
    return _assembled(_COLUMNS_2020, rows, source)


def _with_mark(cells: list[str], place: str) -> list[str]:
    invalid = cells[-1].upper().startswith(_MARK)
    cells = cells[:-1] if invalid else cells
    _check_cells(cells, len(_COLUMNS_2020) - 1, place)
    return [*cells, _INVALID if invalid else "yes"]


def read_sfssum_xml(text: str, source: str) -> Measurements:
    """Read an ``sfssum`` XML file of SPECstorage 2020.

    Raises
    ------
    MeasurementError
        For XML that `xml_of` refuses.
    """
    root = xml_of(text, source)
    runs = [_xml_run(run, source) for run in root.iter("run")]
    titles = list(dict.fromkeys(title for run in runs for title in run))
    rows = [(i + 1, [run.get(title, "") for title in titles]) for i, run in enumerate(runs)]
    return _assembled(titles, rows, source)


def xml_of(text: str, source: str) -> Any:
    """Parse XML written by a tool.

    Raises
    ------
    MeasurementError
        For XML that is incomplete, too deeply nested, or declares a document type or
        entities: these can make a small file huge, and no tool writes them.

    Examples
    --------
    >>> xml_of("<Results><Span>30</Span></Results>", "a.xml").findtext("Span")
    '30'
    """
    import xml.etree.ElementTree as ET

    if _ENTITY.search(text):
        msg = f"{source}: the XML declares entities or a document type; remove them"
        raise MeasurementError(msg)
    try:
        return _xml_root(text, source)
    except ET.ParseError as error:
        line, column = error.position
        msg = f"{source}:{line}: incomplete or invalid XML (column {column}); write the file again"
        raise MeasurementError(msg) from None


def _xml_root(text: str, source: str) -> Any:
    """Parse XML in steps, to refuse endless nesting before it is built."""
    import xml.etree.ElementTree as ET

    parser: Any = ET.XMLPullParser(("start", "end"))
    depth, root = 0, None
    for start in range(0, len(text), _CHUNK):
        parser.feed(text[start : start + _CHUNK])
        for event, element in parser.read_events():
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                msg = (
                    f"{source}: XML nested more than {_DEEPEST} deep is not a list of runs; write "
                    "the file again"
                )
                raise MeasurementError(msg)
    parser.close()
    return root


def _xml_run(run: Any, source: str) -> dict[str, str]:
    cells = {"business_metric": (run.findtext("business_metric") or "").strip()}
    for metric in run.iter("metric"):
        title = _METRICS.get(metric.get("name", ""))
        if title:
            cells[title] = _metric(metric, title, source)
    benchmark = run.find("benchmark")
    cells["workload"] = "" if benchmark is None else benchmark.get("name", "")
    cells["valid"] = _INVALID if run.find("valid_run") is None else "yes"
    return cells


def _metric(metric: Any, title: str, source: str) -> str:
    """The text of a metric, in the unit that it always has."""
    given = metric.get("units")
    wanted = _METRIC_UNITS.get(title.partition("_")[2])
    if given and wanted and given != wanted:
        msg = f"{source}: {metric.get('name')} is in {given}; it needs {wanted}"
        raise MeasurementError(msg)
    return (metric.text or "").strip()


_REQUESTED = re.compile(r"Requested Load \(\w+ operations/second\) = (\d+)", re.ASCII)
_SUMMARY = re.compile(
    r"^(INVALID )?[ \t]*SFS \w+ THROUGHPUT:\s*([\d.]+) Ops/Sec\s+"
    r"AVG\. RESPONSE TIME:\s*([\d.]+) Msec",
    re.MULTILINE | re.ASCII,
)
_OPERATION = re.compile(
    r"^(\w+)\s+([\d.]+)%\s+([\d.]+)%\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)"
    r"\s+([\d.]+)%",
    re.MULTILINE | re.ASCII,
)
_RUN_STARTS = re.compile(r"^Aggregate Test Parameters", re.MULTILINE)


def read_sfsres(text: str, source: str) -> Measurements:
    """Read an ``sfsres`` file: one row per run, with each operation's mean, deviation and mix.

    Columns ``read_mean_ms``, ``read_deviation_ms``, ``read_target_mix`` and
    ``read_actual_mix`` (shares) and ``read_errors`` belong to the operation read, and so on.
    """
    starts = [match.start() for match in _RUN_STARTS.finditer(text)] or [0]
    ends = [*starts[1:], len(text)]
    reports = [(a, text[a:b]) for a, b in zip(starts, ends, strict=True)]
    runs = [
        (text.count("\n", 0, a) + 1, _report(part, source))
        for a, part in reports
        if _SUMMARY.search(part)
    ]
    titles = list(dict.fromkeys(title for _, run in runs for title in run))
    rows = [(line, [run.get(title, "") for title in titles]) for line, run in runs]
    return _assembled(titles, rows, source)


def _report(text: str, source: str) -> Mapping[str, str]:
    requested, summary = _REQUESTED.search(text), _SUMMARY.search(text)
    assert summary is not None  # noqa: S101 - only reports with a summary come here
    cells = {"requested_ops_s": requested[1] if requested else ""}
    cells |= {"throughput_ops_s": summary[2], "response_ms": summary[3]}
    cells["valid"] = _INVALID if summary[1] else "yes"
    for match in _OPERATION.finditer(text):
        cells |= dict(_operation(match, source))
    return cells


def _operation(match: re.Match[str], source: str) -> Iterable[tuple[str, str]]:
    name = match[1].lower()
    yield f"{name}_mean_ms", match[7]
    yield f"{name}_deviation_ms", match[8]
    yield f"{name}_target_mix", _share(match[2], f"{source}: {name}_target_mix")
    yield f"{name}_actual_mix", _share(match[3], f"{source}: {name}_actual_mix")
    yield f"{name}_errors", match[6]


def _share(percent: str, place: str) -> str:
    """Write a percentage as a share with the digits it was printed with."""
    value = number_of(percent)
    if value is None:
        msg = f"{place} is {percent!r} %, not a number"
        raise MeasurementError(msg)
    decimals = len(percent.partition(".")[2])
    return f"{value / 100:.{decimals + 2}f}"


_NOTED = {"no": ("the benchmark calls this run invalid",)}
_Read = Callable[[str, str], Measurements]


def _reader(kind: str, recognises: Callable[[str], object], read: _Read) -> Reader:
    def points(text: str, source: str) -> list[Point]:
        table = read(text, source)
        return [_run_point(kind, table, row) for row in range(len(table))]

    return Reader(kind, recognises, read, points, "requested and achieved rate, mean, run time")


def _run_point(kind: str, table: Measurements, row: int) -> Point:
    """A run: the benchmark offers a rate, from processes with one outstanding operation each."""

    def cell(title: str) -> float | None:
        values = table.columns[title].values if title in table.columns else [math.nan] * (row + 1)
        return float(values[row]) if math.isfinite(values[row]) else None

    transferred = cell("transferred_kb_s")
    return Point(
        kind,
        Loop.OPEN,
        offered_rate=cell("requested_ops_s"),
        throughput=cell("throughput_ops_s"),
        response_time=cell("response_ms"),
        samples=cell("operations"),
        duration=cell("run_time_s"),
        more={} if transferred is None else {"bandwidth_bytes_s": transferred},
        name=table.labels["workload"][row] if "workload" in table.labels else "",
        notes=_NOTED.get(table.labels["valid"][row], ()),
    )


SFSSUM_XML = _reader(
    "sfssum (XML)", lambda text: not is_html(text) and _XML.match(text), read_sfssum_xml
)
SFSSUM_CSV = _reader("sfssum (CSV)", _SFSSUM_CSV.search, read_sfssum_csv)
SFSRES = _reader("sfsres", _SFSRES.search, read_sfsres)
SFSSUM_2008 = _reader("sfssum", _SFSSUM_2008.match, read_sfssum_2008)
SFSSUM_2020 = _reader("sfssum", _SFSSUM_2020.search, read_sfssum_2020)
