"""Answers drawn, as matplotlib Figures without global state."""
