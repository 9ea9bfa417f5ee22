"""Queueing: operational laws, Erlang's formulas, stations and networks of them."""

from headway.queueing.erlang import erlang_b, erlang_c
from headway.queueing.laws import (
    forced_flow_law,
    interactive_response_time,
    knee_population,
    littles_law,
    saturation_throughput,
    service_demand,
    utilisation_law,
)
from headway.queueing.stations import MM1, STATIONS, Delay, MMm, Station

__all__ = [
    "MM1",
    "STATIONS",
    "Delay",
    "MMm",
    "Station",
    "erlang_b",
    "erlang_c",
    "forced_flow_law",
    "interactive_response_time",
    "knee_population",
    "littles_law",
    "saturation_throughput",
    "service_demand",
    "utilisation_law",
]
