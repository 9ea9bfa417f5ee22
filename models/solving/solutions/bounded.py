"""Bounds of a solution."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from headway.models.language.verbs import perform
from headway.models.structure.model import Model

if TYPE_CHECKING:
    from headway.queueing.bounds.common import Bounds


class Bounded:
    """A solution of a network that has bounds."""

    model: Model

    @property
    @abstractmethod
    def shared(self) -> bool:
        """Whether several classes of jobs share the network."""

    def bounds(self) -> "dict[str, Bounds]":
        """Bounds on a network's throughput and response time, by method.

        For a closed network: asymptotic bounds for all stations; balanced-job, proportional and
        geometric bounds for single servers only. For an open one: the throughput below saturation,
        and balanced-job bounds for all stations with a product form. With forks, and with stations
        and regions that block: asymptotic bounds. Several classes have `class_bounds`. Empty where
        `no_bounds` gives a reason.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> limits = one.solve(population=5, think_time=1.0).bounds()["asymptotic"]
        >>> round(limits.throughput_upper, 6)  # 5 / (1 + 0.1)
        4.545455
        """
        bounds: dict[str, Bounds] = perform(self, "bounds")
        return bounds

    @property
    def no_bounds(self) -> str:
        """Why neither `bounds` nor `class_bounds` has any; empty if one has.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1K
        >>> ModelGraph("one").station("cpu", MM1K(0.1, 3)).at().solve(5).no_bounds
        'cpu can lose jobs'
        """
        reason: str = perform(self, "no_bounds")
        return reason

    def class_bounds(self) -> "dict[str, dict[str, Bounds]]":
        """Bounds on closed classes of jobs, by class and method.

        Asymptotic, balanced-job and composite bounds, for networks with a product form whose
        stations have no speeds by number present and whose pools no open class uses. Empty for
        others.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> one.solve(population=5).class_bounds()
        {}
        """
        if not self.shared:
            return {}
        bounds: dict[str, dict[str, Bounds]] = perform(self, "class_bounds")
        return bounds
