"""A fit with the predictions asked of it, and with what to measure next."""

from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.highest_load import HighestLoad
from headway.models.inference.forecasting.next_load import NextLoads
from headway.models.inference.forecasting.predictions import Predictions
from headway.models.inference.server import ServerFit
from headway.models.tables.shown import Answer
from headway.records import dataclass


@dataclass(frozen=True)
class Forecast(Answer):
    """A fit with the requested predictions.

    Parameters
    ----------
    fit
        The fit of one model, or of the forms that suit a server.
    predictions, ahead
        Predictions at other loads; and the loads to measure next, or the highest load under a limit
        with them. None where they were not asked for.
    """

    fit: Fit | ServerFit
    predictions: Predictions | None = None
    ahead: NextLoads | HighestLoad | None = None

    def to_toml(self, command: str = "") -> str:
        """The fitted model as a model file."""
        return self.fit.to_toml(command)
