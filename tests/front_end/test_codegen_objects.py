"""Inline functions, runtime code, loaded objects, the stock front end, and behaviour as part of a process."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end import numba_compat
from xjit.codegen.front_end.numba_compat import compile_kernel, compile_native, native_key, object_key
from xjit.codegen.language import inline_functions
from xjit.codegen.language.inline_functions import inline, register
from xjit.codegen.language.intrinsics import (
    atomic_add_i64,
    atomic_cas_i64,
    atomic_load_i64,
    atomic_store_i64,
    call_i64_i64x2,
    call_void_i64x1,
    cpu_pause,
    f64,
    load_f64,
    load_i32,
    load_i64,
    select,
    store_f64,
    store_i64,
)
from xjit.codegen.language.scalar_types import KernelTypeError
from xjit.codegen.language.uncompiled import run_kernel
from xjit.errors import FallbackWarning
from xjit.llvm import elf
from xjit.runtime.loading import loader
from xjit.runtime.loading.disk_cache import DiskCache
from xjit.runtime.loading.loader import load_object

I64 = ctypes.c_int64
KERNEL = ctypes.CFUNCTYPE(None, I64, I64, ctypes.c_void_p)
SCALE = 1.5


@inline("f64(f64)")
def square_in_tests_f64(x):
    return x * x + SCALE


@inline("f64(f64,f64)")
def quartic_in_tests_f64(x, y):
    return square_in_tests_f64(square_in_tests_f64(x)) - select(x < y, y, x)


@inline("f64(f64)", out_of_line=True)
def distant_in_tests_f64(x):
    return square_in_tests_f64(x) * f64(0.5)


@inline("f64(f64)")
def shifted_in_tests_f64(x):
    return distant_in_tests_f64(x) + f64(1.0)


QUARTIC = """
def kernel(lo, hi, table):
    x = ptr_f64(table, 0)
    out = ptr_f64(table, 1)
    for i in range(lo, hi):
        st(out, i, quartic_in_tests_f64(ld(x, i), f64(0.25)))
"""
DOUBLE = """
def kernel(lo, hi, table):
    x = ptr_f64(table, 0)
    for i in range(lo, hi):
        st(x, i, ldw(x, i) * f64(2.0))
"""


def run(module: numba_compat.CompiledModule, lo: int, hi: int, *arrays: np.ndarray) -> None:
    kernel = load_object(module.object_code, module.symbol)
    table = np.array([array.ctypes.data for array in arrays], np.int64)
    KERNEL(kernel.address)(lo, hi, table.ctypes.data)


def quartic(x: np.ndarray) -> np.ndarray:
    return (x * x + SCALE) * (x * x + SCALE) + SCALE - np.where(x < 0.25, 0.25, x)


# Inline functions


def test_inline_functions_in_kernels(rng):
    x = rng.normal(size=100)
    compiled, plain = np.zeros(100), np.zeros(100)
    run(compile_kernel(QUARTIC), 0, 100, x, compiled)
    run_kernel(QUARTIC, 0, 100, [x, plain])
    assert compiled.tobytes() == plain.tobytes() == quartic(x).tobytes()


def test_inline_functions_leave_no_call_and_vectorise():
    module = compile_kernel(QUARTIC, keep_ir=True)
    assert "in_tests" not in module.llvm_ir
    symbols = elf.symbols(module.object_code)
    assert symbols is None or (symbols.undefined == () and not any("in_tests" in name for name in symbols.defined))
    if llvm_pipeline.host().traits.fma:
        assert "x double>" in module.llvm_ir


def test_functions_out_of_line(rng):
    source = QUARTIC.replace(
        "quartic_in_tests_f64(ld(x, i), f64(0.25))", "distant_in_tests_f64(ld(x, i)) * shifted_in_tests_f64(ld(x, i))"
    )
    module = compile_kernel(source, keep_ir=True)
    assert module.externals == ()
    assert re.search(r"define internal .*distant_in_tests_f64", module.llvm_ir)
    assert not re.search(r"define .*(square|shifted)_in_tests", module.llvm_ir)
    x, out = rng.normal(size=100), np.zeros(100)
    run(module, 0, 100, x, out)
    distant = (x * x + SCALE) * 0.5
    assert out.tobytes() == (distant * (distant + 1.0)).tobytes()


def test_inline_ir_is_self_contained_and_kept():
    text = numba_compat.inline_function_ir("quartic_in_tests_f64")
    assert text is numba_compat.inline_function_ir("quartic_in_tests_f64")
    assert "alwaysinline" in text
    assert "call" not in text
    with pytest.raises(KeyError, match="no_such_function"):
        numba_compat.inline_function_ir("no_such_function")


def test_inline_ir_goes_through_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(numba_compat, "_INLINE_IR", {})
    store = DiskCache(tmp_path / "cache").shelf("inline")
    numba_compat.use_store(store)
    try:
        text = numba_compat.inline_function_ir("square_in_tests_f64")
        monkeypatch.setattr(numba_compat, "_INLINE_IR", {})
        monkeypatch.setattr(numba_compat, "_make_inline_ir", None)
        assert numba_compat.inline_function_ir("square_in_tests_f64") == text
    finally:
        numba_compat.use_store(None)


def test_one_name_one_function():
    with pytest.raises(ValueError, match="registered already"):
        register("square_in_tests_f64", quartic, "f64(f64)")
    with pytest.raises(ValueError, match="written like"):
        register("unused_name", quartic, "f64 f64")
    assert inline_functions.used_in("f(square_in_tests_f64(x), square_in_tests)") == (square_in_tests_f64,)


def test_inline_function_with_wrong_types():
    with pytest.raises(KernelTypeError, match=r"square_in_tests_f64 takes f64; got f32"):
        compile_kernel("def kernel(lo, hi, table):\n    square_in_tests_f64(f32(1.0))\n")


# Keys


def changed(function, **values):
    """The function with other values in its globals."""
    return type(function)(function.__code__, {**function.__globals__, **values})


def test_keys_name_everything_that_matters():
    base = inline_functions.function_key(square_in_tests_f64.function)
    assert base == inline_functions.function_key(changed(square_in_tests_f64.function))
    assert base != inline_functions.function_key(changed(square_in_tests_f64.function, SCALE=2.5))
    assert base != inline_functions.function_key(lambda x: x * x - SCALE)
    outer = quartic_in_tests_f64.function
    other = inline_functions.InlineFunction("square_in_tests_f64", lambda x: x, "f64(f64)")
    assert inline_functions.function_key(outer) != inline_functions.function_key(
        changed(outer, square_in_tests_f64=other)
    )


def test_object_keys(monkeypatch):
    key = object_key(QUARTIC)
    assert key == object_key(QUARTIC)
    assert key != object_key(QUARTIC + "\n")
    monkeypatch.setattr(square_in_tests_f64, "_key", "changed")
    monkeypatch.setattr(quartic_in_tests_f64, "_key", None)
    assert key != object_key(QUARTIC)
    other = llvm_pipeline.Target(llvm_pipeline.host().triple, "another", "")
    monkeypatch.setattr(numba_compat, "host", lambda: other)
    assert object_key(DOUBLE) != native_key(add, "i64(i64)", "add")


def test_key_is_the_same_in_another_process():
    code = f"from xjit.codegen.front_end.numba_compat import object_key; print(object_key({DOUBLE!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == object_key(DOUBLE)


ROOT = Path(__file__).resolve().parents[2]


# Runtime code


def add(a, b):
    return a + b


def drain(counter, limit, total):
    """Takes numbers from a shared counter and adds them up."""
    while True:
        mine = atomic_add_i64(counter, 1)
        if mine >= limit:
            break
        old = atomic_load_i64(total)
        while atomic_cas_i64(total, old, old + mine) != old:
            cpu_pause()
            old = atomic_load_i64(total)
    return load_i64(counter)


def memory(address, function, data):
    store_f64(address, load_f64(address) + f64(load_i32(data)))
    atomic_store_i64(address + 8, call_i64_i64x2(function, load_i64(data + 8), 5))
    store_i64(address + 16, -1)
    call_void_i64x1(load_i64(data + 16), address)


def load_native(function, signature: str) -> loader.LoadedKernel:
    module = compile_native(function, signature, function.__name__)
    assert module.externals == ()
    return load_object(module.object_code, module.symbol, forever=True)


def test_atomics_between_threads():
    kernel = load_native(drain, "i64(i64,i64,i64)")
    call = ctypes.CFUNCTYPE(I64, I64, I64, I64)(kernel.address)
    cells = np.zeros(32, np.int64)
    arguments = (cells.ctypes.data, 20000, cells[16:].ctypes.data)
    threads = [threading.Thread(target=call, args=arguments) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cells[16] == sum(range(20000))
    assert cells[0] == 20004


def test_memory_and_calls_compiled_and_uncompiled():
    kernel = load_native(memory, "void(i64,i64,i64)")
    seen: list[int] = []
    callback = ctypes.CFUNCTYPE(None, I64)(seen.append)
    adder = ctypes.CFUNCTYPE(I64, I64, I64)(lambda a, b: a * 10 + b)
    address, function = ctypes.cast(callback, ctypes.c_void_p).value, ctypes.cast(adder, ctypes.c_void_p).value
    data = np.array([7, 4, address], np.int64)
    for call in (ctypes.CFUNCTYPE(None, I64, I64, I64)(kernel.address), memory):
        cells = np.zeros(3, np.int64)
        cells.view(np.float64)[0] = 0.5
        call(cells.ctypes.data, function, data.ctypes.data)
        assert cells.view(np.float64)[0] == 7.5
        assert cells[1:].tolist() == [45, -1]
        assert seen.pop() == cells.ctypes.data


# Loading


def test_stored_objects_round_trip(rng):
    module = compile_kernel(DOUBLE)
    data = loader.pack(loader.StoredObject(module.object_code, module.symbol, ("memset", "fmod")))
    stored = loader.unpack(data)
    assert stored == loader.StoredObject(module.object_code, "kernel", ("memset", "fmod"))
    for size in (0, 7, 8, 10, 20):
        with pytest.raises(ValueError, match="shorter"):
            loader.unpack(data[:size])


def test_unknown_symbols_are_refused():
    target = llvm_pipeline.host()
    ir = "declare void @no_such_function()\ndefine void @kernel() {\n  call void @no_such_function()\n  ret void\n}\n"
    module = llvm_pipeline.parse(ir, target)
    with pytest.raises(llvm_pipeline.UnresolvedSymbolError, match="no_such_function"):
        llvm_pipeline.emit_object(module, target)
    code = bytes(llvm_pipeline.target_machine(target).emit_object(module))
    with pytest.raises(llvm_pipeline.UnresolvedSymbolError, match="no_such_function"):
        load_object(code, "kernel", externals=("no_such_function",))
    assert llvm_pipeline.declared_symbols(module) == ("no_such_function",)


@pytest.mark.parametrize("name", ["pow", "exp", "log", "sin", "cos"])
def test_functions_that_libraries_compute_in_their_own_ways_are_refused(name):
    for symbol in (name, f"{name}f"):
        with pytest.raises(llvm_pipeline.UnresolvedSymbolError, match=symbol):
            llvm_pipeline.check_externals((symbol,))


def test_library_functions_resolve(rng):
    target = llvm_pipeline.host()
    ir = "declare double @fmod(double, double)\ndefine double @kernel(double %a, double %b) {\n"
    module = llvm_pipeline.parse(f"{ir}  %c = call double @fmod(double %a, double %b)\n  ret double %c\n}}\n", target)
    code, externals = llvm_pipeline.emit_object(module, target)
    assert externals == ("fmod",)
    kernel = load_object(code, "kernel", externals=externals)
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(kernel.address)(7.5, 2.0) == 1.5


@pytest.mark.skipif(sys.platform != "linux", reason="the reader knows ELF")
def test_wrong_objects_are_refused():
    code = compile_kernel(DOUBLE).object_code
    with pytest.raises(ValueError, match="no function other"):
        load_object(code, "other")
    for size in (7, 40, 64, 300, len(code) - 64, len(code) - 1):
        with pytest.raises(ValueError, match="damaged"):
            load_object(code[:size], "kernel")
    with pytest.raises(ValueError, match="not known"):
        load_object(b"something else", "kernel")


def test_code_lives_as_long_as_its_object():
    kernels = [load_object(compile_kernel(DOUBLE).object_code, "kernel") for _ in range(5)]
    addresses = {kernel.address for kernel in kernels}
    assert len(addresses) == 5
    last = kernels.pop()
    del kernels
    gc.collect()
    values = np.ones(10)
    KERNEL(last.address)(0, 10, np.array([values.ctypes.data]).ctypes.data)
    assert values.tolist() == [2.0] * 10


# The stock front end


def drifted(*arguments, **options):
    raise AttributeError("a part of Numba that is not there")


@pytest.fixture
def stock(monkeypatch):
    """Numba's private parts are missing."""
    from xjit.codegen.front_end.numba_frontend import Frontend

    monkeypatch.setattr(numba_compat, "_FRONTENDS", {})
    monkeypatch.setattr(numba_compat, "_INLINE_IR", {})
    monkeypatch.setattr(Frontend, "translate", drifted)


def test_stock_front_end_gives_the_same_numbers(stock, rng):
    x = rng.normal(size=100)
    out = np.zeros(100)
    with pytest.warns(FallbackWarning, match="not as expected"):
        module = compile_kernel(QUARTIC)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(module, 0, 100, x, out)
        assert out.tobytes() == quartic(x).tobytes()
        values = np.arange(100, dtype=np.uint8)
        run(compile_kernel(NARROW), 0, 100, values)
        assert values.tolist() == [((i * 5) % 256 >> 1) ^ 255 if i % 3 else i for i in range(100)]


NARROW = """
def kernel(lo, hi, table):
    x = ptr_u8(table, 0)
    i = lo
    while i < hi:
        if not (srem(i, 3) == 0):
            v = ldw(x, i)
            v *= 5
            st(x, i, ~lshr(v, 1))
        i += 1
"""


def test_stock_front_end_knows_vector_functions(stock, rng):
    """Their texts are found, also where a program has written them, and numbers in them computed."""
    x, out = rng.uniform(0.5, 2.0, 100), np.zeros(100)
    with pytest.warns(FallbackWarning, match="not as expected"):
        module = compile_kernel(LOGARITHM)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(module, 0, 100, x, out)
    np.testing.assert_allclose(out, np.log(x), rtol=1e-14, atol=1e-16)


LOGARITHM = """
def kernel(lo, hi, table):
    x = ptr_f64(table, 0)
    out = ptr_f64(table, 1)
    for i in range(lo, hi):
        st(out, i, log_f64(ld(x, i)))
"""


def test_stock_front_end_says_what_is_wrong(stock):
    with pytest.warns(FallbackWarning), pytest.raises(KernelTypeError, match="sqrt"):
        compile_kernel("def kernel(lo, hi, table):\n    sqrt(lo)\n")


def test_an_odd_text_does_not_condemn_numba():
    with pytest.raises(KernelTypeError):
        compile_kernel("def kernel(lo, hi, table):\n    yield lo\n")
    assert compile_kernel(DOUBLE).seconds < 30


# The process


def test_compiling_from_many_threads(rng):
    results: list[np.ndarray] = []

    def work(factor: int) -> None:
        values = np.ones(50)
        run(compile_kernel(DOUBLE.replace("2.0", f"{factor}.0")), 0, 50, values)
        results.append(values == factor)

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert np.all(results)


def test_garbage_collection_is_left_as_found():
    assert gc.isenabled()
    compile_kernel(DOUBLE)
    assert gc.isenabled()
    gc.disable()
    try:
        compile_kernel(DOUBLE)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_process_can_compile():
    stop = threading.Event()

    def keep_compiling() -> None:
        while not stop.is_set():
            compile_kernel(DOUBLE)

    thread = threading.Thread(target=keep_compiling)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            values = np.ones(3)
            run(compile_kernel(DOUBLE), 0, 3, values)
            os._exit(0 if values[2] == 2.0 else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_cached_objects_need_no_numba(tmp_path):
    code = f"""
import sys
from xjit.codegen.front_end import numba_compat
from xjit.runtime.loading import loader
assert not {{"numba", "llvmlite"}} & sys.modules.keys()
numba_compat.object_key({DOUBLE!r})
stored = loader.unpack(open({str(tmp_path / "object")!r}, "rb").read())
assert loader.load_object(stored.object_code, stored.symbol, externals=stored.externals).address
assert "numba" not in sys.modules
"""
    module = compile_kernel(DOUBLE)
    stored = loader.StoredObject(module.object_code, module.symbol, module.externals)
    (tmp_path / "object").write_bytes(loader.pack(stored))
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
