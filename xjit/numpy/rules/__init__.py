"""NumPy's rules: promotion, broadcasting, signatures, memory order, compositions of records."""
