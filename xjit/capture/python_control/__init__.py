"""Python's own control flow over traced values: what rewritten functions call at their loops and branches."""
