"""Objects become images: every relocation leads where it should, and what is not known is left to LLVM."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from xjit.codegen.cpu import llvm_pipeline
from xjit.llvm import elf, processor
from xjit.runtime.loading import image, linking, loader
from xjit.runtime.loading.image import AARCH64, ITSELF, WORD, X86_64, Image
from xjit.runtime.loading.linking import UnlinkableError, link

llvm = pytest.importorskip("llvmlite.binding")

TRIPLES = {X86_64: "x86_64-unknown-linux-gnu", AARCH64: "aarch64-unknown-linux-gnu"}
CALL = """
declare double @fmod(double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@table = internal constant [4 x double] [double 1.0, double 2.0, double 3.5, double 7.25]
@count = global i64 7
@counter = global ptr @count
@zeros = global [300 x i64] zeroinitializer

define double @chosen(double %a, double %b, i64 %i) {
  %rest = call double @fmod(double %a, double %b)
  %place = getelementptr double, ptr @table, i64 %i
  %listed = load double, ptr %place
  %sum = fadd double %rest, %listed
  %product = fmul double %sum, 0x3FF3333333333333
  ret double %product
}

define i64 @counted(i64 %more) noinline {
  %place = load ptr, ptr @counter
  %before = load i64, ptr %place
  %after = add i64 %before, %more
  store i64 %after, ptr %place
  %last = getelementptr i64, ptr @zeros, i64 299
  %seen = load i64, ptr %last
  store i64 %after, ptr %last
  ret i64 %seen
}

define void @cleared(ptr %start, i64 %size) {
  call void @llvm.memset.p0.i64(ptr %start, i8 0, i64 %size, i1 false)
  %ignored = call i64 @counted(i64 0)
  ret void
}
"""
TWICE = """
define internal i64 @once(i64 %n) noinline section ".text.once" {
  %more = add i64 %n, 5
  ret i64 %more
}
define i64 @twice(i64 %n) {
  %one = call i64 @once(i64 %n)
  %two = call i64 @once(i64 %one)
  ret i64 %two
}
"""
HERE = {"x86_64": X86_64, "aarch64": AARCH64}.get(processor.machine(), 0)

runs = pytest.mark.skipif(not image.can_load(), reason="images are loaded on Linux, on two kinds of processors")


def object_for(machine: int, text: str = CALL, model: str = "jitdefault") -> bytes:
    """The object that LLVM makes of a text."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    made = llvm.Target.from_triple(TRIPLES[machine])
    target = made.create_target_machine(opt=2, reloc="static", codemodel=model)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = TRIPLES[machine], str(target.target_data)
    return bytes(target.emit_object(module))


def read(code: bytes) -> elf.ElfObject:
    found = elf.read(code)
    assert found is not None
    return found


def linked(machine: int, text: str = CALL, model: str = "jitdefault") -> Image:
    return link(read(object_for(machine, text, model)))


def memory_of(made: Image) -> bytearray:
    """The memory of an image before it is patched."""
    _, constants, data, _ = made.starts
    memory = bytearray(made.code).ljust(constants, b"\0") + made.constants
    return memory.ljust(data, b"\0") + made.data


def called(address: int, result: Any, *parameters: Any) -> Callable[..., Any]:
    return ctypes.CFUNCTYPE(result, *parameters)(address)


@runs
def test_linked_code_computes_calls_reads_and_writes() -> None:
    made = image.LoadedImage(image.from_bytes(image.to_bytes(linked(HERE))))
    double, word, pointer = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p
    chosen = called(made.functions["chosen"], double, double, double, word)
    assert [chosen(7.5, 2.0, i) for i in range(4)] == [(1.5 + x) * 1.2 for x in (1.0, 2.0, 3.5, 7.25)]
    counted = called(made.functions["counted"], word, word)
    assert [counted(5), counted(1), counted(-20), counted(0)] == [0, 12, 13, -7]
    assert word.from_address(made.variables["count"]).value == -7
    assert pointer.from_address(made.variables["counter"]).value == made.variables["count"]
    buffer = ctypes.create_string_buffer(b"abcdef")
    called(made.functions["cleared"], None, pointer, word)(ctypes.addressof(buffer), 4)
    assert buffer.raw == b"\0\0\0\0ef\0"
    assert word.from_address(made.variables["zeros"] + 299 * 8).value == -7


@runs
def test_two_images_of_one_object_share_nothing() -> None:
    made = linked(HERE)
    first, second = image.LoadedImage(made), image.LoadedImage(made)
    counted = [called(one.functions["counted"], ctypes.c_int64, ctypes.c_int64) for one in (first, second)]
    assert [counted[0](1), counted[0](1), counted[1](1), counted[1](0)] == [0, 8, 0, 8]


@pytest.mark.parametrize("machine", TRIPLES)
def test_parts_and_names(machine: int) -> None:
    made = linked(machine)
    assert made.functions.keys() == {"chosen", "counted", "cleared"}
    assert made.variables.keys() == {"count", "counter", "zeros"}
    assert set(made.externals) == {"fmod", "memset"}
    assert made.zeros >= 2400
    assert len(made.data) < 100
    assert all(start % made.page == 0 for start in made.starts)
    assert image.from_bytes(image.to_bytes(made)) == made


def test_words_of_x86_are_patched() -> None:
    found = read(object_for(X86_64))
    made = link(found)
    code = {number for number, one in enumerate(found.sections) if one.name in (".text", ".ltext")}
    assert {one.kind for one in found.relocations if one.section in code} == {1}
    assert all(kind == WORD for *_, kind in made.patches)
    (pointed,) = (addend for place, addend, _, _ in made.patches if place == made.variables["counter"])
    assert pointed == made.variables["count"]


def test_near_places_within_an_object_are_written_for_good() -> None:
    found = read(object_for(X86_64, TWICE, model="small"))
    assert {one.kind for one in found.relocations if found.sections[one.section].name == ".text"} <= {2, 4}
    made = link(found)
    assert not made.patches
    if HERE == X86_64:
        loaded = image.LoadedImage(made)
        assert called(loaded.functions["twice"], ctypes.c_int64, ctypes.c_int64)(1) == 11


# ARM, whose instructions hold parts of addresses


def word_at(memory: bytes, place: int) -> int:
    (found,) = struct.unpack_from("<I", memory, place)
    return int(found)


def places_of(found: elf.ElfObject, made: Image, *kinds: int) -> list[tuple[int, str]]:
    """The places of relocations of some kinds in the only section with code, and the names of their symbols."""
    (code,) = (number for number, one in enumerate(found.sections) if one.name == ".text")
    relocations = [one for one in found.relocations if one.section == code and one.kind in kinds]
    assert relocations
    return [(one.offset, found.symbols[one.symbol].name) for one in relocations]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 & 1 else value


def test_calls_of_arm_go_through_stubs() -> None:
    found = read(object_for(AARCH64))
    made, memory = link(found), memory_of(linked(AARCH64))
    patches = {place: made.externals[symbol] for place, _, symbol, _ in made.patches if symbol != ITSELF}
    for place, name in places_of(found, made, 282, 283):
        to = place + 4 * signed(word_at(memory, place) & (1 << 26) - 1, 26)
        if name in made.functions:
            assert to == made.functions[name]
        else:
            assert memory[to : to + 8] == struct.pack("<II", 0x58000050, 0xD61F0200)
            assert patches[to + 8] == name


def test_the_table_of_arm_holds_addresses() -> None:
    found = read(object_for(AARCH64))
    made = link(found)
    memory, targets = memory_of(made), {place: addend for place, addend, symbol, _ in made.patches if symbol < 0}
    pages = {}
    for place, name in places_of(found, made, 311):
        bits = word_at(memory, place)
        distance = signed((bits >> 5 & (1 << 19) - 1) << 2 | bits >> 29 & 3, 21)
        pages[name] = (place & -4096) + distance * 4096
    for place, name in places_of(found, made, 312):
        entry = pages[name] + (word_at(memory, place) >> 10 & 0xFFF) * 8
        assert made.starts[1] <= entry < made.starts[2]
        assert targets[entry] == made.variables[name]


def test_moves_of_arm_get_parts_of_an_address() -> None:
    found = read(object_for(AARCH64))
    made = link(found)
    moves = [(place, addend, kind) for place, addend, _, kind in made.patches if kind != WORD]
    assert {kind for *_, kind in moves} == {1, 2, 3, 4}
    address = 0x1234_5678_9ABC_0000
    memory = memory_of(made)
    before = bytes(memory)
    image._patch(
        memory, replace(made, externals=(), patches=tuple(one for one in made.patches if one[2] < 0)), address
    )
    for place, addend, kind in moves:
        part = (address + addend) >> 16 * (kind - 1) & 0xFFFF
        assert word_at(memory, place) >> 5 & 0xFFFF == part
        assert word_at(memory, place) & ~(0xFFFF << 5) == word_at(before, place) & ~(0xFFFF << 5)


# What is not known


def with_relocation(found: elf.ElfObject, **changes: int) -> elf.ElfObject:
    """The object with one relocation of its code changed."""
    place = next(
        number
        for number, one in enumerate(found.relocations)
        if found.sections[one.section].flags & 4 and one.kind == 1
    )
    changed = replace(found.relocations[place], **changes)
    return replace(found, relocations=(*found.relocations[:place], changed, *found.relocations[place + 1 :]))


@pytest.mark.parametrize("kind", [0, 3, 5, 9, 10, 11, 37, 41, 42, 1000])
def test_other_relocations_are_not_linked(kind: int) -> None:
    with pytest.raises(UnlinkableError, match=f"relocation {kind}"):
        link(with_relocation(read(object_for(X86_64)), kind=kind))


def test_relocations_at_the_end_of_a_section_are_not_linked() -> None:
    found = read(object_for(X86_64))
    (size,) = (one.size for one in found.sections if one.name == ".ltext")
    with pytest.raises(UnlinkableError, match="at the end"):
        link(with_relocation(found, offset=size - 7))


def test_near_calls_of_other_objects_are_not_linked() -> None:
    with pytest.raises(UnlinkableError, match="may be too far"):
        linked(X86_64, model="small")


UNKNOWN = {
    "thread local": ("@own = thread_local global i64 3\ndefine ptr @f() {\n  ret ptr @own\n}\n", "section .t"),
    "constructors": (
        "@llvm.global_ctors = appending global [1 x {i32, ptr, ptr}] [{i32, ptr, ptr} {i32 1, ptr @f, ptr null}]\n"
        "define void @f() {\n  ret void\n}\n",
        "section .*(init_array|ctors)",
    ),
    "weak": (
        "declare extern_weak i64 @other()\ndefine i64 @f() {\n  %x = call i64 @other()\n  ret i64 %x\n}\n",
        "symbol other may be missing",
    ),
    "common": (
        "@shared = common global i64 0\ndefine i64 @f() {\n  %x = load i64, ptr @shared\n  ret i64 %x\n}\n",
        "symbol shared",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_objects_are_not_linked(name: str) -> None:
    text, message = UNKNOWN[name]
    with pytest.raises(UnlinkableError, match=message):
        linked(X86_64, text)


def test_objects_for_other_machines_are_not_linked() -> None:
    with pytest.raises(UnlinkableError, match="machine 21"):
        link(replace(read(object_for(X86_64)), machine=21))


@runs
def test_what_is_not_linked_is_loaded_by_llvm() -> None:
    module = llvm_pipeline.parse(UNKNOWN["common"][0], llvm_pipeline.host())
    code, externals = llvm_pipeline.emit_object(module, llvm_pipeline.host())
    assert linking.linked(code) is code
    kernel = loader.load_object(code, "f", externals=externals)
    assert not isinstance(kernel._engine, image.LoadedImage)
    assert called(kernel.address, ctypes.c_int64)() == 0


def test_where_no_image_can_be_loaded_objects_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "can_load", lambda: False)
    code = object_for(X86_64)
    assert linking.linked(code) is code
