"""IOR and mdtest: transfers and bandwidth, operations on files and folders."""

import re
from collections.abc import Iterator, Mapping, Sequence

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import at, document, under
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import begins, by_title, placed, recognised_by

_IOR = re.compile(r"^access\s+bw\(MiB/s\)\s", re.MULTILINE)
_OPTION = re.compile(r"^\s*([a-zA-Z][a-zA-Z ]*?)\s*[:=]\s*(\S.*?)\s*$")
_ACCESSES = ("write", "read")
_AFTER = ("Operation", "Max ")  # begins the summary of all tests
_NONE = ("-", "NA")
_KIB, _MIB = 2.0**10, 2.0**20

_FASTEST = "latency is the mean of the fastest task, a lower bound for the mean of all tasks"
_FROM_BANDWIDTH = (
    "the rate is bandwidth divided by transfer size, so it includes opening and closing"
)

_MDTEST = re.compile(r"^mdtest-\S+ was launched", re.MULTILINE)
_LAUNCHED = re.compile(r"mdtest-\S+ was launched with\s+(\S+) total task")
_SUMMARY = re.compile(r"^SUMMARY( rate)?\b.*?\((?:of )?(\d+) iterations?\)", re.ASCII)
_OPERATION = re.compile(r"^\s+((?:Directory|File|Tree) [a-z]+)\s*:?((?:\s+\S+){4})\s*$")
_NOT_A_MEAN = "mdtest prints no latency, and its tasks may end at different times"


def _ior_points(text: str, source: str) -> Sequence[Point]:
    rows = [row for row in _ior_rows(text, source) if row[0]["access"] in _ACCESSES]
    return _some([_ior_point(*row) for row in rows], source)


def _some(points: Sequence[Point], source: str) -> Sequence[Point]:
    if not points:
        msg = f"{source}: no IOR write or read finished; run it again"
        raise MeasurementError(msg)
    return points


_Row = tuple[Mapping[str, str], Mapping[str, str], str]


def _ior_rows(text: str, source: str) -> Iterator[_Row]:
    """Rows of the tables, each with its place and the options of its test."""
    titles: list[str] = []
    options: dict[str, str] = {}
    for place, content in placed(text, source):
        cells, option = content.split(), _OPTION.match(content)
        if _IOR.match(content):
            titles = cells
        elif option:
            options = {**options, option[1]: option[2]}
        elif content.startswith(_AFTER):
            titles = []
        elif titles and cells and cells[0] in _ACCESSES:
            if len(cells) != len(titles):
                msg = (
                    f"{place}: {len(cells)} cells under {len(titles)} titles; check that the file "
                    "is complete"
                )
                raise MeasurementError(msg)
            yield dict(zip(titles, cells, strict=True)), options, place


def _ior_point(row: Mapping[str, str], options: Mapping[str, str], place: str) -> Point:
    def cell(title: str, scale: float = 1.0) -> float | None:
        text = row.get(title, "-")
        return None if text in _NONE else number(text, f"{place}, {title}") * scale

    bandwidth, size = cell("bw(MiB/s)", _MIB), cell("xfer(KiB)", _KIB)
    counted = cell("IOPS")
    rate = counted or (bandwidth / size if bandwidth and size else None)
    if not rate:
        msg = f"{place}: IOR transferred nothing in this test; run it again"
        raise MeasurementError(msg)
    latency = cell("Latency(s)") or None
    notes = [] if counted else [_FROM_BANDWIDTH]
    tasks = options.get("tasks", options.get("clients", "")).split()
    return Point(
        "IOR",
        Loop.CLOSED,
        population=number(tasks[0], f"{place}, tasks") if tasks else None,
        throughput=rate,
        response_time=latency,
        duration=cell("wr/rd(s)") if counted else cell("total(s)"),
        more={"bandwidth_bytes_s": bandwidth} if bandwidth else {},
        name=row["access"],
        notes=tuple([*notes, _FASTEST] if latency else notes),
    )


def _is_json(text: str) -> bool:
    return recognised_by('"Version"', '"Command line"', '"tests"', '"TestID"')(text)


_KEYS = {
    "access": "access", "bw(MiB/s)": "bwMiB", "xfer(KiB)": "xferKiB", "IOPS": "iops",
    "Latency(s)": "latency", "wr/rd(s)": "wrRdTime", "total(s)": "totalTime",
}  # fmt: skip


def _of_json(text: str, source: str) -> Sequence[Point]:
    """One point per repetition, by the titles of the table."""
    tests = at(document(text, source), "tests", source=source)
    rows: list[_Row] = []
    for index, test in enumerate(tests if isinstance(tests, list) else []):
        place = f"{source}: tests[{index}]"
        options = {key: str(value) for key, value in under(test, "Options").items()}
        results = at(test, "Results", source=place)
        for line in results if isinstance(results, list) else []:
            cells = {t: str(at(line, key, source=place)) for t, key in _KEYS.items()}
            rows.append((cells, options, place))
    return _some([_ior_point(*row) for row in rows if row[0]["access"] in _ACCESSES], source)


def _of_csv(text: str, source: str) -> Sequence[Point]:
    titles: list[str] = []
    points = []
    for place, line in placed(text, source):
        cells = line.split(",")
        if not titles:
            titles = ["Latency(s)" if cell == "Latency" else cell for cell in cells]
        elif line:
            row = by_title(titles, cells, place)
            if row.get("access") in _ACCESSES:
                points.append(_ior_point(row, {"tasks": row.get("numTasks", "")}, place))
    return _some(points, source)


def _mdtest_points(text: str, source: str) -> Sequence[Point]:
    launched = _LAUNCHED.search(text)
    tasks = number(launched[1], source) if launched else None
    points = []
    rates, iterations = False, ""
    for place, content in placed(text, source):
        summary, operation = _SUMMARY.match(content), _OPERATION.match(content)
        if content.startswith("SUMMARY"):
            rates, iterations = "time" not in content, summary[2] if summary else ""
        elif operation and rates:
            points += _operation(operation, tasks, iterations, place)
    if not points:
        msg = f"{source}: the summary of rates is missing; let mdtest finish"
        raise MeasurementError(msg)
    return points


def _operation(
    match: re.Match[str], tasks: float | None, iterations: str, place: str
) -> list[Point]:
    """The mean rate of an operation; trees are created by a single task."""
    largest, least, mean, spread = (number(cell, place) for cell in match[2].split())
    if not mean:
        return []
    name = match[1]
    more = {"rate_max_ops_s": largest, "rate_min_ops_s": least, "rate_deviation_ops_s": spread}
    return [
        Point(
            "mdtest",
            Loop.CLOSED,
            population=1.0 if name.startswith("Tree") else tasks,
            throughput=mean,
            more=more,
            name=name,
            notes=(*([f"mean of {iterations} iterations"] if iterations else []), _NOT_A_MEAN),
        )
    ]


IOR = tool_reader(
    "IOR",
    _IOR.search,
    _ior_points,
    "writes and reads of each repetition: transfers, tasks, latency of the fastest task, bandwidth",
)
IOR_JSON = tool_reader(
    "IOR (JSON)", _is_json, _of_json, "writes and reads of each repetition, as in IOR's table"
)
"""Reads the file of ``-O summaryFormat=JSON``."""
IOR_CSV = tool_reader(
    "IOR (CSV)",
    begins("access,bw(MiB/s),"),
    _of_csv,
    "writes and reads of each repetition, as in IOR's table",
)
"""Reads the file of ``-O summaryFormat=CSV``."""
MDTEST = tool_reader(
    "mdtest",
    _MDTEST.search,
    _mdtest_points,
    "mean, smallest and largest rate of each operation over the iterations; tasks",
)
