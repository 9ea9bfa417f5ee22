"""Kinds of station: what each costs, and what each can do."""
