"""The short way from kernel text to Numba's IR: it takes all generated text, and the machine code is that of the long
way through bytecode, byte for byte."""

from __future__ import annotations

import ast
import contextlib
import linecache
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end import numba_compat
from xjit.codegen.language import inline_functions, intrinsics
from xjit.codegen.vmath import COMPLEX_FUNCTIONS, VECTOR_FUNCTIONS

GOLDEN = sorted(Path(__file__).with_name("golden").rglob("*.txt"))
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
    "swapped": "    a, b = f64(2.0), f64(3.0)\n    a, b = b, a\n    st(ptr_f64(table, 0), lo, a / b)\n",
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


def object_of(source: str, *, short: bool) -> bytes:
    """The machine code of a kernel, by the short way or by the long one."""
    used = inline_functions.used_in(source)
    routine = numba_compat.Routine(function_of(source), numba_compat.KERNEL_SIGNATURE, "kernel", used, source)
    target = numba_compat.host()
    with contextlib.nullcontext() if short else long_way():
        module = numba_compat._optimised(routine, target)
    return llvm_pipeline.emit_object(module, target)[0]


@contextlib.contextmanager
def long_way() -> Iterator[None]:
    """No text is usual enough."""
    from xjit.codegen.front_end import numba_text

    def refuse(function: Any, source: str | None = None) -> Any:
        raise numba_text.UnusualTextError("refused")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba_text, "numba_ir", refuse)
        yield


def loops_in_an_arm(source: str) -> bool:
    """Return whether a loop stands in front of an ``else``."""
    branches = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.If) and one.orelse)
    return any(isinstance(inner, ast.For) for one in branches for part in one.body for inner in ast.walk(part))


@pytest.mark.parametrize("source", texts().values(), ids=texts())
def test_both_ways_give_the_same_machine_code(source: str) -> None:
    from xjit.codegen.front_end.numba_text import numba_ir

    assert len(numba_ir(function_of(source), source).blocks) > 0  # the short way takes it
    if " while " in source:
        return  # bytecode asks whether to go on in two places
    if re.search(r"^ +if ", source, re.MULTILINE) and sys.version_info >= (3, 12):
        return  # bytecode lays the blocks behind a branch in a loop out in another order there
    if loops_in_an_arm(source):
        return  # bytecode lays the blocks of the other arm out ahead of those of the loop
    assert object_of(source, short=True) == object_of(source, short=False)


@pytest.mark.parametrize("body", UNUSUAL.values(), ids=UNUSUAL)
def test_other_text_takes_the_long_way(body: str) -> None:
    from xjit.codegen.front_end.numba_text import UnusualTextError, numba_ir

    source = f"def kernel(lo, hi, table):\n{body}"
    with pytest.raises(UnusualTextError):
        numba_ir(function_of(source), source)
    assert object_of(source, short=True) == object_of(source, short=False)


def test_constants_and_functions_are_named_once_in_a_block() -> None:
    from xjit.codegen.front_end.numba_text import numba_ir

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
    assert object_of(source, short=True) == object_of(source, short=False)


# ---- inline functions


def some_inline_functions() -> list[str]:
    """A part of the functions, and some that are written unlike others: nested, in pairs, with computed numbers.

    The text of hypot is not short enough; remainders have a loop: bytecode asks in two places whether to go on.
    """
    others = ("fmod", "remainder", "floor_divide", "hypot")
    names = sorted(name for name in {*VECTOR_FUNCTIONS, *COMPLEX_FUNCTIONS} if not name.startswith(others))
    return sorted({*random.Random(1).sample(names, 30), "f32_to_f16", "pow_f64", "sin_c128", "log_pair_f64"})


def code_of(name: str) -> bytes:
    """The machine code of an inline function alone, with everything in it made anew."""
    target = numba_compat.host()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba_compat, "_INLINE_IR", {})
        patch.setattr(inline_functions, "stored", lambda key: None)
        patch.setattr(inline_functions, "keep", lambda key, text: None)
        text = numba_compat.inline_function_ir(name)
    return bytes(llvm_pipeline.target_machine(target).emit_object(llvm_pipeline.parse(text, target)))


@pytest.mark.parametrize("name", some_inline_functions())
def test_inline_functions_come_from_their_text_too(name: str) -> None:
    from xjit.codegen.front_end.numba_text import numba_ir

    function = inline_functions.lookup(name)
    assert function is not None
    assert len(numba_ir(function.function).blocks) == 1
    short = code_of(name)
    with long_way():
        assert code_of(name) == short


def test_a_file_that_has_changed_is_not_taken_for_the_function(tmp_path: Path) -> None:
    from xjit.codegen.front_end.numba_text import UnusualTextError, numba_ir

    file = tmp_path / "changed.py"
    scope: dict[str, Any] = {}
    for text in ("def half(x):\n    return x * 0.5\n", "\n\ndef half(x):\n    return x * 0.5\n"):
        exec(compile(text, str(file), "exec"), scope)
    linecache.cache[str(file)] = (0, None, ["# one more line\n", "def half(x):\n", "    return x * 0.5\n"], str(file))
    with pytest.raises(UnusualTextError):
        numba_ir(scope["half"])
    linecache.cache[str(file)] = (0, None, ["\n", "\n", "def half(x):\n", "    return x * 0.25\n"], str(file))
    with pytest.raises(UnusualTextError):
        numba_ir(scope["half"])
    linecache.cache[str(file)] = (0, None, ["\n", "\n", "def half(x):\n", "    return x * 0.5\n"], str(file))
    assert len(numba_ir(scope["half"]).blocks) == 1
