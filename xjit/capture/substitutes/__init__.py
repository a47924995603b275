"""Functions and context managers of libraries as traced code sees them."""
