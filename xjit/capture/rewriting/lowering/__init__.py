"""Statements of Python that become others, so that loops and branches alone decide what runs."""
