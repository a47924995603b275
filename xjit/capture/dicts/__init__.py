"""Dicts and sets whose keys only the run tells."""
