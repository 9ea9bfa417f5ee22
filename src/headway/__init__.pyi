"""The ten names that people need first, read by type checkers and by `headway.lazy`."""

from .models.analysis.audit import audit
from .models.analysis.traces import compare_any as compare
from .models.importing.finding import find_model as load
from .models.inference.fitting import fit_model as fit
from .models.inference.server import fit_server
from .models.reading.loadtest import read
from .models.reports.kinds.making import make_report as report
from .models.sizing.sizing import size_model as size
from .models.structure.graph import ModelGraph
from .models.sweeping.sweeping import sweep_model as sweep

__all__ = [
    "ModelGraph",
    "audit",
    "compare",
    "fit",
    "fit_server",
    "load",
    "read",
    "report",
    "size",
    "sweep",
]
__version__: str
