"""Studies of published measurements with the models that ship."""
