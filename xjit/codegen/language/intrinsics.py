"""The words of the kernel language, each usable in compiled and in uncompiled code.

A kernel is text with one function over these names, Python's operators, ``range``, ``while`` and ``if``::

    def kernel(lo, hi, table):
        x = ptr_f32(table, 0)
        out = ptr_f32(table, 1)
        for i in range(lo, hi):
            st(out, i, ld(x, i) * f32(2.0))

Every name is an :class:`Intrinsic`: called from Python it runs its plain form on NumPy scalars and
bounds-checked pointers (:mod:`xjit.codegen.language.uncompiled`); the compiler replaces it by a few LLVM
instructions (:mod:`xjit.codegen.cpu.emitters`).  T stands for ``b1 i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64
c128``.

=============================  ===============================================================================
``T(x)``                       numeric conversion, in range; truncates integers, rounds floats
``to_i8(x)`` .. ``to_u64(x)``  float to integer, saturating, NaN gives 0
``as_T(x)``                    the same bits as another type of that width
``word(table, slot)``          the i64 in a slot of the table
``ptr_T(table, slot)``         typed pointer whose address is in that slot
``ld(p, i)``                   element i of a buffer that this kernel never writes
``ld2`` .. ``ld8(p, i)``       the same in a loop that adds lane by lane; i is that many elements further at each step
``ldw(p, i)``                  element i of a buffer that this kernel writes too (in place, output, scratch)
``ld_where(p, i, c)``           the same as ld where c, else 0; ``ldw_where`` the same as ldw
``first(p, i, j, k, v)``       the first place from j to k - 1, counted from element i, of a value that is there
``st(p, i, v)``                store; v has exactly the pointer's element type
``lanes(i, n)``                the range from i of so many, a literal, that are taken all at once
``turn_T(...)``                a block of elements, transposed (:mod:`xjit.codegen.cpu.emit_tiles`)
``scratch_T(n)``               pointer to n uninitialised elements on the stack, aligned; outside loops only
``select(c, a, b)``            a where c, else b; both are evaluated
``fmin fmax(a, b)``            NaN propagates, -0 < +0; plain minimum and maximum on integers
``radd rmul(acc, x)``          add and multiply that may be reassociated in a reduction
``fma(a, b, c)``               fused multiply-add; two operations on processors that have none
``exact_fma(a, b, c)``         the same of f32, with an exact product everywhere
``muladd(a, b, c)``            the same, rounded once; a library call on processors that have no such instruction
``sqrt rint floor ceil``       as named; rint rounds ties to even
``trunc round_away fabs``      round_away rounds ties away from zero
``copysign(a, b)``             a with the sign of b
``fmod(a, b)``                 C's remainder of floats; a library call for each element
``shl lshr ashr(a, n)``        shifts; n below the width, same type as a
``ctpop ctlz cttz(x)``         bit counts
``sdiv srem udiv urem(a, b)``  truncating division; the caller guards b == 0 and overflow
``re im(z)  cplx(a, b)``       parts of a complex number, and back
``keep_jump()``                nothing; the block that it is in stays behind a jump
=============================  ===============================================================================

Runtime code written in the same language has in addition: ``load_T(address)``, ``store_T(address, v)``,
``atomic_load_i64``, ``atomic_store_i64``, ``atomic_add_i64``, ``atomic_cas_i64`` (sequentially consistent; add and
cas return the old value), ``cpu_pause()``, and calls of C functions by address ``call_void_i64x0(f)`` ..
``call_void_i64x6(f, a, ...)`` and ``call_i64_i64x0`` .. ``call_i64_i64x6``. Those that get an i64 and floats behind
it are ``call_f64_f64x0(f, a)`` .. ``call_f64_f64x3(f, a, x, y, z)`` and ``call_i64_f64x0`` .. ``call_i64_f64x3``,
and ``call_i64_f64_i64x2(f, a, x, n, b)``. Kernels draw random numbers by them.

A buffer that a kernel writes has exactly one slot; distinct slots are taken not to overlap unless both are
only read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit.codegen.language import uncompiled
from xjit.codegen.language.scalar_types import COMPLEXES, FLOATS, INTEGERS, KINDS, STEPS


class Intrinsic:
    """One word of the kernel language; calling it runs the plain Python form."""

    __slots__ = ("__weakref__", "name", "plain")

    def __init__(self, name: str, plain: Callable[..., Any]) -> None:
        self.name = name
        self.plain = plain

    def __call__(self, *arguments: Any) -> Any:
        """Runs the uncompiled form."""
        return self.plain(*arguments)

    def __repr__(self) -> str:
        return f"<intrinsic {self.name}>"


INTRINSICS: dict[str, Intrinsic] = {name: Intrinsic(name, plain) for name, plain in uncompiled.plain_forms().items()}
"""Every word by its name."""


def namespace() -> dict[str, Any]:
    """A fresh globals dictionary in which kernel text can be executed."""
    return dict(INTRINSICS)


def _words(*names: str) -> tuple[Intrinsic, ...]:
    return tuple(INTRINSICS[name] for name in names)


def _family(pattern: str, kinds: tuple[str, ...] = tuple(KINDS)) -> tuple[Intrinsic, ...]:
    return tuple(INTRINSICS[pattern.format(kind)] for kind in kinds)


_REAL = (*INTEGERS, *FLOATS)

b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128 = _family("{}")
to_i8, to_i16, to_i32, to_i64, to_u8, to_u16, to_u32, to_u64 = _family("to_{}", INTEGERS)
as_i8, as_i16, as_i32, as_i64, as_u8, as_u16, as_u32, as_u64, as_f32, as_f64 = _family("as_{}", _REAL)
ptr_b1, ptr_i8, ptr_i16, ptr_i32, ptr_i64 = _family("ptr_{}", ("b1", *INTEGERS[:4]))
ptr_u8, ptr_u16, ptr_u32, ptr_u64 = _family("ptr_{}", INTEGERS[4:])
ptr_f32, ptr_f64, ptr_c64, ptr_c128 = _family("ptr_{}", (*FLOATS, *COMPLEXES))
scratch_b1, scratch_i8, scratch_i16, scratch_i32, scratch_i64 = _family("scratch_{}", ("b1", *INTEGERS[:4]))
scratch_u8, scratch_u16, scratch_u32, scratch_u64 = _family("scratch_{}", INTEGERS[4:])
scratch_f32, scratch_f64, scratch_c64, scratch_c128 = _family("scratch_{}", (*FLOATS, *COMPLEXES))
word, ld, ldw, st, select, first, lanes = _words("word", "ld", "ldw", "st", "select", "first", "lanes")
ld2, ld3, ld4, ld5, ld6, ld7, ld8 = _words(*(f"ld{step}" for step in STEPS))
fmin, fmax, radd, rmul = _words("fmin", "fmax", "radd", "rmul")
fma, exact_fma, muladd = _words("fma", "exact_fma", "muladd")
ld_where, ldw_where = _words("ld_where", "ldw_where")
sqrt, rint, floor, ceil, trunc = _words("sqrt", "rint", "floor", "ceil", "trunc")
round_away, fabs, copysign, fmod = _words("round_away", "fabs", "copysign", "fmod")
shl, lshr, ashr, ctpop, ctlz, cttz = _words("shl", "lshr", "ashr", "ctpop", "ctlz", "cttz")
sdiv, srem, udiv, urem = _words("sdiv", "srem", "udiv", "urem")
re, im, cplx = _words("re", "im", "cplx")
load_i8, load_i16, load_i32, load_i64 = _family("load_{}", INTEGERS[:4])
load_u8, load_u16, load_u32, load_u64, load_f32, load_f64 = _family("load_{}", (*INTEGERS[4:], *FLOATS))
store_i8, store_i16, store_i32, store_i64 = _family("store_{}", INTEGERS[:4])
store_u8, store_u16, store_u32, store_u64, store_f32, store_f64 = _family("store_{}", (*INTEGERS[4:], *FLOATS))
atomic_load_i64, atomic_store_i64 = _words("atomic_load_i64", "atomic_store_i64")
atomic_add_i64, atomic_cas_i64, cpu_pause = _words("atomic_add_i64", "atomic_cas_i64", "cpu_pause")
(keep_jump,) = _words("keep_jump")
call_void_i64x0, call_void_i64x1, call_void_i64x2 = _words(*(f"call_void_i64x{n}" for n in range(3)))
call_void_i64x3, call_void_i64x4, call_void_i64x5, call_void_i64x6 = _words(
    *(f"call_void_i64x{n}" for n in range(3, 7))
)
call_i64_i64x0, call_i64_i64x1, call_i64_i64x2 = _words(*(f"call_i64_i64x{n}" for n in range(3)))
call_i64_i64x3, call_i64_i64x4, call_i64_i64x5, call_i64_i64x6 = _words(*(f"call_i64_i64x{n}" for n in range(3, 7)))
call_f64_f64x0, call_f64_f64x1, call_f64_f64x2, call_f64_f64x3 = _words(*(f"call_f64_f64x{n}" for n in range(4)))
call_i64_f64x0, call_i64_f64x1, call_i64_f64x2, call_i64_f64x3 = _words(*(f"call_i64_f64x{n}" for n in range(4)))
(call_i64_f64_i64x2,) = _words("call_i64_f64_i64x2")
