"""Object files in the ELF format: sections, symbols, relocations.

Loading an object that needs an unknown symbol ends the process, so symbols are looked at before.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

from xjit.dataclass import dataclass

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
_RELOCATABLE = 1
_SYMBOL_TABLE, _RELOCATIONS_WITH_ADDENDS, _NO_BITS, _RELOCATIONS = 2, 4, 8, 9
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")

UNDEFINED = 0
LOCAL, GLOBAL = 0, 1


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its header, and what it holds. A section without content of its own is ``size`` zeros."""

    name: str
    kind: int
    flags: int
    size: int
    link: int
    info: int
    alignment: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for a place in a section: ``value`` bytes from its start. The section of others has another meaning."""

    name: str
    kind: int
    binding: int
    section: int
    value: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """A place in a section that depends on the address of a symbol, by its number, in a way that the kind says."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True, slots=True)
class ElfObject:
    """An object file; ``machine`` is ELF's number of the processor family."""

    machine: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]


@dataclass(frozen=True, slots=True)
class Symbols:
    """Names in an object's symbol table."""

    defined: frozenset[str]
    undefined: tuple[str, ...]


def symbols(code: bytes) -> Symbols | None:
    """The symbols of an object; None when the file is not 64-bit little-endian ELF.

    Raises ValueError for an ELF file whose tables do not make sense.
    """
    found = read(code)
    if found is None:
        return None
    defined = frozenset(one.name for one in found.symbols if one.section != UNDEFINED)
    undefined = {one.name for one in found.symbols if one.section == UNDEFINED} - {""}
    return Symbols(defined, tuple(sorted(undefined)))


def read(code: bytes) -> ElfObject | None:
    """An object by the bytes of its file; None when that is not 64-bit little-endian ELF.

    Raises ValueError for an ELF file whose tables do not make sense.
    """
    if not code.startswith(_MAGIC):
        return None
    try:
        return _read(code)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"damaged ELF object: {error}") from error


def _read(code: bytes) -> ElfObject:
    kind, machine = struct.unpack_from("<HH", code, 16)
    if kind != _RELOCATABLE:
        raise ValueError("the file is no object to be linked")
    sections = tuple(_sections(code))
    tables = [section for section in sections if section.kind == _SYMBOL_TABLE]
    if len(tables) > 1:
        raise ValueError(f"{len(tables)} symbol tables")
    symbols = tuple(itertools.chain(*(_symbols(table, sections) for table in tables)))
    return ElfObject(machine, sections, symbols, tuple(_relocations(sections, len(symbols))))


def _sections(code: bytes) -> Iterator[Section]:
    (table,) = struct.unpack_from("<Q", code, 40)
    entry_size, count, names = struct.unpack_from("<HHH", code, 58)
    if count and entry_size != _SECTION.size:
        raise ValueError(f"headers of sections have {entry_size} bytes")
    headers = [_SECTION.unpack_from(code, table + i * entry_size) for i in range(count)]
    contents = [b"" if header[1] == _NO_BITS else _part(code, *header[4:6]) for header in headers]
    for (name, kind, flags, _, _, size, link, info, alignment, _), content in zip(headers, contents, strict=True):
        yield Section(_name(contents[names], name), kind, flags, size, link, info, max(alignment, 1), content)


def _part(code: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(code):
        raise ValueError(f"{size} bytes at {offset} of {len(code)}")
    return code[offset : offset + size]


def _symbols(table: Section, sections: tuple[Section, ...]) -> Iterator[Symbol]:
    names = sections[table.link].content
    for name, info, _, section, value, _ in _SYMBOL.iter_unpack(table.content):
        yield Symbol(_name(names, name), info & 0xF, info >> 4, section, value)


def _relocations(sections: tuple[Section, ...], count: int) -> Iterator[Relocation]:
    for table in sections:
        if table.kind == _RELOCATIONS:
            raise ValueError(f"{table.name} has no addends")
        if table.kind == _RELOCATIONS_WITH_ADDENDS:
            for offset, kind, symbol, addend in _RELOCATION.iter_unpack(table.content):
                if symbol >= count or not 0 <= offset < sections[table.info].size:
                    raise ValueError(f"{table.name} leads out of the file")
                yield Relocation(table.info, offset, kind, symbol, addend)


def _name(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode("ascii")
