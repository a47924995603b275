"""Names of vector functions on NVIDIA's GPUs, beside the table of libdevice that Numba has."""

from __future__ import annotations

import pytest
from numba.core import types
from numba.cuda import libdevicefuncs

from xjit.codegen.language.inline_functions import load_library, lookup
from xjit.codegen.vmath import VECTOR_FUNCTIONS
from xjit.codegen.vmath.libdevice import libdevice_name

OWN_TEXT = ["digamma", "floor_divide", "logistic", "logit", "remainder", "softplus"]


@pytest.mark.parametrize("name", sorted(VECTOR_FUNCTIONS))
def test_counterparts_take_the_same_arguments(name: str) -> None:
    symbol, width = libdevice_name(VECTOR_FUNCTIONS[name]), types.float32 if name.endswith("f32") else types.float64
    if symbol is None:
        assert name.rpartition("_")[0] in OWN_TEXT
        return
    result, arguments = libdevicefuncs.functions[symbol]
    load_library()
    own = lookup(name)
    assert own is not None
    assert result == width and [one.ty for one in arguments] == [width] * len(own.arguments)
