"""Files of measurements, whose kind is recognised by their content, never by their name.

The kinds are tidy CSV, SPEC result pages (LADDIS, SPECsfs97, SPECsfs97_R1, SPECsfs2008, SPECstorage
2020) saved as text or HTML, the benchmarks' own ``sfssum`` and ``sfsres`` files, outputs of tools,
and what readers of other packages recognise. Nothing is fetched, and nothing in a file is executed.
"""

import codecs
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import HeadwayError, MeasurementError, PackageError
from headway.lazy import blame, loaded, offered, outside
from headway.models.files.intake import read_bytes
from headway.models.files.packed import unpacked_whole
from headway.models.files.separated import UnevenRows, is_markdown
from headway.models.files.shipped import shipped_name
from headway.models.language.titles import split_header
from headway.models.measured.measurements import LARGEST_FILE, Measurements
from headway.models.measured.pages import is_html
from headway.models.measured.reader import HEAD, Reader
from headway.models.measured.roles import MANY, titled
from headway.models.measured.spans.others import nearly
from headway.models.measured.tools.unread import unread
from headway.models.measured.window import WHOLE, RunWindow
from headway.models.reading.frames import kind_of, text_of
from headway.models.reading.hints import NO_HINTS, Hints
from headway.models.reading.strange import READS, looks_like_bytes, looks_like_text

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_INI = re.compile(r"\s*\[[A-Za-z][\w .:-]*\]\s*$", re.MULTILINE)  # a section of settings, not JSON
_LISTED = "headway kinds --files lists what it reads"
_HTML = "headway.models.measured.spec:SPEC_HTML"
READERS = (
    _HTML,
    "headway.models.measured.runs:SFSSUM_XML",
    "headway.models.measured.runs:SFSSUM_CSV",
    "headway.models.measured.runs:SFSRES",
    "headway.models.measured.runs:SFSSUM_2008",
    "headway.models.measured.runs:SFSSUM_2020",
    "headway.models.measured.spec:SPEC_PAGE",
)
"""headway's own readers, in the order in which they are tried."""

TABLES = ("headway.models.measured.tools.mlperf_storage:MLPERF_STORAGE_CSV",)
"""Readers of tables with known titles: units in such titles do not make them headway's CSV."""

TOOLS: tuple[str, ...] = (
    *TABLES,
    "headway.models.measured.tools.fio:FIO",
    "headway.models.measured.tools.printed.fio_text:FIO_TEXT",
    "headway.models.measured.tools.inference:INFERENCE_PERF",
    "headway.models.measured.tools.inference:GUIDELLM",
    "headway.models.measured.tools.printed.vllm_bench:SGLANG",
    "headway.models.measured.tools.printed.vllm_bench:VLLM_JSON",
    "headway.models.measured.tools.printed.vllm_bench:VLLM_TEXT",
    "headway.models.measured.tools.genai_perf:GENAI_PERF",
    "headway.models.measured.tools.genai_perf:GENAI_PERF_CSV",
    "headway.models.measured.tools.diskspd:DISKSPD",
    "headway.models.measured.tools.vdbench:VDBENCH",
    "headway.models.measured.tools.elbencho:ELBENCHO",
    "headway.models.measured.tools.ior:IOR",
    "headway.models.measured.tools.ior:IOR_JSON",
    "headway.models.measured.tools.ior:IOR_CSV",
    "headway.models.measured.tools.ior:MDTEST",
    "headway.models.measured.tools.mlperf_storage:MLPERF_STORAGE",
    "headway.models.measured.tools.monitors.sar:SAR_JSON",
    "headway.models.measured.tools.monitors.mpstat:MPSTAT",
    "headway.models.measured.tools.monitors.iostat:IOSTAT",
    "headway.models.measured.tools.monitors.sar:SAR",
    "headway.models.measured.tools.monitors.vmstat:VMSTAT",
    "headway.models.measured.tools.monitors.pidstat:PIDSTAT",
    "headway.models.measured.tools.k6:K6",
    "headway.models.measured.tools.k6:K6_LOG",
    "headway.models.measured.tools.printed.k6_text:K6_TEXT",
    "headway.models.measured.tools.jmeter:JMETER",
    "headway.models.measured.tools.printed.jmeter_summary:JMETER_SUMMARY",
    "headway.models.measured.tools.printed.jmeter_summary:JMETER_TABLE",
    "headway.models.measured.tools.locust:LOCUST",
    "headway.models.measured.tools.locust:LOCUST_HISTORY",
    "headway.models.measured.tools.gatling:GATLING",
    "headway.models.measured.tools.gatling_binary:GATLING_BINARY",
    "headway.models.measured.tools.printed.gatling_console:GATLING_CONSOLE",
    "headway.models.measured.tools.http.autocannon:AUTOCANNON",
    "headway.models.measured.tools.printed.autocannon_text:AUTOCANNON_TEXT",
    "headway.models.measured.tools.http.h2load:H2LOAD",
    "headway.models.measured.tools.http.artillery:ARTILLERY_JSON",
    "headway.models.measured.tools.http.artillery:ARTILLERY",
    "headway.models.measured.tools.http.httperf:HTTPERF",
    "headway.models.measured.tools.http.loadtest:LOADTEST",
    "headway.models.measured.tools.http.techempower:TECHEMPOWER",
    "headway.models.measured.tools.http.wrk:WRK2",
    "headway.models.measured.tools.http.wrk:WRK",
    "headway.models.measured.tools.http.wrk_parts:WRK_PART",
    "headway.models.measured.tools.http.apachebench:AB",
    "headway.models.measured.tools.http.apachebench:AB_CSV",
    "headway.models.measured.tools.http.siege:SIEGE",
    "headway.models.measured.tools.http.hey:HEY",
    "headway.models.measured.tools.http.hey:HEY_CSV",
    "headway.models.measured.tools.http.bombardier:BOMBARDIER",
    "headway.models.measured.tools.http.vegeta:VEGETA",
    "headway.models.measured.tools.http.vegeta_log:VEGETA_CSV",
    "headway.models.measured.tools.http.vegeta_log:VEGETA_LINES",
    "headway.models.measured.tools.printed.vegeta_text:VEGETA_TEXT",
    "headway.models.measured.tools.printed.vegeta_text:VEGETA_HDR",
    "headway.models.measured.tools.http.oha:OHA",
    "headway.models.measured.tools.http.ghz:GHZ",
    "headway.models.measured.tools.http.ghz:GHZ_TEXT",
    "headway.models.measured.tools.printed.oha_text:OHA_TEXT",
    "headway.models.measured.tools.databases.memtier:MEMTIER",
    "headway.models.measured.tools.printed.memtier_text:MEMTIER_TEXT",
    "headway.models.measured.tools.databases.pgbench:PGBENCH",
    "headway.models.measured.tools.databases.pgbench_log:PGBENCH_LOG",
    "headway.models.measured.tools.databases.redis:REDIS",
    "headway.models.measured.tools.databases.sysbench:SYSBENCH",
    "headway.models.measured.tools.databases.ycsb:YCSB",
    "headway.models.measured.tools.databases.cassandra_stress:CASSANDRA",
    "headway.models.measured.tools.databases.scylla_bench:SCYLLA",
    "headway.models.measured.tools.printed.kafka_producer:KAFKA_PRODUCER",
    "headway.models.measured.tools.printed.nats_bench:NATS",
    "headway.models.measured.tools.networks.imb:IMB",
    "headway.models.measured.tools.networks.iperf:IPERF3",
    "headway.models.measured.tools.networks.netperf:NETPERF",
    "headway.models.measured.tools.networks.nccl:NCCL",
    "headway.models.measured.tools.networks.netgauge:NETGAUGE_LOGGP",
    "headway.models.measured.tools.networks.netgauge:NETGAUGE",
    "headway.models.measured.tools.networks.osu:OSU",
    "headway.models.measured.tools.networks.simgrid:SIMGRID",
    "headway.models.measured.tools.networks.sockperf:SOCKPERF",
    "headway.models.measured.tools.monitors.hdrhistogram:HDR_LOG",
    "headway.models.measured.tools.monitors.hdrhistogram:HDR_PERCENTILES",
    "headway.models.measured.tools.monitors.powers:BCC",
    "headway.models.measured.tools.monitors.bpftrace:BPFTRACE",
    "headway.models.measured.tools.monitors.prometheus:PROMETHEUS",
    "headway.models.measured.tools.monitors.traces:UNDERSCORED",
    "headway.models.measured.tools.monitors.traces:OTLP",
    "headway.models.measured.tools.monitors.traces:JAEGER",
    "headway.models.measured.tools.monitors.traces:ZIPKIN",
    "headway.models.measured.tools.monitors.traces:PYTHON",
    "headway.models.measured.tools.monitors.traces:GO",
    "headway.models.measured.tools.monitors.traces:CLICKHOUSE",
    "headway.models.measured.tools.monitors.traces:CLICKHOUSE_CSV",
    "headway.models.measured.tools.monitors.traces:RCAEVAL",
    "headway.models.measured.tools.monitors.traces:NEZHA",
)
"""Readers of tools' outputs, tried after those above, in this order."""

GROUP = "headway.readers"
"""Entry points by which other packages add readers: ``NAME = module:READER``."""

CSV = Reader(
    "CSV",
    lambda _: True,
    Measurements.parse,
    contents="a column for each quantity, named by its title; a row for each point",
)
"""Reads a file that no other reader recognises."""

_BYTES = re.compile(rb"\0{4}[\x05-\x20]\d")
"""How a binary file begins that a reader recognises: Gatling's."""

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How texts begin that PowerShell and spreadsheets write with two bytes per character."""

_CSV_HEADER = re.compile(r"(?:\s*#.*\n)*\s*(?!business,requested)\w+(,\w+)+\s*$", re.MULTILINE)
_OURS = re.compile(r"^[^A-Z]*_[^A-Z]*$|[\[(]")
"""Titles with units that no tool writes: ``response_ms``, ``Response time [ms]``."""
_MODEL = re.compile(r"^\[(?:parameters|stations|tasks|processors|arrivals)[].]", re.MULTILINE)
_HEADER = re.compile(r"(?:\s*#.*\n|\s*\n)*(.*)")


def read_measurements(path: Path, hints: Hints = NO_HINTS) -> Measurements:
    """Read a file of measurements, whatever its kind.

    Parameters
    ----------
    path
        A file of at most 20 MB, compressed or not.
    hints
        What the user says about its columns.

    Returns
    -------
    Measurements; `facts` holds what the page discloses of the system, `kind` the kind of file.

    Raises
    ------
    MeasurementError
        With file, line and remedy, for anything in it that cannot be read.
    """
    name = shipped_name(path)
    content = unpacked_whole(read_bytes(path, LARGEST_FILE), name, LARGEST_FILE)
    text, kind = decoded(content, name), kind_of(content)
    return hints.of(read_table(text, name, hints.decimal, kind, hints.window))


def read_with(
    path: Path, units: Mapping[str, str], roles: Mapping[str, str], decimal: str
) -> Measurements:
    """Read a file of measurements with the user's hints; see `Hints`."""
    return read_measurements(path, Hints(units, roles, decimal))


def read_any(text: str, source: str) -> Measurements:
    r"""Read text of any known kind, recognised by content.

    Parameters
    ----------
    text
        The content of a file.
    source
        Its name, for messages.

    Examples
    --------
    >>> page = "SPECsfs97.v2 = 300 Ops/Sec (Overall Response Time = 1.0 msec)\n100 0.9\n300 1.5\n"
    >>> measured = read_any(page, "page.txt")
    >>> measured.kind, measured.column("response").values.tolist()
    ('SPEC result page', [0.0009, 0.0015])
    """
    return read_table(text, source)


def read_table(
    text: str, source: str, decimal: str = "", kind: str = "", window: RunWindow = WHOLE
) -> Measurements:
    """Read text of any known kind.

    Parameters
    ----------
    text, source
        The content of a file, and its name for messages.
    decimal
        The decimal mark of CSV, ``.`` or ``,``; empty to detect it.
    kind
        What the file was before it was converted to text.
    window
        The part of each run that counts.

    Raises
    ------
    MeasurementError
        As for `read_measurements`; for a decimal mark if the file is not CSV, and for a part of a
        run without a time for each request.
    """
    reader, broken = recognised(text)
    reader = reader.cut(window, source)
    if decimal and reader is not CSV:
        msg = f"{source}: is {reader.kind}, which defines its decimal mark; drop --decimal"
        raise MeasurementError(msg)
    try:
        if reader is CSV:
            _check_readable(text, source)
            mark = decimal or ("." if kind else "")
            return replace(_parsed(text, source, mark), kind=kind or CSV.kind)
        return _read(reader, text, source)
    except MeasurementError as error:
        raise MeasurementError(f"{error}; {broken}") if broken else error from None


def _parsed(text: str, source: str, mark: str) -> Measurements:
    """Read a table; rows without a known title are described by what they look like."""
    try:
        return Measurements.parse(text, source, mark)
    except UnevenRows as error:
        if _has_role(_head(text)):
            raise
        seen, where = looks_like_text(_head(text)), str(error).removeprefix(f"{source}:")
        msg = f"{source}: looks like {seen}, not like {READS} (line {where}); {_LISTED}"
        raise MeasurementError(msg) from None


def _check_readable(text: str, source: str) -> None:
    """Refuse what no reader recognises and is not a table, with what it is, as far as known."""
    _check_unread(text, source)
    if _MODEL.search(_head(text)):
        msg = f"{source}: is a model; give measurements here, and the model as MODEL"
        raise MeasurementError(msg)
    if text.lstrip()[:1] in ("{", "[") and not _INI.match(text):
        is_whole = _is_json(text) or all(map(_is_json, filter(str.strip, text.splitlines())))
        known = "is JSON of a kind that headway does not know"
        broken = "looks like JSON, but is invalid or truncated, and of no known tool"
        msg = f"{source}: {known if is_whole else broken}; {nearly(text) or _LISTED}"
        raise MeasurementError(msg)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _check_unread(text: str, source: str) -> None:
    """Refuse an output that is recognised but not read, with what to read instead."""
    known = unread(text)
    if known is not None:
        msg = f"{source}: is {known.what}, which headway does not read; {known.instead}"
        raise MeasurementError(msg)


def recognised(text: str) -> tuple[Reader, str]:
    """Find the reader of a text, and the errors of readers of other packages.

    Anything that no reader recognises is read as CSV.

    Examples
    --------
    >>> recognised("throughput_ops_s,response_ms")[0].kind
    'CSV'
    """
    head = _head(text)
    own = _own(head)
    if own is not None:
        return own, ""
    reader, broken = _from_outside(head)
    if reader is not None:
        return reader, ""
    return (loaded(_HTML) if is_html(head) else CSV), broken


def is_known(text: str) -> bool:
    r"""Whether a text is of a kind that is read: a tool's output, a result page, or a table.

    Examples
    --------
    >>> is_known("clients,rps\n8,120\n"), is_known("Permission is hereby granted, free of charge")
    (True, False)
    """
    head = _head(text)
    if _own(head) is not None:
        return True
    is_other = unread(head) is not None or is_html(head)
    return not is_other and (_from_outside(head)[0] is not None or _has_role(head))


def _has_role(text: str) -> bool:
    """Whether the header names a load, or something that the test measured."""
    parts = [part for title in _titles(text) if (part := titled(title)) is not None]
    return any(part.role.load or part.role.output or part.role in MANY for part in parts)


def _titles(text: str) -> list[str]:
    header = _HEADER.match(text)
    marks = r"\|" if is_markdown(text) else r"[,;\t]"
    return re.split(marks, header[1].strip().strip("|")) if header else []


def _head(text: str) -> str:
    """The first complete lines of a text, by which its kind is recognised."""
    if len(text) <= HEAD:
        return text
    head = text[:HEAD]
    return head[: head.rfind("\n") + 1] or head


def reader_kinds() -> dict[str, str]:
    """Kinds of files that headway reads, and their contents; those of other packages come last.

    Raises
    ------
    PackageError
        For a reader of another package that cannot be used.

    Examples
    --------
    >>> list(reader_kinds())[:3]
    ['CSV', 'SPEC result page', 'sfssum (XML)']
    """
    own: list[Reader] = [CSV, *map(loaded, (*READERS, *TOOLS))]
    others = [outside(GROUP, name, _reader_of) for name in offered(GROUP)]
    return {reader.kind: reader.contents for reader in (*own, *others)}


def _read(reader: Reader, text: str, source: str) -> Measurements:
    return replace(reader.read(text, source), kind=reader.kind)


def _own(text: str) -> Reader | None:
    """The reader of headway's own that recognises a text; a column with a unit means its CSV."""
    if _CSV_HEADER.match(text) and _has_unit(text):
        return next((each for each in map(loaded, TABLES) if each.recognises(text)), CSV)
    known = (reader for reader in map(loaded, (*READERS, *TOOLS)) if reader.recognises(text))
    return next(known, CSV if not is_html(text) and _has_unit(text) else None)


def _has_unit(text: str) -> bool:
    """Whether the header has a column with a unit."""
    return any(_OURS.search(title) and split_header(title)[1] for title in _titles(text))


def _from_outside(text: str) -> tuple[Reader | None, str]:
    """The reader of another package that recognises a text, and the errors of those that fail."""
    broken = ""
    for name in offered(GROUP):
        try:
            reader: Reader = outside(GROUP, name, _reader_of)
            if reader.recognises(text):
                return reader, ""
        except PackageError as error:
            broken = str(error)
    return None, broken


def _reader_of(point: "EntryPoint") -> Reader:
    """A reader of another package; any error in it other than for bad input is its own fault."""
    reader = point.load()
    if not isinstance(reader, Reader):
        msg = f"{point.value} is not a headway.models.Reader"
        raise PackageError(msg)
    return replace(
        reader,
        recognises=partial(_guarded, point, reader.recognises),
        read=partial(_guarded, point, reader.read),
    )


def _guarded(point: "EntryPoint", function: Callable[..., Any], *given: str) -> Any:
    try:
        return function(*given)
    except HeadwayError:
        raise
    except Exception as error:  # other packages raise errors of any type
        raise blame(point, error) from error


def decoded(content: bytes, source: str) -> str:
    """Decode as UTF-8, as UTF-16 with its mark, or in the code page of old SPEC pages.

    Binary files that a reader recognises become one letter per byte. Parquet files and Excel
    workbooks become CSV.

    Raises
    ------
    MeasurementError
        For a file that is not text.
    """
    if _BYTES.match(content):
        return content.decode("latin-1")
    if kind_of(content):
        return text_of(content, source)
    try:
        return content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError:
        if b"SPEC" in content and b"\0" not in content:
            return content.decode("cp1252", errors="replace")
        _check_unread(content[:HEAD].decode("latin-1"), source)
        seen = looks_like_bytes(content[:HEAD])
        msg = f"{source}: not a text file in UTF-8: looks like {seen}; {_LISTED}"
        raise MeasurementError(msg) from None
