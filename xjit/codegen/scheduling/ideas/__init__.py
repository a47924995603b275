"""Reasons to rewrite loops: each looks at the loops of a kernel and yields rewrites."""
