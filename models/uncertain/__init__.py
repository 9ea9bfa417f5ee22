"""Uncertain parameters: drawn together, carried through a model, and told what each is worth."""
