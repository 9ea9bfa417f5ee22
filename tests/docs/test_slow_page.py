"""The page that slows programs down: its proxy delays, and its tables are those of its data."""

import asyncio
import csv
import re
import statistics

import pytest

from headway.models import data_path
from tests.house import FOLDERS
from tests.support.limits import HANGS
from tests.support.pages import write_files

PAGE = FOLDERS["headway.models"].parent / "docs/how-to/slow-a-program-down.md"
ROUNDED = 0.99
"""Share of a time after which timers may fire."""
KNOBS = {"added_latency_ms": "latency", "added_overhead_ms": "overhead"}


def rows(name):
    with data_path(f"slowdown/{name}.csv").open() as table:
        return [{key: float(cell) for key, cell in row.items()} for row in csv.DictReader(table)]


def calibrated():
    """Latency and overhead added, by what was set [ms]: medians of the runs."""
    table = rows("calibration")
    medians = {
        level: {
            name: statistics.median(row[name] for row in table if row["set_ms"] == level)
            for name in ("round_trip_ms", "held_ms")
        }
        for level in {row["set_ms"] for row in table}
    }
    base = medians[0.0]["round_trip_ms"]
    return {
        level: (one["round_trip_ms"], (one["round_trip_ms"] - base) / 2, one["held_ms"])
        for level, one in sorted(medians.items())
    }


@pytest.fixture
def slow(tmp_path):
    """What the page tells to save."""
    write_files(PAGE, tmp_path)
    session = {}
    exec(compile((tmp_path / "slow.py").read_text(), "slow.py", "exec"), session)  # noqa: S102
    return session


def finished(run):
    async def within():
        async with asyncio.timeout(HANGS):
            return await run

    return asyncio.run(within())


async def answered(clients, *servers):
    """What clients give, when all their connections are closed."""
    each = await asyncio.gather(*clients)
    for server in servers:
        server.close()
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
    return each


def test_the_calibration_on_the_page_is_that_of_the_data():
    lines = [
        f"| {level:.0f} | {trip:.2f} | {latency:.2f} | {held:.2f} |"
        for level, (trip, latency, held) in calibrated().items()
    ]
    assert "\n".join(lines) in PAGE.read_text()


@pytest.mark.parametrize("name", ["trips", "messages"])
def test_the_comparison_with_the_thesis_has_the_figures_of_the_fit(name):
    """What the console shows is run by the tests of documents."""
    page = PAGE.read_text()
    fit = page[page.index("$ headway fit file-server.toml") :]
    value, low, high = map(
        float, re.search(rf"^ {name} +(\S+) +± \S+ +(\S+) to (\S+)", fit, re.MULTILINE).groups()
    )
    assert f"| {value:.2f} ({low:.2f} to {high:.2f}) |" in page


@pytest.mark.parametrize("name", ["redis_latency", "redis_overhead", "file_server"])
def test_data_state_what_was_added_and_not_what_was_set(name):
    seen = calibrated().values()
    known = {
        "latency": {round(latency, 2) for _, latency, _ in seen},
        "overhead": {round(held, 2) for _, _, held in seen},
    }
    for row in [*rows(name), *rows(f"{name}_large")]:
        for column, knob in KNOBS.items():
            assert row.get(column, 0.0) in known[knob]


def test_the_proxy_passes_all_on_later_and_apart(slow):
    """Twenty requests wait for two latencies each, and messages leave a gap apart."""
    latency, gap, requests = 4e-3, 2e-3, 20

    async def measured(**delays):
        server = await slow["file_server"](0.0, size=512)
        between = await slow["proxy"](server.sockets[0].getsockname()[1], **delays)
        port = between.sockets[0].getsockname()[1]
        each = [slow["client"](port, requests, b"read", 512) for _ in range(4)]
        return await answered(each, between, server)

    assert min(finished(measured(latency=latency))) >= 2 * latency * ROUNDED
    # four clients share the gap: 80 messages each way leave one after the other
    longest = max(finished(measured(gap=gap)))
    assert longest * requests >= (4 * requests - 1) * gap * ROUNDED


def test_overhead_holds_the_only_thread_of_the_server(slow):
    async def measured():
        server = await slow["file_server"](1e-3, overhead=2e-3, size=512)
        port = server.sockets[0].getsockname()[1]
        each = [slow["client"](port, 10, b"read", 512) for _ in range(3)]
        return await answered(each, server)

    assert max(finished(measured())) * 10 >= 30 * 5e-3 * ROUNDED
