"""First calls of a process by programs that an earlier process has kept on disk."""
