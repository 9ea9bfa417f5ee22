"""Waits in GI/M/m as a SymPy function; the only module of this package that needs SymPy."""

from typing import Any

import sympy

from headway.kinds import Amount


class LoneWait(sympy.Function):
    """Mean wait in service times, by servers, load, scv of arrivals and share; never a number.

    It has no closed form, but solves (1) of `headway.queueing.renewals.waits`.
    """

    nargs = 4

    def fdiff(self, argindex: int = 1) -> Amount:
        """Derivative by load, scv or share; there is none by the number of servers."""
        if argindex == 1:
            raise sympy.core.function.ArgumentIndexError(self, argindex)
        return LoneWaitSlope(sympy.Integer(argindex - 1), *self.args)

    def _sympystr(self, printer: Any) -> str:
        return f"lone_wait({', '.join(printer._print(argument) for argument in self.args)})"


class LoneWaitSlope(sympy.Function):
    """Derivative of `LoneWait` by the argument that its first one names."""

    nargs = 5

    def _sympystr(self, printer: Any) -> str:
        return f"lone_wait_slope({', '.join(printer._print(argument) for argument in self.args)})"
