"""Names of headway's methods for closed networks."""

from enum import StrEnum

from headway.errors import InvalidParameter, nearest, quoted


class Method(StrEnum):
    """How a closed network is solved.

    ``auto`` takes an exact method if one fits into memory; ``exact`` is mean value analysis if
    every station is a delay or has single servers, otherwise convolution, and convolution for
    sweeps of large populations. ``recal`` and ``quadrature`` are exact if many classes share few
    single servers; for one class they are as ``exact``. ``chain`` goes state by state through a
    small network of classes without a product form. The last two are approximations.
    """

    AUTO = "auto"
    EXACT = "exact"
    CONVOLUTION = "convolution"
    RECAL = "recal"
    QUADRATURE = "quadrature"
    CHAIN = "chain"
    AGGREGATION = "aggregation"
    SCHWEITZER = "schweitzer"
    LINEARIZER = "linearizer"

    @classmethod
    def _missing_(cls, value: object) -> "Method":
        msg = f"there is no method {quoted(str(value))}"
        raise InvalidParameter(msg + nearest(str(value), list(cls)))

    @property
    def approximate(self) -> bool:
        """Whether its results are approximations."""
        return self in {Method.SCHWEITZER, Method.LINEARIZER, Method.AGGREGATION}

    @property
    def quick(self) -> bool:
        """Whether it solves hundreds of points of one class at once, in a fraction of a second."""
        return self.approximate or self in {Method.EXACT, Method.CONVOLUTION}
