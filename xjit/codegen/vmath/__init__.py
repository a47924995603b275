"""Vector math."""

from __future__ import annotations

from xjit.codegen import narrow_floats
from xjit.codegen.vmath import exp, hyperbolic, log, trig

__all__ = ["narrow_floats", "exp", "hyperbolic", "log", "trig"]
