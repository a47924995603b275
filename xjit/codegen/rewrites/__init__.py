"""Named rewrites of loops, one a file: each says what it makes of a kernel, and refuses in words where it may not."""
