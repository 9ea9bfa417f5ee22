"""Time and memory for a model of a million spans.

``python -m tests.campaigns.trace_speed`` simulates three loads of seven services, writes their
spans as OpenTelemetry's collector does, with the attributes of an HTTP library, and prints what
``headway model`` needs for them: docs/accuracy/traces.md quotes it. Each runs in a process of its
own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.oracles.traced_services import SERVER, capacity, document_of, drawn, play

SYSTEM, LOADS = 105, (0.3, 0.45, 0.6)
_MEGABYTE = 1e6
_SAID = {
    "http.request.method": "GET",
    "server.address": "127.0.0.1",
    "network.protocol.version": "1.1",
    "http.response.status_code": 200,
}
_BY_SERVERS = {
    "url.scheme": "http",
    "network.peer.address": "127.0.0.1",
    "http.response.body.size": 3,
    "client.address": "127.0.0.1",
    "url.path": "/check",
    "http.route": "/check",
}
"""The attributes of a request by OpenTelemetry's library for HTTP in Go (0.72)."""


def _attributes(said: dict[str, Any], port: int) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"stringValue": value} if isinstance(value, str) else _whole(value)}
        for key, value in (said | {"server.port": port}).items()
    ]


def _whole(value: int) -> dict[str, str]:
    return {"intValue": str(value)}


def typical(document: dict[str, Any]) -> str:
    """A line of the collector, of spans with their usual attributes."""
    for resource in document["resourceSpans"]:
        resource["resource"]["attributes"] += _attributes({"telemetry.sdk.language": "go"}, 0)[:1]
        for scope in resource["scopeSpans"]:
            scope["scope"] = {
                "name": "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
                "version": "0.72.0",
            }
            for span in scope["spans"]:
                serves = span["kind"] == SERVER
                url = {"url.full": "http://127.0.0.1:7105/check?from=outside"}
                span["attributes"] += _attributes(_SAID | (_BY_SERVERS if serves else url), 7105)
                span["status"] = {}
    return json.dumps(document, separators=(",", ":")) + "\n"


def write(folder: Path, spans: int) -> None:
    """Write three loads with about so many spans in all."""
    played = drawn(SYSTEM)
    most = capacity(played)
    probe = play(played, LOADS[0] * most, 500, 0).traces
    traces = round(spans / len(LOADS) / (sum(map(len, probe)) / len(probe)))
    for k, share in enumerate(LOADS):
        load = play(played, share * most, traces, k)
        with (folder / f"load{k}.jsonl").open("w") as file:
            file.writelines(typical(document_of(each)) for each in load.traces)


def _lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        with path.open() as file:
            yield from file


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--spans", type=float, default=1e6)
    parser.add_argument("--write", type=Path, help="only write the spans to a folder")
    told = parser.parse_args()
    if told.write:
        write(told.write, round(told.spans))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        module = [sys.executable, "-m", "tests.campaigns.trace_speed"]
        subprocess.run([*module, "--spans", str(told.spans), "--write", name], check=True)
        spans = sum(line.count('"spanId"') for line in _lines(folder))
        size = sum(path.stat().st_size for path in folder.iterdir())
        headway = [sys.executable, "-c", "from headway.cli.main import main; main()"]
        with subprocess.Popen([*headway, "model", name], stdout=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        begun = time.process_time()
        for line in _lines(folder):
            json.loads(line)
        bare = time.process_time() - begun
    print(f"spans                           {spans:,} of {size / spans:.0f} bytes")
    print(f"processor time of headway model {used.ru_utime + used.ru_stime:.1f} s")
    print(f"peak memory                     {used.ru_maxrss * 1024 / _MEGABYTE:.0f} MB")
    print(f"processor time of json.loads    {bare:.1f} s")


if __name__ == "__main__":
    main()
