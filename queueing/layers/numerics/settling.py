"""Fixed points of many unknowns at many operating points at once, each point by itself.

For a map g with the residual f = g(x) - x, plain iteration takes x + b f. It is mixed with the last
few steps (Anderson, JACM 12(4), 1965, 547-560; type II of Walker and Ni, SIAM J. Numer. Anal.
49(4), 2011, 1715-1735): with the differences dX, dF of successive x and f,

    x' = x + b f - (dX + b dF) y,   y the least squares solution of dF y = f.

If the residual of a point grows, the point discards its past steps and takes shorter ones. If the
residual is large, steps are not mixed, as past steps describe the map locally only. If it stays
large, g shows little more than the direction: the wait for a thread jumps between that of a crowd
and none. Then each unknown is moved towards g by a factor of its own, which grows while the
direction stays the same and is halved when it changes (Riedmiller and Braun, IEEE Int. Conf. on
Neural Networks, 1993, 586-591). The growth itself fades, so that unknowns that swing together come
to rest.
"""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray

PATIENCE = 200
"""Steps after which points with large residuals move by direction only; nearly all settle
before.
"""

_KEPT = 8  # past steps that are mixed; with 5 or 10 as many steps are needed
_FIRST = 0.5  # b of the first step; with larger ones some systems settle with a crowd that is not
_SHARES = 0.9, 0.01  # largest and smallest b
_SHORTER, _LONGER = 0.7, 1.1  # factors on b when residuals grow and when they shrink
_BOLD = 40  # steps that may be longer than the first; nearly all systems settle before
_GROWN = 2.0  # growth over the smallest residual at which past steps are discarded
_LARGE = 0.3  # residual over max(x, g) above which steps are not mixed; fewest steps for 0.2 to 0.5
_RANGE = 0.3, 2.0  # a step stays within these multiples of min(x, g) and max(x, g)
_RIDGE = 1e-12  # of the trace, added to the diagonal so that equal steps do no harm
_STRIDE = 0.7  # largest logarithm of a factor: twice, or half
# growth of a stride while the direction is the same: 10%, fading after 60 steps
_GROWTH, _EBBING = 0.1, 60
_ARRIVED = 0.2  # b of a point that comes near its solution
_LATE, _HALF = 400, 0.5  # points that are not far take plain half steps after so many; chosen


class Settling:
    """The iteration: the next point to try, from earlier points and their images.

    Parameters
    ----------
    small
        Changes up to this size do not matter, above 0; one number, or one for each point.

    Examples
    --------
    >>> import numpy as np
    >>> x, settling = np.array([[1.0]]), Settling(1e-9)
    >>> for _ in range(12):
    ...     x = settling.step(x, np.cos(x))
    >>> x.round(9).tolist()  # x = cos x
    [[0.739085133]]
    """

    def __init__(self, small: Amount) -> None:
        self.small = small
        self._before: tuple[FloatArray, FloatArray] | None = None
        self._steps, self._taken = np.zeros((2, 0, 0, 0)), 0
        self._strides = _Strides(small)
        self._share = self._least = self._last = np.zeros(0)

    def step(self, x: FloatArray, g: FloatArray) -> FloatArray:
        """The next x from x and g(x), both of shape (numbers, points), 0 or more."""
        residual = g - x
        low, high = np.minimum(x, g), np.maximum(x, g)
        largest = (np.abs(residual) / (high + self.small)).max(axis=0)
        fresh = self._remembered(x, residual, largest)
        near = x + self._share * residual
        if not fresh.all():
            near = near - self._mixed(residual, g + self.small, fresh)
        near = np.minimum(np.maximum(near, _RANGE[0] * low), _RANGE[1] * high)
        self._strides.turn(np.sign(residual))
        if self._strides.count <= PATIENCE:
            return np.asarray(near)
        if self._strides.count > _LATE:
            near = x + _HALF * residual
        far = largest > _LARGE
        self._share = np.where(far, _ARRIVED, self._share)
        return np.asarray(np.where(far, self._strides.step(x, g), near))

    def keep(self, x: FloatArray, chosen: NDArray[np.bool_]) -> FloatArray:
        """Go on with some of the points only; returns their x."""

        def at(values: FloatArray) -> FloatArray:
            return values[..., chosen]

        self.small = np.broadcast_to(self.small, chosen.shape)[chosen]
        if self._before is not None:
            self._before, self._steps = (at(self._before[0]), at(self._before[1])), at(self._steps)
            self._share, self._least, self._last = map(at, (self._share, self._least, self._last))
        self._strides.keep(chosen)
        return at(x)

    def _remembered(
        self, x: FloatArray, residual: FloatArray, largest: FloatArray
    ) -> NDArray[np.bool_]:
        """Remember a step; returns where points discard their past steps."""
        if self._before is None:
            self._share = np.full(x.shape[1], _FIRST)
            self._least, self._last = largest, largest
            self._before, self._steps = (x, residual), np.zeros((2, _KEPT, *x.shape))
            return np.ones(x.shape[1], bool)
        grown = (largest > _GROWN * self._least) | (largest > _LARGE)
        factor = np.where(largest > self._last, _SHORTER, _LONGER)
        most = _SHARES[0] if self._taken < _BOLD else _FIRST
        self._share = np.minimum(np.maximum(self._share * factor, _SHARES[1]), most)
        self._least = np.where(grown, largest, np.minimum(self._least, largest))
        steps, oldest = self._steps, self._taken % _KEPT
        steps[0, oldest], steps[1, oldest] = x - self._before[0], residual - self._before[1]
        steps[..., grown] = 0.0
        self._taken += 1
        self._before, self._last = (x, residual), largest
        return np.asarray(grown)

    def _mixed(
        self, residual: FloatArray, scale: FloatArray, fresh: NDArray[np.bool_]
    ) -> FloatArray:
        """The correction (dX + b dF) y."""
        moved, changed = self._steps[:, : self._taken]
        scaled = changed / scale
        gram = np.einsum("ivp,jvp->pij", scaled, scaled)
        right = np.einsum("ivp,vp->pi", scaled, residual / scale)
        ridge = _RIDGE * np.trace(gram, axis1=1, axis2=2) + np.where(fresh, 1.0, 1e-300)
        gram = gram + ridge[:, np.newaxis, np.newaxis] * np.eye(len(moved))
        share = np.linalg.solve(gram, right[..., np.newaxis])[..., 0]
        return np.asarray(np.einsum("ivp,pi->vp", moved + self._share * changed, share))


class _Strides:
    """Steps by factors towards g, at most half of the way."""

    def __init__(self, small: Amount) -> None:
        self.small, self.count = small, 0
        self._length = self._side = np.zeros((0, 0))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Go on with some of the points only."""
        self.small = np.broadcast_to(self.small, chosen.shape)[chosen]
        if self.count:
            self._length, self._side = self._length[:, chosen], self._side[:, chosen]

    def turn(self, side: FloatArray) -> None:
        """Lengthen or shorten steps by the direction to g: 1 above x, -1 below."""
        self.count += 1
        if self.count == 1:
            self._length, self._side = np.full(side.shape, _STRIDE), side
        turned = side * self._side
        grown = 1 + _GROWTH * min(1.0, _EBBING / self.count)
        factor = np.where(turned > 0, grown, np.where(turned < 0, 0.5, 1.0))
        self._length, self._side = np.minimum(self._length * factor, _STRIDE), side

    def step(self, x: FloatArray, g: FloatArray) -> FloatArray:
        """The next x."""
        reached = (x + self.small) * np.exp(self._side * self._length) - self.small
        half, up = (x + g) / 2, self._side > 0
        return np.asarray(np.where(up, np.minimum(reached, half), np.maximum(reached, half)))
