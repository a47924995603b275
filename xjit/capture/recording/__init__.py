"""Recorded reads: globals, modules, objects and containers of the traced function."""
