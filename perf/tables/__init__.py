"""Tables of the suite, one file each."""
