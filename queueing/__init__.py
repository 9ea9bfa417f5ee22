"""Queueing: operational laws, Erlang's formulas, stations and networks of them."""

from typing import TYPE_CHECKING

from headway.lazy import lazy_names

if TYPE_CHECKING:
    from headway.queueing.bounds import (
        Bottleneck,
        Bounds,
        asymptotic_bounds,
        balanced_job_bounds,
        bottleneck,
        geometric_bounds,
        network_bounds,
    )
    from headway.queueing.classes.network import (
        CustomerClass,
        Discipline,
        Saturation,
        SharedStation,
    )
    from headway.queueing.classes.solve import MulticlassSolution, solve_multiclass
    from headway.queueing.closed.demands import Method
    from headway.queueing.closed.solve import ClosedSolution, solve_closed
    from headway.queueing.erlang.formulas import empty_probability, erlang_b, erlang_c
    from headway.queueing.laws import (
        forced_flow_law,
        interactive_response_time,
        knee_population,
        littles_law,
        saturation_throughput,
        service_demand,
        utilisation_law,
    )
    from headway.queueing.percentiles import (
        Phase,
        path_exceedance,
        path_percentile,
        response_time_percentile,
    )
    from headway.queueing.stations.abilities import Abilities, ServiceKind
    from headway.queueing.stations.base import MM1, Delay, MMm, Station
    from headway.queueing.stations.dependent import LoadDependent, Parallel
    from headway.queueing.stations.finite import MM1K, MMmK
    from headway.queueing.stations.general import MD1, MG1, GGm
    from headway.queueing.stations.kinds import STATIONS, station_kind
    from headway.queueing.stations.priority import PriorityMG1
    from headway.queueing.stations.sources import FiniteSource

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
    "ServiceKind",
    "SharedStation",
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
        "stations.abilities": (
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
        "closed.demands": ("Method",),
        "classes.network": (
            "CustomerClass",
            "Discipline",
            "Saturation",
            "SharedStation",
        ),
        "closed.solve": (
            "ClosedSolution",
            "solve_closed",
        ),
        "stations.dependent": (
            "LoadDependent",
            "Parallel",
        ),
        "erlang.formulas": (
            "empty_probability",
            "erlang_b",
            "erlang_c",
        ),
        "stations.finite": (
            "MM1K",
            "MMmK",
        ),
        "stations.general": (
            "MD1",
            "MG1",
            "GGm",
        ),
        "stations.kinds": (
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
        "classes.solve": (
            "MulticlassSolution",
            "solve_multiclass",
        ),
        "percentiles": (
            "Phase",
            "path_exceedance",
            "path_percentile",
            "response_time_percentile",
        ),
        "stations.priority": ("PriorityMG1",),
        "stations.sources": ("FiniteSource",),
        "stations.base": (
            "MM1",
            "Delay",
            "MMm",
            "Station",
        ),
        "traffic": ("visit_ratios",),
    },
)
