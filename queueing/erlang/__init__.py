"""Erlang's formulas, and queues with limited places: loss, delay, and the numerics behind them."""
