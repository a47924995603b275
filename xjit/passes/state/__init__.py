"""Passes over what loops carry from turn to turn: what stays as it is, and how arrays lie in memory meanwhile."""
