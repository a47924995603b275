"""Running compiled programs: loaded objects, the disk cache, threads and the entry from Python."""
