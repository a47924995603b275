"""Linking: an object file becomes an image when it is compiled. What is not known here is left to LLVM.

LLVM's code for programs that compile while they run assumes nothing about addresses. So most relocations are words,
or moves of whole addresses, which become patches; what is relative within the object is written for good. Calls that
only reach near places go through a stub, and addresses that are read from a table get one::

    code        sections with instructions, then stubs
    constants   sections that are only read, then the table of addresses
    data        sections that are written to
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TypeAlias

from xjit.dataclass import dataclass, field
from xjit.llvm import elf
from xjit.runtime.loading import image
from xjit.runtime.loading.image import AARCH64, ITSELF, WORD, X86_64, Image, Patch

_WRITABLE, _IN_MEMORY, _INSTRUCTIONS, _THREAD_LOCAL = 0x1, 0x2, 0x4, 0x400
_CONTENT, _ZEROS, _UNWINDING = 1, 8, 0x70000001
_CONSTRUCTORS = (".ctors", ".dtors")
_OBJECT, _FUNCTION = 1, 2
_WORD_BYTES = 8
_PAGE_BITS = 12
_PARTS = ("code", "constants", "data")

Encode: TypeAlias = Callable[[bytearray, int, int], None]
"""Writes into memory, at a place, what leads from there to another place."""


class UnlinkableError(ValueError):
    """An object has something that is not known here."""


def linked(code: bytes) -> bytes:
    """The image of an object; the object itself where images cannot be loaded, or it is not known how to link it.

    Raises ValueError for a damaged object.
    """
    found = elf.read(code) if image.can_load() else None
    if found is None:
        return code
    try:
        return image.to_bytes(link(found))
    except UnlinkableError:
        return code


def link(found: elf.ElfObject) -> Image:
    """The image of an object; UnlinkableError for what is not known here."""
    machine = _MACHINES.get(found.machine)
    if machine is None:
        raise UnlinkableError(f"objects for machine {found.machine}")
    linker = _Linker(found, machine)
    linker.place_sections()
    needed = [one for one in found.relocations if one.section in linker.sections]
    for relocation in needed:
        linker.prepare(relocation)
    linker.lay_out()
    for relocation in needed:
        linker.resolve(relocation)
    return linker.image()


# Machines


@dataclass(frozen=True, slots=True)
class _Machine:
    """A processor family: its largest page, and what it does at a relocation of some kind.

    The place of a ``patch`` is filled when the image is loaded, with what its kind says. What is ``relative`` is
    written for good. Of these, ``calls`` may lead to a ``stub``, which ends with an address, and ``table`` are
    answered by the place of a word with the address.
    """

    page: int
    patches: Mapping[int, int]
    relative: Mapping[int, Encode]
    calls: frozenset[int] = frozenset()
    table: frozenset[int] = frozenset()
    stub: bytes = b""


def _distance(code: str) -> Encode:
    def write(memory: bytearray, place: int, to: int) -> None:
        struct.pack_into(code, memory, place, to - place)

    return write


def _into_instruction(memory: bytearray, place: int, bits: int) -> None:
    (instruction,) = struct.unpack_from("<I", memory, place)
    struct.pack_into("<I", memory, place, instruction | bits)


def _branch(memory: bytearray, place: int, to: int) -> None:
    """Write the distance in instructions, in the lowest 26 bits."""
    words = (to - place) >> 2
    if not -(1 << 25) <= words < 1 << 25:
        raise UnlinkableError("a call leads too far")
    _into_instruction(memory, place, words & (1 << 26) - 1)


def _page_distance(memory: bytearray, place: int, to: int) -> None:
    """Write the distance in pages: 2 bits at 29, 19 at 5."""
    pages = (to >> _PAGE_BITS) - (place >> _PAGE_BITS)
    if not -(1 << 20) <= pages < 1 << 20:
        raise UnlinkableError("the table is too far")
    _into_instruction(memory, place, (pages & 3) << 29 | (pages >> 2 & (1 << 19) - 1) << 5)


def _word_in_page(memory: bytearray, place: int, to: int) -> None:
    """Write the number of a word within its page, at bit 10."""
    _into_instruction(memory, place, (to & (1 << _PAGE_BITS) - 1) // _WORD_BYTES << 10)


_MACHINES = {
    X86_64: _Machine(
        page=1 << 12,
        patches={1: WORD},  # 64
        relative={2: _distance("<i"), 4: _distance("<i"), 24: _distance("<q")},  # PC32, PLT32, PC64
    ),
    AARCH64: _Machine(
        page=1 << 16,
        patches={257: WORD, **{263 + part: 1 + part // 2 for part in range(7)}},  # ABS64, MOVW_UABS_G0 to G3
        relative={
            260: _distance("<q"),  # PREL64
            261: _distance("<i"),  # PREL32
            282: _branch,  # JUMP26
            283: _branch,  # CALL26
            311: _page_distance,  # ADR_GOT_PAGE
            312: _word_in_page,  # LD64_GOT_LO12_NC
        },
        calls=frozenset((282, 283)),
        table=frozenset((311, 312)),
        stub=struct.pack("<II", 0x58000050, 0xD61F0200),  # ldr x16, the word behind the stub; br x16
    ),
}


# Linking


@dataclass(eq=False)
class _Linker:
    """An image in the making.

    ``parts`` are the bytes of code, constants and data, later of all three. ``sections``, ``stubs`` and ``table`` say
    in which part, and where in it, a section is, and the stub or the word of the table for a symbol.
    """

    object: elf.ElfObject
    machine: _Machine
    parts: dict[str, bytearray] = field(default_factory=lambda: {part: bytearray() for part in _PARTS})
    sections: dict[int, tuple[str, int]] = field(default_factory=dict)
    stubs: dict[int, tuple[str, int]] = field(default_factory=dict)
    table: dict[int, tuple[str, int]] = field(default_factory=dict)
    filled: int = 0
    starts: dict[str, int] = field(default_factory=dict)
    memory: bytearray = field(default_factory=bytearray)
    externals: dict[str, int] = field(default_factory=dict)
    patches: list[Patch] = field(default_factory=list)

    def place_sections(self) -> None:
        """Adds each section to its part; zeros come behind everything else."""
        kept = [(number, one) for number, one in enumerate(self.object.sections) if _is_kept(one)]
        for number, section in sorted(kept, key=lambda one: one[1].kind == _ZEROS):
            part = self._part(section)
            content = section.content or bytes(section.size)
            self.sections[number] = self._add(part, content, section.alignment)
            if section.kind != _ZEROS:
                self.filled = len(self.parts["data"])

    def _part(self, section: elf.Section) -> str:
        writable, runs = section.flags & _WRITABLE, section.flags & _INSTRUCTIONS
        known = section.kind in (_CONTENT, _ZEROS) and not section.name.startswith(_CONSTRUCTORS)
        known = known and not section.flags & _THREAD_LOCAL
        if not known or (writable and runs) or section.alignment > self.machine.page:
            raise UnlinkableError(f"section {section.name}")
        return "data" if writable else "code" if runs else "constants"

    def _add(self, part: str, content: bytes, alignment: int) -> tuple[str, int]:
        memory = self.parts[part]
        memory += bytes(image.rounded(len(memory), alignment) - len(memory))
        start = len(memory)
        memory += content
        return part, start

    def prepare(self, relocation: elf.Relocation) -> None:
        """Adds the stub, or the word of the table, that a relocation needs."""
        symbol = relocation.symbol
        if relocation.kind in self.machine.calls and self._is_external(symbol) and symbol not in self.stubs:
            self.stubs[symbol] = self._add("code", self.machine.stub + bytes(_WORD_BYTES), _WORD_BYTES)
        if relocation.kind in self.machine.table and symbol not in self.table:
            self.table[symbol] = self._add("constants", bytes(_WORD_BYTES), _WORD_BYTES)

    def lay_out(self) -> None:
        """Fixes where each part starts, and fills stubs and table."""
        for part in _PARTS:
            start = image.rounded(len(self.memory), self.machine.page)
            self.starts[part] = start
            self.memory += bytes(start - len(self.memory)) + self.parts[part]
        for symbol, place in self.stubs.items():
            self._patch(self._at(place) + len(self.machine.stub), symbol, 0, WORD)
        for symbol, place in self.table.items():
            self._patch(self._at(place), symbol, 0, WORD)

    def _at(self, place: tuple[str, int]) -> int:
        part, offset = place
        return self.starts[part] + offset

    def resolve(self, relocation: elf.Relocation) -> None:
        """Writes what a relocation asks for, or a patch that does."""
        content = self.object.sections[relocation.section].content
        place = self._at(self.sections[relocation.section]) + relocation.offset
        kind = self.machine.patches.get(relocation.kind)
        if relocation.offset + (_WORD_BYTES if kind == WORD else _WORD_BYTES // 2) > len(content):
            raise UnlinkableError("a relocation at the end of a section")
        if kind is not None:
            self._patch(place, relocation.symbol, relocation.addend, kind)
            return
        encode = self.machine.relative.get(relocation.kind)
        if encode is None:
            raise UnlinkableError(f"relocation {relocation.kind}")
        try:
            encode(self.memory, place, self._target(relocation))
        except struct.error as error:
            raise UnlinkableError(f"relocation {relocation.kind}: {error}") from error

    def _target(self, relocation: elf.Relocation) -> int:
        """The place within the image that a relative relocation leads to."""
        symbol = relocation.symbol
        if relocation.kind in self.machine.table:
            if relocation.addend:
                raise UnlinkableError("an addend to a place of the table")
            return self._at(self.table[symbol])
        if symbol in self.stubs and relocation.kind in self.machine.calls:
            return self._at(self.stubs[symbol]) + relocation.addend
        if self._is_external(symbol):
            raise UnlinkableError(f"{self.object.symbols[symbol].name} may be too far away")
        return self._value(self.object.symbols[symbol]) + relocation.addend

    def _is_external(self, symbol: int) -> bool:
        return self.object.symbols[symbol].section == elf.UNDEFINED

    def _value(self, symbol: elf.Symbol) -> int:
        place = self.sections.get(symbol.section)
        if place is None:
            raise UnlinkableError(f"symbol {symbol.name} lies in no section that is kept")
        return self._at(place) + symbol.value

    def _patch(self, place: int, symbol: int, addend: int, kind: int) -> None:
        found = self.object.symbols[symbol]
        if not self._is_external(symbol):
            self.patches.append((place, self._value(found) + addend, ITSELF, kind))
        elif found.binding == elf.GLOBAL:
            number = self.externals.setdefault(found.name, len(self.externals))
            self.patches.append((place, addend, number, kind))
        else:
            raise UnlinkableError(f"symbol {found.name} may be missing")

    def image(self) -> Image:
        """The image, when all relocations are resolved."""
        parts = {part: self.memory[self.starts[part] :][: len(self.parts[part])] for part in _PARTS}
        return Image(
            self.object.machine,
            self.machine.page,
            bytes(parts["code"]),
            bytes(parts["constants"]),
            bytes(parts["data"][: self.filled]),
            len(parts["data"]) - self.filled,
            self._exported(_FUNCTION),
            self._exported(_OBJECT),
            tuple(self.externals),
            tuple(self.patches),
        )

    def _exported(self, kind: int) -> dict[str, int]:
        return {
            one.name: self._value(one)
            for one in self.object.symbols
            if one.kind == kind and one.binding != elf.LOCAL and one.section != elf.UNDEFINED
        }


def _is_kept(section: elf.Section) -> bool:
    """Return whether a section is needed to run the code. No exception passes through it: nothing is unwound."""
    return bool(section.flags & _IN_MEMORY) and section.kind != _UNWINDING and section.name != ".eh_frame"
