"""Traces of one function, as calls find them."""
