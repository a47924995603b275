"""LLVM through llvmlite: this machine as a target, object files, versions. Compiler and runtime use it."""
