"""How residuals count in a fit: squared, or less so that outliers have less effect.

Source: Huber, *Robust Statistics*, 1981, chapter 7, for the uncertainty that goes with it.
"""

from enum import StrEnum
from typing import Any

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray


class Loss(StrEnum):
    """How residuals count: squared, or less, so that outliers matter less."""

    LINEAR = "linear"
    SOFT_L1 = "soft_l1"
    HUBER = "huber"
    CAUCHY = "cauchy"


def loss_of(name: str) -> Loss:
    """Find a loss by its name.

    Raises
    ------
    InvalidParameter
        For an unknown name.
    """
    if name not in set(Loss):
        msg = f"loss is {name!r}{nearest(name, set(Loss))}"
        raise InvalidParameter(msg)
    return Loss(name)


def loss_derivatives(residuals: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """First and second derivative of each residual's share of the cost.

    Parameters
    ----------
    residuals
        Residuals in standard errors.
    loss
        How they count; linear is half the square.

    Examples
    --------
    >>> first, second = loss_derivatives(np.array([0.5, 3.0]), Loss.HUBER)
    >>> first.tolist(), second.tolist()
    ([0.5, 1.0], [1.0, 0.0])
    """
    square = residuals**2
    if loss is Loss.SOFT_L1:
        return residuals / np.sqrt(1 + square), (1 + square) ** -1.5
    if loss is Loss.HUBER:
        return np.clip(residuals, -1, 1), np.where(square <= 1, 1.0, 0.0)
    if loss is Loss.CAUCHY:
        return residuals / (1 + square), (1 - square) / (1 + square) ** 2
    return residuals, np.ones_like(residuals)


def loss_cost(residuals: FloatArray, loss: Loss) -> Any:
    """The cost that a fit minimises: half the sum of the residuals' shares.

    Parameters
    ----------
    residuals
        Residuals in standard errors, those of one fit along the last axis; infinite ones have
        infinite cost.
    loss
        How they count.

    Returns
    -------
    A number; an array for the residuals of several fits.

    Examples
    --------
    >>> float(loss_cost(np.array([0.5, 3.0]), Loss.HUBER))
    2.625
    """
    square = residuals**2
    if loss is Loss.SOFT_L1:
        square = 2 * (np.sqrt(1 + square) - 1)
    elif loss is Loss.HUBER:
        square = np.where(square <= 1, square, 2 * np.abs(residuals) - 1)
    elif loss is Loss.CAUCHY:
        square = np.log1p(square)
    return 0.5 * square.sum(axis=-1)


def loss_weights(residuals: FloatArray, loss: Loss) -> FloatArray:
    """Weights by which squared residuals have the same influence as under the loss.

    Parameters
    ----------
    residuals
        Residuals in standard errors.
    loss
        How they count; linear gives a weight of 1.

    Examples
    --------
    >>> loss_weights(np.array([0.5, 4.0]), Loss.HUBER).tolist()
    [1.0, 0.25]
    """
    if loss is Loss.SOFT_L1:
        return np.asarray(1 / np.sqrt(1 + residuals**2))
    if loss is Loss.HUBER:
        return np.asarray(1 / np.maximum(np.abs(residuals), 1.0))
    if loss is Loss.CAUCHY:
        return np.asarray(1 / (1 + residuals**2))
    return np.ones_like(residuals)
