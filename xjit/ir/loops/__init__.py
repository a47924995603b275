"""Loops as data: between the planning of a kernel and its text."""
