"""Kernel text means the same compiled and uncompiled, vectorises, and fails with words instead of crashing."""

from __future__ import annotations

import ast
import ctypes
import functools
import re
from pathlib import Path

import numpy as np
import pytest

from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end.numba_compat import compile_kernel
from xjit.codegen.language import fingerprint
from xjit.codegen.language.intrinsics import INTRINSICS
from xjit.codegen.language.scalar_types import FLOATS, INTEGERS, KINDS, KernelTypeError
from xjit.codegen.language.uncompiled import run_kernel
from xjit.runtime.loading.loader import load_object

PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
AVX512 = llvm_pipeline.Target("x86_64-unknown-linux-gnu", "skylake-avx512", "+fma,-prefer-256-bit")
AVX2 = llvm_pipeline.Target("x86_64-unknown-linux-gnu", "haswell", "+fma")
SSE = llvm_pipeline.Target("x86_64-unknown-linux-gnu", "x86-64-v2", "")
on_x86 = pytest.mark.skipif(
    not llvm_pipeline.host().triple.startswith("x86_64"), reason="the code generator of x86 is not there"
)


def text(body: str) -> str:
    lines = ["def kernel(lo, hi, table):", *(f"    {line}" for line in body.strip("\n").split("\n"))]
    return "\n".join(lines) + "\n"


def run_compiled(
    source: str, lo: int, hi: int, table: list[object], target: llvm_pipeline.Target | None = None
) -> None:
    module = compile_kernel(source, target=target)
    kernel = load_object(module.object_code, module.symbol)
    words = [slot.ctypes.data if isinstance(slot, np.ndarray) else slot for slot in table]
    array = np.array(words, np.int64)
    PROTOTYPE(kernel.address)(lo, hi, array.ctypes.data)


def check_same(body: str, count: int, table: list[object]) -> None:
    """Runs a text compiled and uncompiled over range(count); every buffer has the same bits afterwards."""
    copies = [slot.copy() if isinstance(slot, np.ndarray) else slot for slot in table]
    run_compiled(text(body), 0, count, table)
    run_kernel(text(body), 0, count, copies)
    for slot, (compiled, plain) in enumerate(zip(table, copies, strict=True)):
        if isinstance(compiled, np.ndarray):
            assert same_bits(compiled, plain), f"slot {slot}: {compiled} is not {plain}"


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    # Which NaN comes out of an operation on NaN is the processor's choice.
    if a.dtype.kind in "fc":
        nans = np.isnan(a)
        if not np.array_equal(nans, np.isnan(b)):
            return False
        a, b = np.where(nans, 0, a), np.where(nans, 0, b)
    return a.tobytes() == b.tobytes()


def interesting(kind: str) -> np.ndarray:
    """Values where operations have edges, all pairs of which are tried."""
    dtype = KINDS[kind].dtype
    if kind == "b1":
        return np.array([False, True])
    if kind in INTEGERS:
        limits = np.iinfo(dtype)
        values = {limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 7, limits.max // 3}
        return np.array(sorted(values | ({-1, -2, -7} if limits.min else set())), dtype)
    limits = np.finfo(dtype)
    positive = [0.0, limits.smallest_subnormal, limits.tiny, 0.3, 0.5, 1.0, 1.5, 2.5, 7.0, 1e6 + 0.5]
    values = [sign * value for value in [*positive, 3e9, float(limits.max), np.inf] for sign in (1, -1)]
    return np.array([*values, np.nan], dtype)


def pairs(kind: str) -> tuple[np.ndarray, np.ndarray]:
    values = interesting(kind)
    first, second = (grid.ravel().copy() for grid in np.meshgrid(values, values))
    return first, second


def binary_text(kind: str, results: dict[str, str]) -> tuple[str, list[np.ndarray]]:
    """One kernel that stores the result of many expressions over a and b, each into a buffer of its own."""
    lines = [f"a_ = ptr_{kind}(table, 0)", f"b_ = ptr_{kind}(table, 1)"]
    lines += [f"o{slot} = ptr_{result}(table, {slot})" for slot, result in enumerate(results.values(), 2)]
    lines += ["for i in range(lo, hi):", "    a = ld(a_, i)", "    b = ld(b_, i)"]
    lines += [f"    st(o{slot}, i, {expression})" for slot, expression in enumerate(results, 2)]
    first, second = pairs(kind)
    outputs = [np.zeros(first.size, KINDS[result].dtype) for result in results.values()]
    return "\n".join(lines), [first, second, *outputs]


COMPARISONS = {f"a {sign} b": "b1" for sign in ("<", "<=", ">", ">=", "==", "!=")}


@pytest.mark.parametrize("kind", FLOATS)
def test_float_words(kind):
    unary = ("sqrt", "rint", "floor", "ceil", "trunc", "round_away", "fabs")
    results = dict.fromkeys((f"{name}(a)" for name in unary), kind)
    results |= dict.fromkeys(("a + b", "a - b", "a * b", "a / b", "-a"), kind)
    results |= dict.fromkeys(("keep_min(a, b)", "keep_max(a, b)"), kind)
    results |= dict.fromkeys(("fmin(a, b)", "fmax(a, b)", "copysign(a, b)", "fmod(a, b)", "fma(a, b, b)"), kind)
    results |= dict.fromkeys(("select(a < b, a, b)", "fma(a, a, -b)", f"{kind}(a < b)"), kind)
    results |= COMPARISONS | {"not (a < b)": "b1", "b1(a)": "b1", "f32(a)": "f32", "f64(a)": "f64"}
    results |= {f"to_{target}(a)": target for target in INTEGERS}
    results |= {f"as_i{KINDS[kind].bits}(a)": f"i{KINDS[kind].bits}"}
    body, table = binary_text(kind, results)
    check_same(body, table[0].size, table)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_words(kind):
    bits = KINDS[kind].bits
    results = dict.fromkeys(("a + b", "a - b", "a * b", "a & b", "a | b", "a ^ b", "~a", "-a"), kind)
    results |= dict.fromkeys(("a + 1", "3 * a", "select(a < b, a, 0)"), kind)
    results |= dict.fromkeys(("fmin(a, b)", "fmax(a, b)", "ctpop(a)", "ctlz(a)", "cttz(a)"), kind)
    results |= dict.fromkeys((f"{name}(a, b & {bits - 1})" for name in ("shl", "lshr", "ashr")), kind)
    guarded = "select((b == 0) | (b == -1), 1, b)" if KINDS[kind].signed else "select(b == 0, 1, b)"
    results |= dict.fromkeys((f"{name}(a, {guarded})" for name in ("sdiv", "srem", "udiv", "urem")), kind)
    results |= COMPARISONS | {"b1(a)": "b1"} | {f"{target}(a)": target for target in (*INTEGERS, *FLOATS)}
    results |= {f"as_{target}(a)": target for target in (*INTEGERS, *FLOATS) if KINDS[target].bits == bits}
    body, table = binary_text(kind, results)
    check_same(body, table[0].size, table)


def test_bool_words():
    results = dict.fromkeys(("a & b", "a | b", "a ^ b", "~a", "not a", "select(a, b, a)"), "b1")
    results |= {f"{target}(a)": target for target in (*INTEGERS, *FLOATS)} | COMPARISONS
    body, table = binary_text("b1", results)
    check_same(body, table[0].size, table)


@pytest.mark.parametrize(("kind", "part"), [("c64", "f32"), ("c128", "f64")])
def test_complex_words(kind, part, rng):
    results = dict.fromkeys(("a + b", "a - b", "-a", "select(re(a) < re(b), a, b)"), kind)
    results |= {"re(a)": part, "im(b)": part, "cplx(im(a), re(b))": kind, "a == b": "b1", "a != b": "b1"}
    results |= {"c64(a)": "c64", "c128(a)": "c128", f"{kind}(re(a))": kind}
    lines = binary_text(part, results)[0].replace(f"_ = ptr_{part}", f"_ = ptr_{kind}")
    values = rng.normal(size=(2, 40)).astype(KINDS[kind].dtype) + 1j
    values[1, :9] = values[0, :9]
    outputs = [np.zeros(40, KINDS[result].dtype) for result in results.values()]
    check_same(lines, 40, [*values.astype(KINDS[kind].dtype), *outputs])


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_elements_at_steps_and_the_places_of_values(kind):
    values = np.tile(interesting(kind), 3)
    steps = "".join(f"    st(out, i * 9 + {step}, ld{step}(x, i * {step}))\n" for step in range(2, 9))
    body = f"x = ptr_{kind}(table, 0)\nout = ptr_{kind}(table, 1)\nplaces = ptr_i64(table, 2)\n"
    body += f"for i in range(lo, hi):\n{steps}"
    body += f"    st(places, i, first(x, 1, i, {values.size - 1}, ld(x, 1 + i)))\n"
    assert all(word in body for word in ("ld2", "ld3", "ld4", "ld5", "ld6", "ld7", "ld8"))
    count = values.size // 9
    check_same(body, count, [values, np.zeros(count * 9, values.dtype), np.zeros(count, np.int64)])


def test_blocks_that_stay_behind_a_jump():
    body = """
x = ptr_f64(table, 0)
out = ptr_f64(table, 1)
for i in range(lo, hi):
    v = ld(x, i)
    if v > f64(0.5):
        keep_jump()
        v = v * f64(2.0)
    st(out, i, v)
"""
    values = np.arange(16) / 16.0
    check_same(body, 16, [values, np.ones(16)])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_windows_around_an_array(kind):
    body = f"""
x = ptr_{kind}(table, 0)
out = ptr_{kind}(table, 1)
for i in range(lo, hi):
    v = ld_where(x, i - 3, (i > 2) & (i < 13))
    st(out, i, muladd(v, ldw_where(x, i, i < 10), v))
"""
    values = (np.arange(10) + 0.1).astype(KINDS[kind].dtype)
    check_same(body, 16, [values, np.ones(16, values.dtype)])


def test_every_word_is_tried():
    """Words that no test of this file names would go unnoticed."""
    with open(__file__, encoding="utf-8") as file:
        own = file.read()
    families = ("to_", "as_", "ptr_", "scratch_", "turn_", "load_", "store_", "call_", "atomic_", "cpu_")
    named = [name for name in INTRINSICS if not name.startswith(families) and name not in KINDS]
    assert [name for name in named if not re.search(rf"\b{name}\b", own)] == []


@pytest.mark.parametrize("header", ["range(3)", "range(1, 4)", "range(4, 1)", "range(9, -2, -3)", "range(a, b, c)"])
def test_loops(header):
    body = f"""
out = ptr_i64(table, 0)
a = word(table, 1)
b = word(table, 2)
c = word(table, 3)
n = 0
for i in {header}:
    if i == 7:
        continue
    for j in range(i):
        n += j
    n = n * 3 + i
    if n > 1000:
        break
while n > 500:
    n -= 101
st(out, 0, n)
"""
    for a, b, c in ((0, 8, 3), (8, 0, -3), (5, 5, 1)):
        check_same(body, 1, [np.zeros(1, np.int64), a, b, c])


def test_scratch_and_strides(rng):
    body = """
x = ptr_f32(table, 0)
out = ptr_f32(table, 1)
n = word(table, 2)
step = word(table, 3)
row = scratch_f32(n)
fixed = scratch_b1(5)
for i in range(lo, hi):
    top = f32(0.0)
    for j in range(n):
        v = ld(x, i * 8 - j * step)
        st(row, j, v)
        top = fmax(top, v)
    st(fixed, i & 3, top > f32(1.0))
    for j in range(n):
        st(out, i * n + j, select(ldw(fixed, i & 3), ldw(row, j), top))
"""
    values = rng.normal(size=48).astype(np.float32)
    check_same(body, 6, [values, np.zeros(6 * 7, np.float32), 7, -1])


def test_uncompiled_pointers_are_checked():
    body = "x = ptr_f64(table, 0)\nst(x, {0}, ld(x, {1}))"
    for write, read in ((4, 0), (0, 4), (-1, 0), (0, -1)):
        with pytest.raises(IndexError, match="outside the buffer of elements 0 to 3"):
            run_kernel(text(body.format(write, read)), 0, 1, [np.zeros(4)])
    with pytest.raises(TypeError, match="float32"):
        run_kernel(text("st(ptr_f64(table, 0), 0, f32(1.0))"), 0, 1, [np.zeros(4)])
    reversed_view = np.arange(4.0)[::-1]
    out = np.zeros(1)
    run_kernel(text("st(ptr_f64(table, 1), 0, ld(ptr_f64(table, 0), -3))"), 0, 1, [reversed_view, out])
    assert out[0] == 0.0


# The machine code


ADD_IN_PLACE = "x = ptr_f32(table, 0)\ny = ptr_f32(table, 1)\nfor i in range(lo, hi):\n    "
ADD_IN_PLACE += "st(x, i, ldw(x, i) + ld(y, i) * f32(3.0))"
SWAP = "x = ptr_f64(table, 0)\ny = ptr_f64(table, 1)\nfor i in range(lo, hi):\n    a = ldw(x, i)\n    "
SWAP += "st(x, i, ldw(y, i))\n    st(y, i, a)"
ROWS = """
x = ptr_f32(table, 0)
out = ptr_f32(table, 1)
n = word(table, 2)
for i in range(lo, hi):
    for j in range(n):
        st(out, i * n + j, ld(x, i * n + j) / f32(3.0))
"""
SUM = "x = ptr_f32(table, 0)\nout = ptr_f32(table, 1)\na = f32(0.0)\n"
SUM += "for i in range(lo, lo + ((hi - lo) & -64)):\n    "
SUM += "v = ld(x, i)\n    a = radd(a, v * v)\nst(out, 0, a)"
MAXIMUM = SUM.replace("radd(a, v * v)", "fmax(a, v)")
BOOLS = "x = ptr_i32(table, 0)\nout = ptr_b1(table, 1)\nfor i in range(lo, hi):\n    st(out, i, ld(x, i) > 3)"


@on_x86
@pytest.mark.parametrize("body", [ADD_IN_PLACE, SWAP, ROWS, SUM, MAXIMUM, BOOLS])
def test_loops_vectorise_without_checks(body):
    wide = compile_kernel(text(body), keep_ir=True, target=AVX512)
    assert re.search(r"<(16|64) x (float|i32)>|<8 x double>", wide.llvm_ir)
    assert "memcheck" not in wide.llvm_ir
    narrow = compile_kernel(text(body), keep_ir=True, target=AVX2)
    assert re.search(r"<(8|64) x (float|i32)>|<4 x double>", narrow.llvm_ir)
    assert wide.externals == narrow.externals == ()


@pytest.mark.parametrize(("kind", "lanes"), [("f32", 64), ("f64", 32)])
@pytest.mark.parametrize(("word", "identity"), [("add", 0.0), ("mul", 1.0)])
def test_lanes_are_combined_in_a_tree(kind, lanes, word, identity, rng):
    """Elements side by side, then halves, whatever vectors the processor has."""
    many, few = {"add": ("radd", "radd8"), "mul": ("rmul", "rmul8")}[word]
    body = f"""
x = ptr_{kind}(table, 0)
out = ptr_{kind}(table, 1)
a = {kind}({identity})
b = {kind}({identity})
for i in range(0, {3 * lanes}):
    a = {many}(a, ld(x, i))
for i in range({3 * lanes}, {3 * lanes + 16}):
    b = {few}(b, ld(x, i))
st(out, 0, a)
st(out, 1, b)
"""
    values, out = (1 + rng.normal(size=3 * lanes + 16) / 9).astype(KINDS[kind].dtype), np.zeros(2, KINDS[kind].dtype)
    run_compiled(text(body), 0, 1, [values, out])
    combine = np.add if word == "add" else np.multiply
    for found, part, count in zip(out, np.split(values, [3 * lanes]), (lanes, 8), strict=True):
        sums = functools.reduce(combine, part.reshape(-1, count))
        while len(sums) > 1:
            sums = combine(*np.split(sums, 2))
        assert found == sums[0]


def test_nothing_is_contracted_or_reordered(rng):
    body = """
a_ = ptr_f64(table, 0)
b_ = ptr_f64(table, 1)
out = ptr_f64(table, 2)
for i in range(lo, hi):
    a = ld(a_, i)
    b = ld(b_, i)
    st(out, i, ((a + b) - a) * b + a / f64(3.0))
"""
    a, b = rng.normal(size=(2, 4096)) * 10.0 ** rng.integers(-9, 9, (2, 4096))
    out = np.zeros(4096)
    run_compiled(text(body), 0, 4096, [a, b, out])
    assert out.tobytes() == (((a + b) - a) * b + a / 3.0).tobytes()
    assert "fma" not in compile_kernel(text(body), keep_ir=True).llvm_ir


@on_x86
def test_fma_is_not_a_library_call_where_the_processor_lacks_it():
    body = "x = ptr_f64(table, 0)\nfor i in range(lo, hi):\n    v = ldw(x, i)\n    st(x, i, fma(v, v, v))"
    assert compile_kernel(text(body), target=SSE).externals == ()
    assert "llvm.fma" in compile_kernel(text(body), target=AVX2, keep_ir=True).llvm_ir


@pytest.mark.parametrize("target", [None, pytest.param(SSE, marks=on_x86)], ids=["own", "old"])
def test_exact_fma_has_an_exact_product_everywhere(target: llvm_pipeline.Target | None) -> None:
    body = "x = ptr_f32(table, 0)\nout = ptr_f32(table, 1)\nfor i in range(lo, hi):\n    v = ld(x, i)\n"
    body += "    st(out, i, exact_fma(v, v, f32(-1.0)))"
    values = np.float32(1.0) + np.arange(1, 400, dtype=np.float32) * np.float32(2.0**-23)
    out = np.zeros_like(values)
    run_compiled(text(body), 0, values.size, [values, out], target)
    assert np.array_equal(out, (values.astype(np.float64) ** 2 - 1).astype(np.float32))
    assert compile_kernel(text(body), target=target).externals == ()
    check_same(body, values.size, [values, np.zeros_like(values)])


def test_overlap_through_one_slot_is_respected():
    """A running sum in place reads what the step before wrote."""
    body = "x = ptr_i64(table, 0)\nfor i in range(lo, hi):\n    st(x, i + 1, ldw(x, i + 1) + ldw(x, i))"
    values = np.arange(200)
    expected = np.cumsum(values)
    run_compiled(text(body), 0, 199, [values])
    assert np.array_equal(values, expected)


@on_x86
def test_elements_at_positions_from_data_are_loaded_one_by_one():
    if "+avx2" not in llvm_pipeline.host().features.split(","):
        pytest.skip("this processor has no gathers")
    body = """
at = ptr_i64(table, 0)
x = ptr_f64(table, 1)
out = ptr_f64(table, 2)
for i in range(lo, hi):
    st(out, i, ld(x, ld(at, i)) + f64(1.0))
"""
    ir = compile_kernel(text(body), keep_ir=True).llvm_ir
    assert "gather" not in ir and re.search(r"store <\d+ x double>", ir)


# Errors


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("st(x, 0, f32(1.0))", "st writes f32 through a pointer to f64"),
        ("st(x, 0, f32(1.0) + 1.0)", "takes operands of one type; got f32, f64"),
        ("st(x, 0, f64(1.0) + 1)", "takes operands of one type; got f64, int:1"),
        ("st(x, f64(1.0), f64(1.0))", "st: index is not defined for f64"),
        ("st(x, 0, ld(lo, 0))", "a pointer is expected; got i64"),
        ("st(x, 0, sqrt(lo))", "sqrt is not defined for i64"),
        ("st(x, 0, sqrt(f64(1.0), f64(2.0)))", "sqrt takes 1 operands; got 2"),
        ("st(x, 0, select(lo, f64(1.0), f64(2.0)))", "select is not defined for i64"),
        ("st(x, 0, f64(lo // 2))", "the kernel language has no"),
        ("st(x, 0, abs(f64(1.0)))", "the kernel language has no"),
        ("st(x, 0, ld(x))", "ld does not take 1 operands"),
        ("st(x, 0, missing(1))", "missing"),
        ("for i in range(1, 2, 0): st(x, 0, f64(1.0))", "range with step 0"),
    ],
)
def test_text_outside_the_language(statement, message):
    with pytest.raises(KernelTypeError, match=re.escape(message)):
        compile_kernel(text(f"x = ptr_f64(table, 0)\n{statement}"))


# What others are made of is in the keys of objects by itself, or decides no machine code.
DECIDES_NOTHING = {"digests", "fingerprint", "intrinsics", "toolchain", "uncompiled"}


def test_everything_that_decides_machine_code_is_in_the_key_of_an_object() -> None:
    codegen = Path(fingerprint.__file__).parents[1]
    hashed = {path.stem for pattern in fingerprint.COMPILER_FILES for path in codegen.glob(pattern)}
    assert "numerics" in hashed
    waiting, found = [compile_kernel.__module__], set[str]()
    while waiting:
        name = waiting.pop()
        file = codegen.parents[1] / f"{name.replace('.', '/')}.py"
        of_compiler = name.startswith(("xjit.codegen.", "xjit.llvm.")) and not name.startswith("xjit.codegen.vmath")
        if name in found or not of_compiler or not file.exists():
            continue
        found.add(name)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                waiting += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    assert {name.rpartition(".")[2] for name in found} - hashed == DECIDES_NOTHING
