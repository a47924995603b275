"""Functions of the C library in long double that NumPy lacks: error function, its complement, log-gamma.

Only where a long double has the 64 significant bits of the x87 unit; :data:`AVAILABLE` tells.  They are the quick
screen before MPFR, never the last word.
"""

from __future__ import annotations

import ctypes
import functools
import platform
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

AVAILABLE = platform.system() == "Linux" and platform.machine() == "x86_64" and np.finfo(np.longdouble).nmant == 63
SYMBOLS = {"erf": "erfl", "erfc": "erfcl", "lgamma": "lgammal"}

_LOOP = """
declare x86_fp80 @{symbol}(x86_fp80)

define void @{name}_loop(i64 %count, ptr %x, ptr %out) {{
entry:
  %none = icmp sle i64 %count, 0
  br i1 %none, label %done, label %body
body:
  %i = phi i64 [0, %entry], [%next, %body]
  %from = getelementptr x86_fp80, ptr %x, i64 %i
  %value = load x86_fp80, ptr %from, align 16
  %result = call x86_fp80 @{symbol}(x86_fp80 %value)
  %to = getelementptr x86_fp80, ptr %out, i64 %i
  store x86_fp80 %result, ptr %to, align 16
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %body, label %done
done:
  ret void
}}
"""


@functools.cache
def _engine() -> Any:
    """The loops as machine code, which lives as long as this object."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    text = "\n".join(_LOOP.format(name=name, symbol=symbol) for name, symbol in SYMBOLS.items())
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


@functools.cache
def _loop(name: str) -> Any:
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    return prototype(_engine().get_function_address(f"{name}_loop"))


def _apply(name: str, x: Array) -> Array:
    x = np.ascontiguousarray(x, np.longdouble)
    out = np.empty_like(x)
    _loop(name)(x.size, x.ctypes.data, out.ctypes.data)
    return out


def erf(x: Array) -> Array:
    """The error function in long double."""
    return _apply("erf", x)


def erfc(x: Array) -> Array:
    """The complement of the error function in long double."""
    return _apply("erfc", x)


def lgamma(x: Array) -> Array:
    """The logarithm of the absolute value of the gamma function in long double."""
    return _apply("lgamma", x)
