"""The call path from Python to kernels, native and in Python: both must behave alike."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import gc
import itertools
import pickle
import struct
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.runtime.parallel.test_runtime_pool import native_kernels
from xjit.runtime.calls import entry
from xjit.runtime.calls.entry_python import PythonEntry
from xjit.runtime.calls.entry_selftest import selftest_program
from xjit.runtime.calls.records import ArraySpec, Conditions, FastProgram, KernelCall, ScalarSpec
from xjit.runtime.miss import MISS
from xjit.runtime.native import native_code
from xjit.runtime.parallel import threads

F64 = np.dtype(np.float64)
I64 = np.dtype(np.int64)
Make = Callable[[FastProgram], entry.Entry]

KERNELS = r"""
; table: a, b, c, out (float64).  out = a * b + c
define void @multiply_add(i64 %low, i64 %high, ptr %table) {
entry:
  %a = call ptr @pointer(ptr %table, i64 0)
  %b = call ptr @pointer(ptr %table, i64 1)
  %c = call ptr @pointer(ptr %table, i64 2)
  %out = call ptr @pointer(ptr %table, i64 3)
  for %i from %low below %high
    %a_place = call ptr @place(ptr %a, i64 %i)
    %x = load double, ptr %a_place
    %b_place = call ptr @place(ptr %b, i64 %i)
    %y = load double, ptr %b_place
    %c_place = call ptr @place(ptr %c, i64 %i)
    %z = load double, ptr %c_place
    %product = fmul double %x, %y
    %sum = fadd double %product, %z
    %out_place = call ptr @place(ptr %out, i64 %i)
    store double %sum, ptr %out_place
  end %i
  ret void
}

; table: flag, out (int64).  Waits until the flag is set, for at most %high rounds; out = whether it was.
define void @await(i64 %low, i64 %high, ptr %table) {
entry:
  %flag = call ptr @pointer(ptr %table, i64 0)
  %out = call ptr @pointer(ptr %table, i64 1)
  for %i below %high
    %value = load volatile i64, ptr %flag
    %unset = icmp eq i64 %value, 0
    br i1 %unset, label %again, label %done
again:
  end %i
  br label %done
done:
  %seen = load volatile i64, ptr %flag
  store i64 %seen, ptr %out
  ret void
}
"""

PythonKernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))


@pytest.fixture(scope="module")
def kernels() -> native_code.NativeModule:
    return native_kernels(KERNELS)


@pytest.fixture(params=["native", "python"])
def make(request: pytest.FixtureRequest) -> Make:
    native = entry.native_entries()
    assert native is not None, "the native entry does not work here"
    return native.make if request.param == "native" else PythonEntry


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    with threads.threads(3):
        yield


def array_of(*shape: int, dtype: Any = F64, order: Any = "C") -> ArraySpec:
    model = np.empty(shape, dtype, order)
    return ArraySpec(np.dtype(dtype), shape, model.strides)


def patches(*buffers: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((slot, buffer, 0) for slot, buffer in enumerate(buffers))


def multiply_add(
    kernels: native_code.NativeModule, spec: ArraySpec, chunk: int | None = None, *, heavy: bool = False
) -> FastProgram:
    size = int(np.prod(spec.shape))
    call = KernelCall(kernels.function("multiply_add"), size, chunk or max(size, 1), (0,) * 4, patches(0, 1, 2, 3))
    return FastProgram((spec, spec, spec), (spec,), (), (call,), True, heavy)


def three(spec: ArraySpec) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(7)
    arrays = [np.ndarray(spec.shape, spec.dtype, strides=spec.strides) for _ in range(3)]
    for array in arrays:
        array[...] = random.standard_normal(spec.shape)
    return arrays


class Spy:
    """A kernel in Python that notes the table of every call."""

    def __init__(self, words: int, action: Callable[[], object] = lambda: None) -> None:
        self.words = words
        self.calls: list[tuple[int, int, tuple[int, ...]]] = []
        self._action = action
        self._kernel = PythonKernel(self._note)

    def _note(self, low: int, high: int, table: Any) -> None:
        self.calls.append((low, high, tuple(table[slot] for slot in range(self.words))))
        self._action()

    @property
    def address(self) -> int:
        return ctypes.cast(self._kernel, ctypes.c_void_p).value or 0


# ------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize(
    "spec",
    [
        array_of(10),
        array_of(),
        array_of(0),
        array_of(3, 0, 2),
        array_of(7, 5),
        array_of(7, 5, order="F"),
        ArraySpec(F64, (2, 3, 4), (32, 64, 8)),
        array_of(100, 1000),
    ],
    ids=lambda spec: f"{spec.shape} {spec.strides}",
)
@pytest.mark.parametrize("chunk", [None, 3, 999])
def test_result_equals_numpy(make: Make, kernels: Any, spec: ArraySpec, chunk: int | None, heavy: bool) -> None:
    run = make(multiply_add(kernels, spec, chunk, heavy=heavy))
    a, b, c = three(spec)
    result = run(a, b, c)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, a * b + c, strict=True)
    assert result.strides == spec.strides
    assert result.dtype is spec.dtype
    assert result.flags.owndata and result.flags.writeable and result.flags.aligned
    model = np.ndarray(spec.shape, spec.dtype, strides=spec.strides)
    assert result.flags.c_contiguous == model.flags.c_contiguous
    assert result.flags.f_contiguous == model.flags.f_contiguous


def test_every_call_returns_new_memory(make: Make, kernels: Any) -> None:
    run = make(multiply_add(kernels, array_of(10)))
    a, b, c = three(array_of(10))
    first, second = run(a, b, c), run(a, b, c)
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    assert not np.shares_memory(first, second)


def test_scalars_temporaries_and_two_outputs(make: Make) -> None:
    native = entry.native_entries()
    assert native is not None
    run = make(selftest_program(native.selftest_kernel))
    x, y = np.arange(12.0).reshape(3, 4), np.ones((3, 4)) / 3
    for factor, number, flag in ((1.5, -7, True), (float("inf"), 2**63 - 1, False), (-0.0, -(2**63), True)):
        result = run(x, y, factor, number, flag)
        assert isinstance(result, tuple)
        with np.errstate(invalid="ignore"):
            first = x * factor + y
        np.testing.assert_array_equal(result[0], first)
        np.testing.assert_array_equal(result[1], (first + float(number) + float(flag)).T)


def test_no_outputs_and_one_output_in_a_tuple(make: Make) -> None:
    assert make(FastProgram((), (), (), (), False))() == ()
    result = make(FastProgram((), (array_of(4),), (), (), False))()
    assert isinstance(result, tuple) and len(result) == 1
    assert result[0].shape == (4,)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "c16", "m8[s]", [("a", "i4"), ("b", "f8")]])
def test_any_plain_dtype_can_be_an_output(make: Make, dtype: Any) -> None:
    spec = array_of(3, 2, dtype=dtype)
    result = make(FastProgram((spec,), (spec,), (), (), True))(np.zeros((3, 2), spec.dtype))
    assert isinstance(result, np.ndarray)
    assert result.dtype == spec.dtype


def test_tables_hold_constants_and_patched_addresses(make: Make) -> None:
    spy = Spy(6)
    call = KernelCall(spy.address, 5, 5, (11, 0, 22, 0, 0, 33), ((1, 0, 16), (3, 1, -8), (4, 2, 0)))
    run = make(FastProgram((array_of(4), array_of(3)), (array_of(2),), (), (call,), True))
    a, b = np.zeros(4), np.zeros(3)
    result = run(a, b)
    assert isinstance(result, np.ndarray)
    expected = (11, a.ctypes.data + 16, 22, b.ctypes.data - 8, result.ctypes.data, 33)
    assert spy.calls == [(0, 5, expected)]


def test_calls_run_in_order_with_their_own_tables(make: Make) -> None:
    spy = Spy(2)
    calls = tuple(KernelCall(spy.address, extent, 9, (extent, -extent), ()) for extent in (4, 0, 9, 1))
    make(FastProgram((), (), (), calls, False))()
    assert spy.calls == [(0, 4, (4, -4)), (0, 9, (9, -9)), (0, 1, (1, -1))]


def test_temporaries_are_aligned_and_apart(make: Make) -> None:
    sizes = (1, 200, 0, 64, 1000)
    spy = Spy(len(sizes))
    call = KernelCall(spy.address, 1, 1, (0,) * len(sizes), patches(*range(len(sizes))))
    make(FastProgram((), (), sizes, (call,), False))()
    addresses = spy.calls[0][2]
    assert all(address % 64 == 0 for address in addresses)
    spans = sorted((address, address + size) for address, size in zip(addresses, sizes, strict=True) if size)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_scalar_arguments_are_stored_as_their_dtype(make: Make) -> None:
    stored: list[bytes] = []
    spy = Spy(3, lambda: stored.extend(ctypes.string_at(address, 8) for address in spy.calls[-1][2][:2]))
    call = KernelCall(spy.address, 1, 1, (0,) * 3, patches(0, 1, 2))
    scalars = (ScalarSpec(F64), ScalarSpec(I64), ScalarSpec(np.dtype(bool)))
    make(FastProgram(scalars, (), (), (call,), False))(-2.5, -3, True)
    assert stored == [struct.pack("=d", -2.5), struct.pack("=q", -3)]


# ------------------------------------------------------------------------------------------- misses


@pytest.mark.parametrize("pairs", [[], [(0, 1)], [(0, 2)], [(1, 2), (0, 1)], [(0, 1), (0, 2), (1, 2)]])
def test_inputs_that_have_to_be_apart(make: Make, kernels: Any, pairs: list[tuple[int, int]]) -> None:
    program = dataclasses.replace(multiply_add(kernels, array_of(10)), conditions=Conditions(tuple(pairs)))
    run, arrays = make(program), [np.ones(10) for _ in range(3)]
    for chosen in itertools.product(range(3), repeat=3):
        one = any(chosen[a] == chosen[b] for a, b in pairs)
        assert (run(*(arrays[k] for k in chosen)) is MISS) == one


def test_functions_that_have_to_keep_their_code(make: Make, kernels: Any) -> None:
    def first() -> int:
        return 1

    def second() -> int:
        return 2

    codes = [(function, function.__code__) for function in (first, second)]
    program = dataclasses.replace(multiply_add(kernels, array_of(10)), conditions=Conditions((), tuple(codes)))
    run, a = make(program), np.ones(10)
    for function, code in codes:
        assert run(a, a, a) is not MISS
        function.__code__ = (lambda: 3).__code__
        assert run(a, a, a) is MISS
        function.__code__ = code
    assert run(a, a, a) is not MISS


class Subclass(np.ndarray):
    pass


def unaligned(count: int) -> np.ndarray[Any, Any]:
    return np.zeros(8 * count + 1, np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize(
    "argument",
    [
        np.zeros(11),
        np.zeros((10, 1)),
        np.zeros(()),
        np.zeros(10, np.float32),
        np.zeros(10, np.int64),
        np.zeros(10, ">f8"),
        np.zeros(20)[::2],
        np.zeros(10)[::-1],
        np.zeros(10).view(Subclass),
        np.ma.zeros(10),
        unaligned(10),
        [0.0] * 10,
        1.0,
        np.float64(1.0),
        None,
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', '')} {getattr(value, 'shape', '')}",
)
def test_other_arguments_miss(make: Make, kernels: Any, argument: object) -> None:
    run = make(multiply_add(kernels, array_of(10)))
    a = np.zeros(10)
    for arguments in ((argument, a, a), (a, argument, a), (a, a, argument)):
        assert run(*arguments) is MISS
    assert isinstance(run(a, a, a), np.ndarray)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 9])
def test_other_numbers_of_arguments_miss(make: Make, kernels: Any, count: int) -> None:
    assert make(multiply_add(kernels, array_of(10)))(*[np.zeros(10)] * count) is MISS


@pytest.mark.parametrize(
    ("dtype", "accepted", "missed"),
    [
        ("f8", [0.0, -1.5, float("nan")], [1, True, np.float64(1), "1", None, 1j]),
        ("i8", [0, -1, 2**63 - 1, -(2**63)], [2**63, -(2**63) - 1, 10**30, 1.0, True, np.int64(1)]),
        ("?", [True, False], [1, 0, 1.0, np.True_, None]),
    ],
)
def test_scalars_match_their_exact_type(make: Make, dtype: str, accepted: list[object], missed: list[object]) -> None:
    run = make(FastProgram((ScalarSpec(np.dtype(dtype)),), (), (), (), False))
    assert [run(value) for value in accepted] == [()] * len(accepted)
    assert [run(value) for value in missed] == [MISS] * len(missed)


def test_units_and_fields_are_part_of_a_dtype(make: Make) -> None:
    for wanted, other in (("M8[s]", "M8[ms]"), ([("a", "f8")], [("b", "f8")]), ("S4", "S8")):
        run = make(FastProgram((array_of(4, dtype=wanted),), (), (), (), False))
        assert run(np.zeros(4, other)) is MISS


@pytest.mark.parametrize("code", ["bhilq", "BHILQ"], ids=["signed", "unsigned"])
def test_integers_of_one_size_match_whatever_their_name_in_c(make: Make, code: str) -> None:
    for wanted, given in itertools.product(code, code):
        run = make(FastProgram((array_of(4, dtype=wanted),), (), (), (), False))
        assert (run(np.zeros(4, given)) is not MISS) == (np.dtype(wanted) == np.dtype(given))


def test_read_only_and_unpickled_arrays_match(make: Make, kernels: Any) -> None:
    run = make(multiply_add(kernels, array_of(10)))
    a = np.arange(10.0)
    fixed = a.copy()
    fixed.flags.writeable = False
    result = run(pickle.loads(pickle.dumps(a)), copy.deepcopy(a), fixed)
    np.testing.assert_array_equal(result, a * a + a)


def test_keywords_are_refused(make: Make, kernels: Any) -> None:
    run = make(multiply_add(kernels, array_of(10)))
    with pytest.raises(TypeError):
        run(np.zeros(10), np.zeros(10), c=np.zeros(10))


# ------------------------------------------------------------------------------------------- lifetime


def test_references_are_balanced(make: Make) -> None:
    native = entry.native_entries()
    assert native is not None
    dtype = np.dtype(np.float64, copy=True)
    spec = ArraySpec(dtype, (3, 4), (32, 8))
    program = selftest_program(native.selftest_kernel)
    program = dataclasses.replace(program, inputs=(spec, spec, *program.inputs[2:]), outputs=(spec, spec))
    run = make(program)
    x, y, number = np.ones((3, 4)), np.ones((3, 4)), 12345678901
    watched = (x, y, number, dtype, MISS)
    gc.collect()  # what other tests have left behind may refer to MISS
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(1000):
        assert isinstance(run(x, y, 1.0, number, True), tuple)
        assert run(x, y, 1.0, number) is MISS
        assert run(x, y, 1.0, number, None) is MISS
    assert [sys.getrefcount(thing) for thing in watched] == before


def test_memory_does_not_grow(make: Make, kernels: Any) -> None:
    spec = array_of(1000)
    call = multiply_add(kernels, spec).calls[0]
    run = make(FastProgram((spec, spec, spec), (spec, spec), (5000,), (call,), False))
    a, b, c = three(spec)
    for _ in range(10):
        run(a, b, c)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(500):
            run(a, b, c)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


def test_an_entry_keeps_what_it_needs_alive(make: Make) -> None:
    class Kept:
        pass

    kept = Kept()
    gone = threading.Event()
    program = FastProgram((), (array_of(2),), (), (), True, keep_alive=(kept, _Finalised(gone)))
    run = make(program)
    del kept, program
    gc.collect()
    assert not gone.is_set()
    run()
    del run
    gc.collect()
    assert gone.is_set()


class _Finalised:
    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def __del__(self) -> None:
        self._event.set()


@pytest.mark.parametrize("what", ["output", "second output", "temporary"])
def test_no_memory_raises_and_leaves_everything_usable(make: Make, what: str) -> None:
    huge = ArraySpec(np.dtype(np.int8), (2**61,), (1,))
    dtype = np.dtype(np.float64, copy=True)
    small = ArraySpec(dtype, (4,), (8,))
    outputs = {"output": (huge,), "second output": (small, huge), "temporary": (small,)}[what]
    run = make(FastProgram((small,), outputs, (2**61,) if what == "temporary" else (), (), False))
    x = np.zeros(4)
    before = sys.getrefcount(x), sys.getrefcount(dtype)
    for _ in range(20):
        with pytest.raises(MemoryError):
            run(x)
    assert (sys.getrefcount(x), sys.getrefcount(dtype)) == before
    assert run(np.zeros(5)) is MISS


# ------------------------------------------------------------------------------------------- threads


def test_many_threads_call_one_entry(make: Make, kernels: Any) -> None:
    spec = array_of(500)
    run = make(multiply_add(kernels, spec, 70, heavy=True))
    wrong: list[int] = []

    def hammer(seed: int) -> None:
        a, b, c = np.random.default_rng(seed).standard_normal((3, 500))
        expected = a * b + c
        for _ in range(100):
            if not np.array_equal(run(a, b, c), expected):
                wrong.append(seed)

    callers = [threading.Thread(target=hammer, args=(seed,)) for seed in range(16)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_an_entry_may_be_called_from_its_own_kernel(make: Make) -> None:
    depth = 0

    def again() -> None:
        nonlocal depth
        depth += 1
        if depth < 5:
            run()

    spy = Spy(1, again)
    run = make(FastProgram((), (), (64,), (KernelCall(spy.address, 1, 1, (0,), patches(0)),), False))
    run()
    assert len({table[0] for _, _, table in spy.calls}) == 5


def test_heavy_programs_release_the_interpreter_lock(make: Make, kernels: Any) -> None:
    """The kernel waits for a word that only another Python thread can set."""
    spec = array_of(1, dtype=I64)
    call = KernelCall(kernels.function("await"), 2**33, 2**33, (0, 0), patches(0, 1))
    run = make(FastProgram((spec,), (spec,), (), (call,), True, heavy=True))
    flag = np.zeros(1, np.int64)
    setter = threading.Timer(0.02, lambda: flag.__setitem__(0, 1))
    setter.start()
    assert run(flag) == 1
    setter.join()
