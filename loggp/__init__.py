"""LogGP: what messages and programs that send them cost."""

from typing import TYPE_CHECKING

from headway.lazy import lazy_names

if TYPE_CHECKING:
    from headway.loggp.machine.conventions import convert
    from headway.loggp.machine.messages import (
        bulk_bandwidth,
        bulk_transfer_time,
        capacity,
        effective_gap,
        long_message_time,
        many_to_one_gap,
        message_rate,
        one_message_time,
        overhead_from_round_trip,
        overlap_share,
        request_reply_time,
        train_time,
        windowed_gap,
    )
    from headway.loggp.machine.parameters import Convention, LogGP
    from headway.loggp.machine.phases import Event, Parallel, Phase, Series
    from headway.loggp.machine.pipeline import EqualPackets, Pipeline, Stage, Timeline
    from headway.loggp.machine.platforms import PLATFORM_SOURCES, PLATFORMS
    from headway.loggp.machine.routers import forwarding_gap, interface_gap, processor_left
    from headway.loggp.machine.transfers import PacketTransfer
    from headway.loggp.measuring.estimates import Estimate, repeats_needed
    from headway.loggp.measuring.extraction import GapLimit, LogPEstimate, read_signature
    from headway.loggp.measuring.readers import read_netgauge, read_plain
    from headway.loggp.measuring.signature import (
        Regime,
        issue_cost,
        issue_times,
        regime,
        steady_issue_cost,
    )
    from headway.loggp.measuring.sizefit import (
        Break,
        Line,
        LineParameter,
        SizeFit,
        fit_sizes,
        machine_from_sizes,
    )
    from headway.loggp.measuring.sizes import SizeSeries, find_breaks, size_series
    from headway.loggp.programs.burstiness import BurstinessFit, GapRuns, fit_burstiness
    from headway.loggp.programs.collectives import (
        BroadcastTree,
        all_to_all_steady_time,
        all_to_all_time,
        barrier_time,
        broadcast_time,
        broadcast_tree,
        reduction_time,
    )
    from headway.loggp.programs.communication import (
        byte_imbalance,
        communication_balance,
        message_interval,
        sensitivity,
        slowdown,
        small_message_traffic,
    )
    from headway.loggp.programs.laws import (
        bulk_gap_run_time,
        burst_gap_run_time,
        mixed_gap_run_time,
        mpi_overhead_run_time,
        overhead_run_time,
        read_latency_run_time,
        serialization_time,
        uniform_gap_run_time,
    )
    from headway.loggp.programs.mpi import MessageLine, MpiMessages, full_fragments, small_messages
    from headway.loggp.programs.related import (
        BlockingRequests,
        bsp_superstep_time,
        lopc_cycle_time,
        lopc_run_time,
        qsm_phase_time,
    )
    from headway.loggp.programs.validity import Limit, hidden_gap, hidden_latency, limits

__all__ = [
    "PLATFORMS",
    "PLATFORM_SOURCES",
    "BlockingRequests",
    "Break",
    "BroadcastTree",
    "BurstinessFit",
    "Convention",
    "EqualPackets",
    "Estimate",
    "Event",
    "GapLimit",
    "GapRuns",
    "Limit",
    "Line",
    "LineParameter",
    "LogGP",
    "LogPEstimate",
    "MessageLine",
    "MpiMessages",
    "PacketTransfer",
    "Parallel",
    "Phase",
    "Pipeline",
    "Regime",
    "Series",
    "SizeFit",
    "SizeSeries",
    "Stage",
    "Timeline",
    "all_to_all_steady_time",
    "all_to_all_time",
    "barrier_time",
    "broadcast_time",
    "broadcast_tree",
    "bsp_superstep_time",
    "bulk_bandwidth",
    "bulk_gap_run_time",
    "bulk_transfer_time",
    "burst_gap_run_time",
    "byte_imbalance",
    "capacity",
    "communication_balance",
    "convert",
    "effective_gap",
    "find_breaks",
    "fit_burstiness",
    "fit_sizes",
    "forwarding_gap",
    "full_fragments",
    "hidden_gap",
    "hidden_latency",
    "interface_gap",
    "issue_cost",
    "issue_times",
    "limits",
    "long_message_time",
    "lopc_cycle_time",
    "lopc_run_time",
    "machine_from_sizes",
    "many_to_one_gap",
    "message_interval",
    "message_rate",
    "mixed_gap_run_time",
    "mpi_overhead_run_time",
    "one_message_time",
    "overhead_from_round_trip",
    "overhead_run_time",
    "overlap_share",
    "processor_left",
    "qsm_phase_time",
    "read_latency_run_time",
    "read_netgauge",
    "read_plain",
    "read_signature",
    "reduction_time",
    "regime",
    "repeats_needed",
    "request_reply_time",
    "sensitivity",
    "serialization_time",
    "size_series",
    "slowdown",
    "small_message_traffic",
    "small_messages",
    "steady_issue_cost",
    "train_time",
    "uniform_gap_run_time",
    "windowed_gap",
]

__getattr__ = lazy_names(
    __name__,
    {
        "programs.burstiness": (
            "BurstinessFit",
            "GapRuns",
            "fit_burstiness",
        ),
        "programs.collectives": (
            "BroadcastTree",
            "all_to_all_steady_time",
            "all_to_all_time",
            "barrier_time",
            "broadcast_time",
            "broadcast_tree",
            "reduction_time",
        ),
        "programs.communication": (
            "byte_imbalance",
            "communication_balance",
            "message_interval",
            "sensitivity",
            "slowdown",
            "small_message_traffic",
        ),
        "machine.conventions": ("convert",),
        "measuring.estimates": (
            "Estimate",
            "repeats_needed",
        ),
        "measuring.extraction": (
            "GapLimit",
            "LogPEstimate",
            "read_signature",
        ),
        "machine.messages": (
            "bulk_bandwidth",
            "bulk_transfer_time",
            "capacity",
            "effective_gap",
            "long_message_time",
            "many_to_one_gap",
            "message_rate",
            "one_message_time",
            "overhead_from_round_trip",
            "overlap_share",
            "request_reply_time",
            "train_time",
            "windowed_gap",
        ),
        "programs.mpi": (
            "MessageLine",
            "MpiMessages",
            "full_fragments",
            "small_messages",
        ),
        "machine.parameters": (
            "Convention",
            "LogGP",
        ),
        "machine.phases": (
            "Event",
            "Parallel",
            "Phase",
            "Series",
        ),
        "machine.pipeline": (
            "EqualPackets",
            "Pipeline",
            "Stage",
            "Timeline",
        ),
        "machine.platforms": (
            "PLATFORM_SOURCES",
            "PLATFORMS",
        ),
        "programs.laws": (
            "bulk_gap_run_time",
            "burst_gap_run_time",
            "mixed_gap_run_time",
            "mpi_overhead_run_time",
            "overhead_run_time",
            "read_latency_run_time",
            "serialization_time",
            "uniform_gap_run_time",
        ),
        "measuring.readers": (
            "read_netgauge",
            "read_plain",
        ),
        "programs.related": (
            "BlockingRequests",
            "bsp_superstep_time",
            "lopc_cycle_time",
            "lopc_run_time",
            "qsm_phase_time",
        ),
        "machine.routers": (
            "forwarding_gap",
            "interface_gap",
            "processor_left",
        ),
        "measuring.signature": (
            "Regime",
            "issue_cost",
            "issue_times",
            "regime",
            "steady_issue_cost",
        ),
        "measuring.sizefit": (
            "Break",
            "Line",
            "LineParameter",
            "SizeFit",
            "fit_sizes",
            "machine_from_sizes",
        ),
        "measuring.sizes": (
            "SizeSeries",
            "find_breaks",
            "size_series",
        ),
        "programs.validity": (
            "Limit",
            "hidden_gap",
            "hidden_latency",
            "limits",
        ),
        "machine.transfers": ("PacketTransfer",),
    },
)
