"""The pool of worker threads, as LLVM assembly."""
