"""Culler et al., Assessing Network Interfaces: Tables 3, 4 and 5."""

from collections.abc import Iterator

from headway.loggp import LogGP, many_to_one_gap, request_reply_time
from headway.models.files.shipped import Row
from headway.models.files.shipped import data_rows as rows
from headway.models.published.cells import Cell, Expectation, PublishedTable, cell_of_print

_CLOSE = 0.15
_SLIP = (
    "the Paragon's latency of 7.5 us is a slip: half the round trip less both overheads is 6.35 "
    "to 6.45 us, and the text has 6.3"
)
_PARAGON = "Intel Paragon"


def _parameters() -> dict[str, Row]:
    return {row["platform"]: row for row in rows("logp_microbenchmark/table_4_logp_parameters")}


def _trips() -> dict[str, Row]:
    return {row["platform"]: row for row in rows("logp_microbenchmark/table_3_round_trip_times")}


def _part(row: Row, name: str) -> float:
    return float(row[f"{name}_us"])


def _machine(row: Row) -> LogGP:
    parts = ("latency", "send_overhead", "receive_overhead", "gap")
    latency, send, receive, gap = (_part(row, name) for name in parts)
    return LogGP(latency, send, receive, gap, 0.0)


def _table_3() -> Iterator[Cell]:
    """Round trip 2 (o_s + L + o_r) from Table 4's parameters, against the longest measured."""
    for platform, row in _parameters().items():
        printed = _trips()[platform]["max_round_trip_us"]
        recomputed = float(request_reply_time(_machine(row)))
        # three parameters, each known to 0.05 us and counted twice
        cell = cell_of_print(f"{platform}, longest", printed, recomputed, slack=2 * 3 * 0.05)
        if platform == _PARAGON:
            known = Expectation.ERRATUM
            cell = Cell(cell.name, cell.printed, recomputed, cell.tolerance, known, _SLIP)
        yield cell


def _latency(platform: str, column: str) -> float:
    row = _parameters()[platform]
    overheads = _part(row, "send_overhead") + _part(row, "receive_overhead")
    return _part(_trips()[platform], column) / 2 - overheads


def _table_4() -> Iterator[Cell]:
    """Latency RTT/2 - o_s - o_r from Table 3, and the Paragon's o_r from its busy sender."""
    for platform, row in _parameters().items():
        latency = _latency(platform, "max_round_trip")
        name, printed = f"{platform}, latency", row["latency_us"]
        if platform == _PARAGON:
            yield Cell(name, float(printed), latency, 0.0, Expectation.ERRATUM, _SLIP)
        else:
            # two overheads known to 0.05 us each, and half of the round trip's 0.05
            yield cell_of_print(name, printed, latency, slack=0.125)
    values = {
        row["quantity"]: row["value"]
        for row in rows("logp_microbenchmark/in_text_logp_values")
        if row["platform"] == _PARAGON and row["section"].startswith("Small-message empirical")
    }
    least = _latency(_PARAGON, "min_round_trip")
    yield cell_of_print(f"{_PARAGON}, latency in the text", values["latency"], least, slack=0.125)
    parts = ("gap_with_computation", "added_computation", "send_overhead")
    busy, added, send = (float(values[name]) for name in parts)
    received = busy - added - send
    yield cell_of_print(f"{_PARAGON}, receive overhead", values["receive_overhead"], received)


def _table_5() -> Iterator[Cell]:
    """Gap of K senders to one receiver over that of one sender: K."""
    machines = _parameters()
    for row in rows("logp_microbenchmark/table_5_contention"):
        senders, one = int(row["senders"]), machines[row["platform"]]
        ratio = float(many_to_one_gap(_machine(one), senders)) / _part(one, "gap")
        name = f"{row['platform']}, {senders} senders"
        yield Cell(name, float(row["gap_ratio_k_to_1"]), ratio, _CLOSE * ratio)


TABLES = (
    PublishedTable(
        "table-3",
        "round trips from the LogP parameters",
        "us",
        _table_3,
        "half of the last digit and the rounding of three parameters",
    ),
    PublishedTable(
        "table-4",
        "latency and receive overhead from the measurements",
        "us",
        _table_4,
        "half of the last digit and the rounding of what goes in",
    ),
    PublishedTable(
        "table-5",
        "K senders to one receiver",
        "",
        _table_5,
        "15%: measured ratios, which the document calls a close fit",
    ),
)
