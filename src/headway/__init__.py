"""headway: analytic performance models, compared with what was measured.

Ten names do most of the work; each is imported when it is first used:

load(model)
    Take a model of the catalogue by name, or read a model file.
read(files)
    Read what load generators and monitors wrote, or a table of your own.
audit(test)
    Check whether a load test can be trusted.
compare(model, measurements)
    Compare a model with measurements.
fit(model, measurements, free)
    Estimate parameters with their confidence intervals.
fit_server(measurements)
    Choose the form of a server whose inside is unknown, and fit it.
size(model, targets, choose, cost)
    Find the cheapest configuration that meets all targets.
sweep(model, space)
    Solve a model at millions of points and keep what matters.
report(model, measurements)
    Write one page: question, answer, curve, how sure it is.
ModelGraph(name)
    Build a model from stations, links and routes.

The rooms hold everything else: `headway.loggp` (messages and programs), `headway.queueing`
(stations and networks), `headway.models` (the graph that joins both, data, comparison) and
`headway.cli`.

Examples
--------
>>> import headway
>>> model = headway.load("nfs-server").with_preset("raid")
>>> round(model.solve(1000).response_time, 5)
0.01111
>>> headway.audit(headway.read("load_tests/wrk")).findings[0].kind
'littles_law'
"""

from headway.lazy import public_names

__version__ = "0.1.0"

__getattr__, __dir__ = public_names(__name__, __file__)
