"""headway: analytic performance models, solved and held against measurements.

The rooms: `headway.loggp` (messages and programs), `headway.queueing` (stations and
networks), `headway.models` (the graph that joins both, data, comparison), `headway.cli`.
"""

__version__ = "0.1.0"
