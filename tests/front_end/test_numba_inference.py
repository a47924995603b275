"""Quick look-ups give the types, and the LLVM assembly, of Numba's own inference and lowering."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core.lowering import Lower as NumbaLower
from numba.core.typeinfer import TypeInferer

from xjit.codegen.cpu.emitters import CpuTraits
from xjit.codegen.front_end import numba_frontend
from xjit.codegen.front_end.numba_frontend import Frontend, Lower
from xjit.codegen.language import inline_functions, intrinsics
from xjit.codegen.language.scalar_types import KernelTypeError

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.txt"))
CHANGING = """
def kernel(lo, hi, table):
    o0 = ptr_i64(table, 0)
    t0 = 0
    v0 = lo
    for i0 in range(lo, hi):
        for j0 in range(i0):
            t0 = t0 + v0
            v0 = j0
        if t0 < hi:
            t0 = t0 * 2
        st(o0, i0, t0)
"""


def translated(text: str) -> str:
    """The LLVM assembly of a kernel but the number of its module, by a front end of its own."""
    used = inline_functions.used_in(text)
    scope: dict[str, Any] = intrinsics.namespace() | {function.name: function for function in used}
    exec(text, scope)
    frontend = Frontend(CpuTraits(fma=True, architecture="x86_64"))
    found = frontend.translate(scope["kernel"], ("i64", "i64", "table"), "void", "kernel", used, text)
    return found.partition("\n")[2]


@pytest.mark.parametrize("text", [*(file.read_text() for file in GOLDEN), CHANGING], ids=range(len(GOLDEN) + 1))
def test_assembly_is_that_of_numba_itself(monkeypatch, text):
    quick = translated(text)
    quiet = SimpleNamespace(catch_warnings=lambda **_: nullcontext())
    monkeypatch.setattr(numba_frontend, "Inference", lambda context, ir: TypeInferer(context, ir, quiet))
    for name in ("lower_call", "_find_singly_assigned_variable"):
        monkeypatch.setattr(Lower, name, getattr(NumbaLower, name))
    assert translated(text) == quick


def test_what_the_language_lacks_is_told_with_its_line():
    with pytest.raises(KernelTypeError, match=r"f64\+i64|line 3|add takes"):
        translated("def kernel(lo, hi, table):\n    x = f64(1.0)\n    y = x + lo\n    st(ptr_f64(table, 0), 0, y)\n")
