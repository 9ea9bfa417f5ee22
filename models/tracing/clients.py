"""Loads of a fixed number of clients, who each wait for an answer before they ask again.

Spans do not say whether requests came at random or from so many clients, as most load generators
send them: that is for who ran the test to say. In a load near saturation the two are far apart,
since clients who wait do not ask.
"""

from collections.abc import Mapping
from math import inf

from headway.errors import InvalidParameter
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, quantity, unit
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.structure.parts.reference_task import POPULATION, SETTINGS, THINK_TIME
from headway.numerals import digits
from headway.records import dataclass

_TIME = unit("s")


@dataclass(frozen=True)
class Clients:
    """The clients of a load.

    Parameters
    ----------
    number
        How many there are, a whole number of 1 or more.
    think_time
        Mean time from an answer to the next request [s], 0 or more.

    Raises
    ------
    InvalidParameter
        For other numbers.

    Examples
    --------
    >>> print(Clients(16, 0.05))
    16 clients, think time 50 ms
    """

    number: float
    think_time: float = 0.0

    def __post_init__(self) -> None:
        if not (self.number >= 1 and float(self.number).is_integer()):
            number = digits(self.number)
            msg = f"{POPULATION} of clients is {number}; give a whole number of 1 or more"
            raise InvalidParameter(msg)
        if not 0 <= self.think_time < inf:
            time = Scale().text(self.think_time, _TIME)
            msg = f"{THINK_TIME} is {time}; it must be 0 s or more and finite"
            raise InvalidParameter(msg)

    def __str__(self) -> str:
        return f"{digits(self.number)} clients, think time {Scale().text(self.think_time, _TIME)}"

    def asking(self, model: Model) -> Model:
        """The model with these clients in place of requests from outside.

        Parameters
        ----------
        model
            A model of services all of whose requests come from outside.

        Raises
        ------
        GraphError, InvalidParameter
            For any other model, and impossible numbers.
        """
        return model.closed(self.number, self.think_time)


def clients_of(settings: Mapping[str, str]) -> Clients | None:
    """The clients that the settings of a load name, or None.

    Raises
    ------
    InvalidParameter, UnitError
        For a think time without a population, a population beside an arrival rate, and texts that
        are no numbers.

    Examples
    --------
    >>> clients_of({"population": "16", "think_time": "50ms"})
    Clients(number=16.0, think_time=0.05)
    >>> clients_of({"arrival_rate": "160/s"}) is None
    True
    """
    if not SETTINGS & settings.keys():
        return None
    if POPULATION not in settings:
        both = f"{POPULATION}=16,{THINK_TIME}=..."
        msg = f"{THINK_TIME} is that of clients; give their number too: {both}"
        raise InvalidParameter(msg)
    if ARRIVAL_RATE in settings:
        msg = f"{POPULATION} and {ARRIVAL_RATE} are both given for one file; give one of them"
        raise InvalidParameter(msg)
    number = quantity(settings[POPULATION], ONE, POPULATION)
    return Clients(number, quantity(settings.get(THINK_TIME, "0 s"), _TIME, THINK_TIME))
