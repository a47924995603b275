"""The functions of NVIDIA's libdevice that stand for vector functions on its GPUs.

There is no vector code to be had there: a lane is a thread, and the maker's scalar functions, a few units of the last
place wide, are the quickest. The others have no counterpart with NumPy's meaning; their text is compiled as it is.
"""

from __future__ import annotations

from xjit.codegen.vmath.vector_function import VectorFunction

# ``__nv_remainder`` rounds its quotient to nearest, not down.
_OWN_TEXT = frozenset({"digamma", "floor_divide", "logistic", "logit", "remainder", "softplus"})
_OTHER_NAMES = {"erf_inv": "erfinv"}


def libdevice_name(function: VectorFunction) -> str | None:
    """The symbol of a vector function in libdevice; None where its own text is used.

    >>> from xjit.codegen.vmath import VECTOR_FUNCTIONS
    >>> libdevice_name(VECTOR_FUNCTIONS["exp_f32"]), libdevice_name(VECTOR_FUNCTIONS["erf_inv_f64"])
    ('__nv_expf', '__nv_erfinv')
    """
    base, _, width = function.name.rpartition("_")
    if base in _OWN_TEXT:
        return None
    return f"__nv_{_OTHER_NAMES.get(base, base)}{'f' if width == 'f32' else ''}"
