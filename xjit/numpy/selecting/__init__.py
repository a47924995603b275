"""Indexing, searching and choosing."""
