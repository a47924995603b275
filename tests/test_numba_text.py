"""The short way from kernel text to Numba's IR: it takes all generated text, and the machine code is that of the long
way through bytecode, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xjit.codegen import inline_functions, intrinsics, llvm_pipeline, numba_compat

GOLDEN = sorted(Path(__file__).with_name("golden").glob("*.txt"))
# What generated text and text for tests have between them that the golden files lack.
SIGNS = """def kernel(lo, hi, table):
    x = ptr_f64(table, 0)
    n = ptr_i64(table, 1)
    zero = f64(0.0)
    for i in range(hi - 1, lo - 1, -1):
        v = -ld(x, i) + f64(-0.0) * -3.0 + zero
        m = ~ld(n, i) - 5
        flag = m > 1
        if flag:
            v = v * 0.9 + f64(0.9)
            m = i64(1) | (m ^ 1)
        st(x, i, v)
        st(n, i, m * i64(True))
    st(x, lo, f64(f32(0.1)) + f64(0.1))
"""
UNUSUAL = {
    "augmented": "    t = f64(0.0)\n    t += 1.0\n    st(ptr_f64(table, 0), lo, t)\n",
    "chained": "    a = b = f64(2.0)\n    st(ptr_f64(table, 0), lo, a * b)\n",
    "while": "    i = lo\n    while i < hi:\n        st(ptr_f64(table, 0), i, f64(2.0))\n        i = i + 1\n",
    "else": "    t = f64(0.0)\n    if lo < hi:\n        t = f64(1.0)\n    else:\n        t = f64(2.0)\n"
    "    st(ptr_f64(table, 0), lo, t)\n",
}


def texts() -> dict[str, str]:
    """Each kernel of the golden files, and the text above."""
    found = {"signs": SIGNS}
    for file in GOLDEN:
        for number, part in enumerate(file.read_text().split("def kernel")[1:]):
            found[f"{file.stem} {number}"] = f"def kernel{part}"
    return found


def function_of(source: str) -> Any:
    scope = intrinsics.namespace() | {function.name: function for function in inline_functions.used_in(source)}
    scope["__name__"] = __name__
    exec(compile(source, "<kernel>", "exec"), scope)
    return scope["kernel"]


def object_of(source: str, text: str | None) -> bytes:
    """The machine code of a kernel, by the short way if its text is given."""
    used = inline_functions.used_in(source)
    routine = numba_compat.Routine(function_of(source), numba_compat.KERNEL_SIGNATURE, "kernel", used, text)
    target = numba_compat.host()
    module = numba_compat._optimised(routine, target)
    return llvm_pipeline.emit_object(module, target)[0]


@pytest.mark.parametrize("source", texts().values(), ids=texts())
def test_both_ways_give_the_same_machine_code(source: str) -> None:
    from xjit.codegen.numba_text import numba_ir

    assert len(numba_ir(function_of(source), source).blocks) > 0  # the short way takes it
    assert object_of(source, source) == object_of(source, None)


@pytest.mark.parametrize("body", UNUSUAL.values(), ids=UNUSUAL)
def test_other_text_takes_the_long_way(body: str) -> None:
    from xjit.codegen.numba_text import UnusualTextError, numba_ir

    source = f"def kernel(lo, hi, table):\n{body}"
    with pytest.raises(UnusualTextError):
        numba_ir(function_of(source), source)
    assert object_of(source, source) == object_of(source, None)


def test_constants_and_functions_are_named_once_in_a_block() -> None:
    from xjit.codegen.numba_text import numba_ir

    lines = "".join(f"    v{i} = ld(x, lo + {i}) * f64(0.5)\n    st(x, lo, v{i} + f64(1.0))\n" for i in range(4))
    source = f"def kernel(lo, hi, table):\n    x = ptr_f64(table, 0)\n{lines}"
    (block,) = numba_ir(function_of(source), source).blocks.values()
    values = [str(statement.value) for statement in block.body if hasattr(statement, "target")]
    assert sum(value.startswith("global(") for value in values) == len({"ptr_f64", "ld", "st", "f64"})
    assert sum(value.startswith("const(float") for value in values) == len({0.5, 1.0})


def test_zero_and_minus_zero_stay_apart() -> None:
    source = (
        "def kernel(lo, hi, table):\n    x = ptr_f64(table, 0)\n    st(x, 0, f64(0.0))\n    st(x, 1, f64(-0.0))\n"
        "    st(x, 2, f64(1))\n    st(x, 3, f64(True))\n"
    )
    assert object_of(source, source) == object_of(source, None)
