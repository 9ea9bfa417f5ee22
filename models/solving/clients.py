"""Networks whose clients give up and ask again."""

from headway.errors import GraphError
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Amounts


def client_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Refuse to solve them.

    Raises
    ------
    GraphError
        Always.
    """
    del method, shape
    msg = f"{model.name}: its clients give up, of which headway knows no law; simulate"
    raise GraphError(msg)
