"""Trigonometric functions and their inverses."""
