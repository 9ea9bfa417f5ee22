"""How far layers may be off, as measured.

``python -m tests.campaigns.layer_errors`` solves random layered systems by layers and by their
whole chain; rows are stored in `tests/data/layer_errors.csv`.
"""

from headway.numerals import digits
from headway.queueing.methods.method import Error

THROUGHPUT, TIMES = 30.0, 190.0
"""Largest errors of throughputs of clients, and of response times of entries [%]."""

RARE_THROUGHPUT, RARE_TIMES = 12.0, 30.0
"""Errors that 99 of 100 stay below [%]; the largest are of single systems."""

USUAL_THROUGHPUT, USUAL_TIMES = 5.0, 10.5
"""Errors that nine of ten stay below [%]."""

LAYERS_NOTE = (
    f"layers taken one by one; measured errors of throughput: {digits(USUAL_THROUGHPUT)}% in nine "
    f"of ten systems, {digits(RARE_THROUGHPUT)}% in 99 of 100; of times of entries: "
    f"{digits(USUAL_TIMES)}% and {digits(RARE_TIMES)}%"
)
"""The label of an answer."""

LAYERS_ERROR = Error(
    THROUGHPUT, TIMES, "among random layered systems", "python -m tests.campaigns.layer_errors"
)
"""The error of the method."""

OPEN_TIMES = (0.7, 6.0, 35.0), (0.9, 22.0, 75.0), (1.0, 35.0, 100.0)
"""With arrivals from outside: how busy the busiest pool is at most, what nine of ten errors of
times of entries stay below, and the largest [%] (`tests.campaigns.open_layer_errors`)."""


def open_note(busiest: float) -> str:
    """The label of an answer whose busiest pool is so busy, with arrivals from outside.

    Examples
    --------
    >>> open_note(0.5)  # doctest: +ELLIPSIS
    'layers taken one by one; measured errors of times of entries: ...'
    """
    band = next((row for row in OPEN_TIMES if busiest <= row[0]), OPEN_TIMES[-1])
    limit, usual, most = band
    where = f"where no pool is more than {digits(100 * limit)}% busy"
    if limit == 1:
        where = "near saturation, so simulate it"
    return (
        f"layers taken one by one; measured errors of times of entries: {digits(usual)}% in nine "
        f"of ten, {digits(most)}% at most, {where}"
    )
