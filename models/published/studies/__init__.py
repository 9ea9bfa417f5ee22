"""Studies of published measurements with the models that ship; the notebooks describe them.

File servers
    published_curves, calibrated, on_bends, predicted_from_baseline
Disks
    disk_streams, parallel_file, leave_one_out, left_out_figure
Parallel programs
    PROGRAMS, measured_runs, predicted_slowdowns, slowdown_study, burstiness_study
"""

from headway.lazy import public_names

__getattr__, __dir__ = public_names(__name__, __file__)
