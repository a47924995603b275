"""Graph to graph rewrites, the verifier and the interpreter."""
