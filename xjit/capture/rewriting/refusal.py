"""The refusal to rewrite a function."""

from __future__ import annotations


class NotRewritable(Exception):
    """A function whose control flow cannot be rewritten; the text says why, in words that follow its name."""
