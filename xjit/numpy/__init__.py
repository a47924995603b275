"""The NumPy surface as compositions of records."""
