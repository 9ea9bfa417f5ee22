"""Queueing: operational laws, Erlang's formulas, stations and networks of them."""

from typing import TYPE_CHECKING

from headway.lazy import lazy_names

if TYPE_CHECKING:
    from headway.queueing.abilities import Abilities, ServiceKind
    from headway.queueing.bounds import (
        Bottleneck,
        Bounds,
        asymptotic_bounds,
        balanced_job_bounds,
        bottleneck,
        geometric_bounds,
        network_bounds,
    )
    from headway.queueing.centres import Method
    from headway.queueing.classes import (
        CustomerClass,
        Discipline,
        Saturation,
        ServiceCentre,
    )
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
    from headway.queueing.percentiles import (
        Phase,
        path_exceedance,
        path_percentile,
        response_time_percentile,
    )
    from headway.queueing.priority import PriorityMG1
    from headway.queueing.sources import FiniteSource
    from headway.queueing.stations import MM1, Delay, MMm, Station

__all__ = [
    "MD1",
    "MG1",
    "MM1",
    "MM1K",
    "STATIONS",
    "Abilities",
    "Bottleneck",
    "Bounds",
    "ClosedSolution",
    "CustomerClass",
    "Delay",
    "Discipline",
    "FiniteSource",
    "GGm",
    "LoadDependent",
    "MMm",
    "MMmK",
    "Method",
    "MulticlassSolution",
    "Parallel",
    "Phase",
    "PriorityMG1",
    "Saturation",
    "ServiceCentre",
    "ServiceKind",
    "Station",
    "asymptotic_bounds",
    "balanced_job_bounds",
    "bottleneck",
    "empty_probability",
    "erlang_b",
    "erlang_c",
    "forced_flow_law",
    "geometric_bounds",
    "interactive_response_time",
    "knee_population",
    "littles_law",
    "network_bounds",
    "path_exceedance",
    "path_percentile",
    "response_time_percentile",
    "saturation_throughput",
    "service_demand",
    "solve_closed",
    "solve_multiclass",
    "station_kind",
    "utilisation_law",
    "visit_ratios",
]

__getattr__ = lazy_names(
    __name__,
    {
        "abilities": (
            "Abilities",
            "ServiceKind",
        ),
        "bounds": (
            "Bottleneck",
            "Bounds",
            "asymptotic_bounds",
            "balanced_job_bounds",
            "bottleneck",
            "geometric_bounds",
            "network_bounds",
        ),
        "centres": ("Method",),
        "classes": (
            "CustomerClass",
            "Discipline",
            "Saturation",
            "ServiceCentre",
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
        "percentiles": (
            "Phase",
            "path_exceedance",
            "path_percentile",
            "response_time_percentile",
        ),
        "priority": ("PriorityMG1",),
        "sources": ("FiniteSource",),
        "stations": (
            "MM1",
            "Delay",
            "MMm",
            "Station",
        ),
        "traffic": ("visit_ratios",),
    },
)
