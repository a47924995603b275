"""The kernel language: its words, types and inline functions, compiled and uncompiled."""
