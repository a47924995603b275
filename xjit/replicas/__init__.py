"""Programs run by several replicas at once: the interface that communicators implement."""
