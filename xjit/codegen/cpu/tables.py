"""Tables of sixteen floats of 32 bits, which vector code looks up inside of registers.

A function made by :func:`table` takes four bits of its operand and returns the number at that place.  Its text for
the compiler is LLVM's own, as the kernel language has no constant memory: a load for one element, and for vectors
one instruction of AVX-512 or of 64-bit ARM, or two of AVX2 and a choice (:mod:`xjit.codegen.cpu.wide_forms`).  For
processors without these, a vector of loads: the vectoriser would leave the whole loop scalar for their sake.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from xjit.codegen.language.inline_functions import InlineFunction, Table, register
from xjit.codegen.language.intrinsics import as_u32
from xjit.llvm import vector_width

ENTRIES = 16
PLACE_BITS = 4

_INTRINSICS = {
    "avx512": {
        512: "<16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float>, <16 x i32>)",
        256: "<8 x float> @llvm.x86.avx512.vpermi2var.ps.256(<8 x float>, <8 x i32>, <8 x float>)",
    },
    "avx2": {256: "<8 x float> @llvm.x86.avx2.permps(<8 x float>, <8 x i32>)"},
    "neon": {128: f"<16 x i8> @llvm.aarch64.neon.tbl4.v16i8({', '.join(['<16 x i8>'] * 5)})"},
}
"""The instructions that look up vectors of so many bits, by instruction set."""


def table(name: str, values: Sequence[float], shift: int = 0) -> InlineFunction:
    """Registers the inline function ``name(x)``: the number that the four bits of x from ``shift`` up choose."""
    if len(values) != ENTRIES:
        raise ValueError(f"a table has {ENTRIES} numbers; {name} has {len(values)}")
    record = Table(tuple(values), shift)

    def look_up(x: Any) -> Any:
        return record.values[int(as_u32(x)) >> record.shift & ENTRIES - 1]

    return register(name, look_up, "f32(f32)", table=record)


def constant(symbol: str, record: Table) -> str:
    """LLVM assembly of the numbers in memory."""
    floats = ", ".join(f"float {_float(value)}" for value in record.values)
    return f"@{symbol}.values = private unnamed_addr constant [{ENTRIES} x float] [{floats}], align 64\n"


def definition(symbol: str, record: Table) -> str:
    """LLVM assembly of the function for one element."""
    return (
        f"{constant(symbol, record)}"
        f"define float @{symbol}(float %x) alwaysinline {vector_width.ANY_WIDTH} {{\n"
        "  %bits = bitcast float %x to i32\n"
        f"  %moved = lshr i32 %bits, {record.shift}\n"
        f"  %place = and i32 %moved, {ENTRIES - 1}\n"
        "  %long = zext i32 %place to i64\n"
        f"  %address = getelementptr inbounds [{ENTRIES} x float], ptr @{symbol}.values, i64 0, i64 %long\n"
        "  %result = load float, ptr %address, align 4\n"
        "  ret float %result\n}\n"
    )


def narrowest(instructions: str) -> int:
    """Bits of the narrowest vectors that an instruction looks up."""
    return min(_INTRINSICS.get(instructions, (128,)))


def needs(symbol: str, record: Table, instructions: str, bits: int) -> str:
    """LLVM assembly of what a form refers to: the instruction for vectors of so many bits, or the numbers."""
    if instructions not in _INTRINSICS:
        return constant(symbol, record)
    return f"declare {_INTRINSICS[instructions][bits]}\n"


def form(symbol: str, record: Table, instructions: str, bits: int) -> str:
    """LLVM assembly that sets ``%result`` to the numbers for a vector ``%x`` of so many bits."""
    lanes = bits // 32
    if instructions not in _INTRINSICS:
        return _loads(symbol, record, lanes)
    name = _INTRINSICS[instructions][bits].partition("@")[2].partition("(")[0]
    make = {"avx512": _one_lookup, "avx2": _two_lookups, "neon": _lookup_of_bytes}[instructions]
    return f"  %bits = bitcast <{lanes} x float> %x to <{lanes} x i32>\n" + make(record, lanes, name)


def _loads(symbol: str, record: Table, lanes: int) -> str:
    vector = f"<{lanes} x i32>"
    lines = [
        f"  %bits = bitcast <{lanes} x float> %x to {vector}",
        f"  %moved = lshr {vector} %bits, {_all(record.shift, lanes)}",
        f"  %place = and {vector} %moved, {_all(ENTRIES - 1, lanes)}",
    ]
    sofar = "poison"
    for lane in range(lanes):
        last = "%result" if lane == lanes - 1 else f"%sofar{lane}"
        address = f"getelementptr inbounds [{ENTRIES} x float], ptr @{symbol}.values, i64 0, i32 %place{lane}"
        lines += [
            f"  %place{lane} = extractelement {vector} %place, i64 {lane}",
            f"  %address{lane} = {address}",
            f"  %one{lane} = load float, ptr %address{lane}, align 4",
            f"  {last} = insertelement <{lanes} x float> {sofar}, float %one{lane}, i64 {lane}",
        ]
        sofar = last
    return "\n".join((*lines, ""))


def _one_lookup(record: Table, lanes: int, name: str) -> str:
    parts = _parts(record, lanes)
    operands = ", ".join((parts[0], f"<{lanes} x i32> %place", *parts[1:]))
    return (
        f"  %place = lshr <{lanes} x i32> %bits, {_all(record.shift, lanes)}\n"
        f"  %result = call <{lanes} x float> @{name}({operands})\n"
    )


def _two_lookups(record: Table, lanes: int, name: str) -> str:
    low, high = _parts(record, lanes)
    # The highest bit of the place becomes the sign, by which the instruction that chooses goes.
    return (
        f"  %place = lshr <{lanes} x i32> %bits, {_all(record.shift, lanes)}\n"
        f"  %low = call <{lanes} x float> @{name}({low}, <{lanes} x i32> %place)\n"
        f"  %high = call <{lanes} x float> @{name}({high}, <{lanes} x i32> %place)\n"
        f"  %signed = shl <{lanes} x i32> %bits, {_all(32 - PLACE_BITS - record.shift, lanes)}\n"
        f"  %upper = icmp slt <{lanes} x i32> %signed, zeroinitializer\n"
        f"  %result = select <{lanes} x i1> %upper, <{lanes} x float> %high, <{lanes} x float> %low\n"
    )


def _lookup_of_bytes(record: Table, lanes: int, name: str) -> str:
    # Where the first byte of the number is, four times, and the distances of the four bytes.
    move, by = ("lshr", record.shift - 2) if record.shift >= 2 else ("shl", 2 - record.shift)
    operands = ", ".join(f"<16 x i8> bitcast ({part} to <16 x i8>)" for part in _parts(record, lanes))
    return (
        f"  %moved = {move} <{lanes} x i32> %bits, {_all(by, lanes)}\n"
        f"  %first = and <{lanes} x i32> %moved, {_all((ENTRIES - 1) * 4, lanes)}\n"
        f"  %four = mul <{lanes} x i32> %first, {_all(0x01010101, lanes)}\n"
        f"  %bytes = add <{lanes} x i32> %four, {_all(0x03020100, lanes)}\n"
        f"  %places = bitcast <{lanes} x i32> %bytes to <16 x i8>\n"
        f"  %found = call <16 x i8> @{name}({operands}, <16 x i8> %places)\n"
        f"  %result = bitcast <16 x i8> %found to <{lanes} x float>\n"
    )


def _parts(record: Table, lanes: int) -> list[str]:
    """The table as operands of so many lanes."""
    floats = [f"float {_float(value)}" for value in record.values]
    return [f"<{lanes} x float> <{', '.join(floats[start : start + lanes])}>" for start in range(0, ENTRIES, lanes)]


def _all(value: int, lanes: int) -> str:
    return f"<{', '.join([f'i32 {value}'] * lanes)}>"


def _float(value: float) -> str:
    """LLVM's notation of a float of 32 bits, which is that of the same number with 64."""
    if struct.unpack("<f", struct.pack("<f", value))[0] != value:
        raise ValueError(f"{value!r} is no float of 32 bits")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
