"""How far layers may be off, as measured.

``python -m tests.campaigns.layer_errors`` solves random layered systems by layers and by their
whole chain; rows are stored in `tests/data/layer_errors.csv`.
"""

from headway.numerals import digits
from headway.queueing.methods.method import Error

THROUGHPUT, TIMES = 15.0, 50.0
"""Largest errors of throughputs of clients, and of response times of entries [%]."""

USUAL_THROUGHPUT, USUAL_TIMES = 5.6, 12.5
"""Errors that nine of ten stay below [%]."""

LAYERS_NOTE = (
    f"layers taken one by one; measured errors of throughput: {digits(USUAL_THROUGHPUT)}% in nine "
    f"of ten systems, {digits(THROUGHPUT)}% at most; of times of entries: {digits(USUAL_TIMES)}% "
    f"and {digits(TIMES)}%"
)
"""The label of an answer."""

LAYERS_ERROR = Error(
    THROUGHPUT, TIMES, "among random layered systems", "python -m tests.campaigns.layer_errors"
)
"""The error of the method."""
