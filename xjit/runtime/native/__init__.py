"""LLVM assembly of the runtime, and its compilation."""
