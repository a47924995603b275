"""Regions of arrays: strided windows that are read or written where NumPy's basic indices say."""
