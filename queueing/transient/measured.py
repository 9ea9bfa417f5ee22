"""How far approximations of a load over time were off, as campaigns measured them."""

from math import inf

from headway.queueing.methods.method import Error

_BY = "python -m tests.campaigns.days"

OFFERED_LOAD_ERROR = Error(inf, inf, "not known", _BY)
"""Of the steady state of the load that infinitely many servers would have."""

FLUID_ERROR = Error(inf, inf, "not known", _BY)
"""Of means and covariances as if numbers were normal."""

POINTWISE_ERROR = Error(inf, inf, "not known", _BY)
"""Of the steady state of each rate."""
