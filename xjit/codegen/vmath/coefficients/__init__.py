"""Numbers of the vector math functions, one module for each family."""
