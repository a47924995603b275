"""Clocks, peers, processes and checks of results."""
