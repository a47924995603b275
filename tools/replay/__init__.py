"""Recordings of what the compiler makes of known programs, kept and compared: the net under every change of its inner
half.
"""
