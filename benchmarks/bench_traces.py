"""Finding services in traces, as a ratio within one run: to what Python's own JSON takes of it."""

import json
import time

from headway.models.reading.traces import read_loads
from headway.models.tracing.services import services_of
from tests.campaigns.trace_speed import typical
from tests.oracles.traced_services import capacity, document_of, drawn, play

SYSTEM, LOADS, TRACES = 105, (0.3, 0.45, 0.6), 1500


def test_spans_of_seven_services(tmp_path, capsys):
    """Three loads of OTLP, a trace a line, with what libraries for HTTP say of each span."""
    played = drawn(SYSTEM)
    most = capacity(played)
    for k, share in enumerate(LOADS):
        traces = play(played, share * most, TRACES, k).traces
        (tmp_path / f"load{k}.jsonl").write_text("".join(typical(document_of(t)) for t in traces))
    begun = time.process_time()
    for path in tmp_path.iterdir():
        for line in path.read_text().splitlines():
            json.loads(line)
    bare = time.process_time() - begun
    begun = time.process_time()
    loads = read_loads([str(tmp_path)]).loads
    read = time.process_time()
    services = services_of(loads)
    found = time.process_time()

    spans = sum(map(len, loads))
    with capsys.disabled():
        print(
            f"\n{spans} spans: {1e6 * (found - begun) / spans:.1f} us each, of which reading "
            f"{1e6 * (read - begun) / spans:.1f}; json.loads takes {1e6 * bare / spans:.1f}, ratio "
            f"{(found - begun) / bare:.1f} (promised 3)"
        )
    assert len(services.entries) == len(played.entries)
