"""The ordinary programs that are compiled as a whole, one name a line."""

WHOLE: tuple[str, ...] = ()
