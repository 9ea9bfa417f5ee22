"""Models: the graph that joins queueing and LogGP, its parameters, answers and data."""

from headway.models.comparison import Comparison, compare
from headway.models.files import parse_model, read_model
from headway.models.graph import ModelGraph
from headway.models.measurements import Measurements
from headway.models.model import Model
from headway.models.parameters import Parameter, Preset
from headway.models.shipped import catalogue_model, data_path, find_model, model_names
from headway.models.signature import Range, SfsSignature, curve, sfs_signature
from headway.models.solution import Solution

__all__ = [
    "Comparison",
    "Measurements",
    "Model",
    "ModelGraph",
    "Parameter",
    "Preset",
    "Range",
    "SfsSignature",
    "Solution",
    "catalogue_model",
    "compare",
    "curve",
    "data_path",
    "find_model",
    "model_names",
    "parse_model",
    "read_model",
    "sfs_signature",
]
