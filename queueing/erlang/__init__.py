"""Erlang's formulas and the room to wait: loss, delay, and what they rest on."""
