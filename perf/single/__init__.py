"""Single functions: their speed, pages and index."""
