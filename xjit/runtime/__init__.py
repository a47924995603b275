"""What runs a compiled program: loaded objects, the disk cache, threads and the entry from Python."""
