"""Models: the graph that joins queueing and LogGP, its parameters, answers and data.

`headway` itself has the ten names that most work needs. This room has those behind them:

Models
    catalogue_model, model_names, read_model, parse_model, find_model, import_model, to_jmva,
    ModelGraph, Model, Parameter, Preset, Import
Answers
    Solution, Comparison, Builds, Fit, SideBySide, Sensitivity, Propagation, Sweep, Simulation,
    Simulations, Check, Retries, Report, Reproduction
Questions to a model (also methods, as in ``model.fit``)
    compare, compare_builds, fit_model, size_model, global_sensitivity, make_report, balance,
    retries, what_it_takes, what_all_take
Targets and sizes
    Goal, Target, JointTarget, Size, Configuration, Balance
Points of a sweep
    grid, listed, random, latin, sobol, drawn, Between
Measured data
    Measurements, Reader, Range, data_path, data_rows, curve, sfs_signature, read_sizes,
    SfsSignature, MeasuredSizes, MeasuredLogp, MeasuredCollective, MeasuredStorage
Published results
    reproduce, published_communication, message_map, Communication, SlowdownPanel
Figures (an answer has ``plot()``)
    formula_figure, communication_figure, slowdown_figure

`headway.models.plotting` has what figures of your own need to look like these, and
`headway.models.published.studies` what the notebooks tell of published measurements.
``help(model)`` and ``help(solution)`` list what each value can be asked. Names are imported when
they are first used, so that a command pays for what it needs only.
"""

from headway.lazy import public_names
from headway.models import door as door  # says who does what a model or an answer is asked

__getattr__, __dir__ = public_names(__name__, __file__)
