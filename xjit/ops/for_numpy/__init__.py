"""Operations that XLA lacks and NumPy has."""
