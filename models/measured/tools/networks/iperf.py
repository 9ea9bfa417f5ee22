"""The JSON of ``iperf3 -J``: streams of TCP or UDP."""

from collections.abc import Mapping
from typing import Any

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.kit.refusals import nothing

_BIT = 1 / 8
_US, _MS, _PERCENT = 1e-6, 1e-3, 1e-2
_DATA = "a stream has no requests; its rate is the received bandwidth, bandwidth_bytes_s"
_UDP = "UDP packets were sent at a fixed rate; errors are lost packets"
_WAYS = {"": "", "_bidir_reverse": "reverse"}


def _is_iperf(text: str) -> bool:
    head = text[:3000]
    return text.lstrip()[:1] == "{" and '"iperf 3' in head and '"start"' in head


def _points(text: str, source: str) -> list[Point]:
    """The sum of all streams, separately for each direction if both were tested."""
    report = document(text, source)
    if report.get("error"):
        error = quoted(str(report["error"]).split("\n")[0])
        msg = f"{source}: iperf3 says {error}; run it again, or omit the file"
        raise MeasurementError(msg)
    end = report.get("end")
    ways = [way for way in _WAYS if isinstance(end, Mapping) and _received(end, way)]
    if not ways:
        msg = f"{source}: end.sum_received is missing; check that the file is complete"
        raise MeasurementError(msg)
    return [_point(report, way, source, named=len(ways) > 1) for way in ways]


def _received(end: Mapping[str, Any], way: str) -> Any:
    """The received data; for UDP in old versions, only ``sum`` has them."""
    return end.get(f"sum_received{way}") or (end.get("sum") if not way else None)


def _point(document: Mapping[str, Any], way: str, source: str, *, named: bool) -> Point:
    end = document["end"]
    came, sent = _received(end, way), end.get(f"sum_sent{way}")
    rate = amount(came, "bits_per_second", source=source, scale=_BIT)
    if not rate:
        raise nothing(source, "no byte")
    lost = amount(came, "lost_packets", source=source)
    is_udp = amount(came, "jitter_ms", source=source) is not None
    streams = amount(document, "start", "test_start", "num_streams", source=source)
    target = amount(document, "start", "test_start", "target_bitrate", source=source, scale=_BIT)
    each = target * streams if target and streams else None
    return Point(
        "iperf3",
        Loop.OPEN if is_udp else Loop.CLOSED,
        population=streams,
        errors=lost,
        samples=amount(came, "packets", source=source),
        duration=amount(came, "seconds", source=source),
        utilisation=_utilisation(end, source),
        more=filled(
            {
                "bandwidth_bytes_s": rate,
                "sent_bandwidth_bytes_s": amount(
                    sent, "bits_per_second", source=source, scale=_BIT
                ),
                "target_bandwidth_bytes_s": each,
                "jitter_s": amount(came, "jitter_ms", source=source, scale=_MS),
                "retransmits": amount(sent, "retransmits", source=source),
                "round_trip_s": None if way else _round_trip(end, source),
            }
        ),
        name=(_WAYS[way] or "forward") if named else "",
        notes=(_UDP if is_udp else _DATA,),
    )


def _utilisation(end: Mapping[str, Any], source: str) -> dict[str, float]:
    """CPU utilisation of iperf3 itself."""
    names = {"client_cpu": "host_total", "server_cpu": "remote_total"}
    part = "cpu_utilization_percent"
    return filled(
        {n: amount(end, part, key, source=source, scale=_PERCENT) for n, key in names.items()}
    )


def _round_trip(end: Mapping[str, Any], source: str) -> float | None:
    """Mean of the round trips that TCP measured, over the streams [s]."""
    streams = end.get("streams")
    each = [
        amount(stream, "sender", "mean_rtt", source=source, scale=_US)
        for stream in (streams if isinstance(streams, list) else [])
    ]
    known = [value for value in each if value]
    return sum(known) / len(known) if known else None


IPERF3 = tool_reader(
    "iperf3",
    _is_iperf,
    _points,
    "TCP or UDP bandwidth, streams, lost packets, jitter, round trip, CPU utilisation",
)
"""Reads the JSON of iperf3."""
