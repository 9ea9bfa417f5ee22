"""The measured errors of layers solved one by one.

``python -m tests.campaigns.large_layer_errors`` compares random layered systems that are too large
for their whole chain with simulations; its rows are in `tests/data/large_layer_errors.csv`.
``python -m tests.campaigns.layer_errors`` compares small ones with their chain: errors are about
half as large. With many second phases that make calls they are as large there, and rare ones larger
(``python -m tests.campaigns.phase_errors``); the bounds hold those too, and systems with branches
at once (``python -m tests.campaigns.branch_errors``).
"""

from headway.numerals import digits
from headway.queueing.methods.method import Error

THROUGHPUT, TIMES = 30.0, 1300.0
"""Largest errors of throughputs of clients, and of response times of entries [%]."""

RARE_THROUGHPUT, RARE_TIMES = 22.0, 60.0
"""Bounds that 99 of 100 errors stay below [%]; the largest errors are of single systems."""

USUAL_THROUGHPUT, USUAL_TIMES = 8.0, 20.0
"""Bounds that nine of ten errors stay below [%]."""

LAYERS_NOTE = (
    f"layers solved one at a time; measured errors: throughput {digits(USUAL_THROUGHPUT)}% in nine "
    f"of ten systems and {digits(RARE_THROUGHPUT)}% in 99 of 100, response times of entries "
    f"{digits(USUAL_TIMES)}% and {digits(RARE_TIMES)}%"
)
"""The label of an answer."""

LAYERS_ERROR = Error(
    THROUGHPUT,
    TIMES,
    "among random layered systems",
    "python -m tests.campaigns.large_layer_errors",
)
"""The error of the method."""

OPEN_TIMES = {
    "unlimited": ((0.7, 4.0, 43.0), (0.9, 13.0, 98.0), (1.0, 28.0, 132.0)),
    "limited": ((0.7, 15.0, 50.0), (0.9, 32.0, 210.0), (1.0, 55.0, 250.0)),
}
"""With arrivals from outside, by the servers of processors: the largest utilisation of a pool or
processor, and for times of entries the bound that nine of ten errors stay below, and the largest
error [%] (`tests.campaigns.open_layer_errors`).
"""


def open_note(busiest: float, servers: str) -> str:
    """The label of an answer with arrivals from outside, by the utilisation of its busiest pool.

    Examples
    --------
    >>> open_note(0.5, "limited")  # doctest: +ELLIPSIS
    'layers solved one at a time; measured errors of response times of entries: ...'
    """
    bands = OPEN_TIMES[servers]
    limit, usual, most = next((row for row in bands if busiest <= row[0]), bands[-1])
    where = f"where no pool or processor is more than {digits(100 * limit)}% busy"
    if limit == 1:
        where = "near saturation, so simulate it"
    return (
        f"layers solved one at a time; measured errors of response times of entries: "
        f"{digits(usual)}% in nine of ten, {digits(most)}% at most, {where}"
    )
