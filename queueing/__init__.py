"""Queueing: operational laws, Erlang's formulas, stations and networks of them."""

from typing import TYPE_CHECKING

from headway.lazy import lazy_names

if TYPE_CHECKING:
    from headway.queueing.centres import Method
    from headway.queueing.classes import CustomerClass, ServiceCentre, ServiceKind
    from headway.queueing.closed import ClosedSolution, solve_closed
    from headway.queueing.dependent import LoadDependent, Parallel
    from headway.queueing.erlang import empty_probability, erlang_b, erlang_c
    from headway.queueing.finite import MM1K, MMmK
    from headway.queueing.general import MD1, MG1, GGm
    from headway.queueing.kinds_of_station import STATIONS, station_kind
    from headway.queueing.laws import (
        forced_flow_law,
        interactive_response_time,
        knee_population,
        littles_law,
        saturation_throughput,
        service_demand,
        utilisation_law,
    )
    from headway.queueing.multiclass import MulticlassSolution, solve_multiclass
    from headway.queueing.priority import PriorityMG1
    from headway.queueing.sources import FiniteSource
    from headway.queueing.stations import MM1, Delay, MMm, Station

__all__ = [
    "MD1",
    "MG1",
    "MM1",
    "MM1K",
    "STATIONS",
    "ClosedSolution",
    "CustomerClass",
    "Delay",
    "FiniteSource",
    "GGm",
    "LoadDependent",
    "MMm",
    "MMmK",
    "Method",
    "MulticlassSolution",
    "Parallel",
    "PriorityMG1",
    "ServiceCentre",
    "ServiceKind",
    "Station",
    "empty_probability",
    "erlang_b",
    "erlang_c",
    "forced_flow_law",
    "interactive_response_time",
    "knee_population",
    "littles_law",
    "saturation_throughput",
    "service_demand",
    "solve_closed",
    "solve_multiclass",
    "station_kind",
    "utilisation_law",
]

__getattr__ = lazy_names(
    __name__,
    {
        "centres": ("Method",),
        "classes": (
            "CustomerClass",
            "ServiceCentre",
            "ServiceKind",
        ),
        "closed": (
            "ClosedSolution",
            "solve_closed",
        ),
        "dependent": (
            "LoadDependent",
            "Parallel",
        ),
        "erlang": (
            "empty_probability",
            "erlang_b",
            "erlang_c",
        ),
        "finite": (
            "MM1K",
            "MMmK",
        ),
        "general": (
            "MD1",
            "MG1",
            "GGm",
        ),
        "kinds_of_station": (
            "STATIONS",
            "station_kind",
        ),
        "laws": (
            "forced_flow_law",
            "interactive_response_time",
            "knee_population",
            "littles_law",
            "saturation_throughput",
            "service_demand",
            "utilisation_law",
        ),
        "multiclass": (
            "MulticlassSolution",
            "solve_multiclass",
        ),
        "priority": ("PriorityMG1",),
        "sources": ("FiniteSource",),
        "stations": (
            "MM1",
            "Delay",
            "MMm",
            "Station",
        ),
    },
)
