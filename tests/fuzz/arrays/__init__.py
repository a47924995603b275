"""Random programs of NumPy's functions on arrays of several types, layouts and axes."""
