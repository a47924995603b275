"""LLVM IR for processors: emitters of the kernel language, passes of LLVM, object files."""
