"""Which values get a buffer, and which are computed where they are read."""
