"""Kinds of station by name, as model files give them."""

from headway.queueing.dependent import LoadDependent, Parallel
from headway.queueing.finite import MM1K, MMmK
from headway.queueing.general import MD1, MG1, GGm
from headway.queueing.stations import MM1, Delay, MMm, Station

_KINDS: tuple[type[Station], ...] = (
    Delay,
    MM1,
    MMm,
    MM1K,
    MMmK,
    MD1,
    MG1,
    GGm,
    LoadDependent,
    Parallel,
)

STATIONS: dict[str, type[Station]] = {kind.__name__: kind for kind in _KINDS}
