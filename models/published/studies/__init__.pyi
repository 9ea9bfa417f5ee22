"""The public names, each once: type checkers read this file, and so does `headway.lazy`."""

from .calibration import calibrated as calibrated
from .calibration import on_bends as on_bends
from .calibration import predicted_from_baseline as predicted_from_baseline
from .disk_figures import left_out_figure as left_out_figure
from .disk_rates import disk_streams as disk_streams
from .disk_rates import leave_one_out as leave_one_out
from .disk_rates import parallel_file as parallel_file
from .sfs_results import published_curves as published_curves
from .slowdowns import PROGRAMS as PROGRAMS
from .slowdowns import burstiness_study as burstiness_study
from .slowdowns import measured_runs as measured_runs
from .slowdowns import predicted_slowdowns as predicted_slowdowns
from .slowdowns import slowdown_study as slowdown_study
