"""Which symbols an ELF object defines and needs: loading one with an unknown symbol ends the process."""

from __future__ import annotations

import struct

from xjit.dataclass import dataclass

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
_SYMBOL_TABLE = 2
_UNDEFINED = 0


@dataclass(frozen=True, slots=True)
class Symbols:
    """Names in an object's symbol table."""

    defined: frozenset[str]
    undefined: tuple[str, ...]


def symbols(code: bytes) -> Symbols | None:
    """The symbols of an object; None when the file is not 64-bit little-endian ELF.

    Raises ValueError for an ELF file whose tables do not make sense.
    """
    if not code.startswith(_MAGIC):
        return None
    try:
        return _read(code)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"damaged ELF object: {error}") from error


def _read(code: bytes) -> Symbols:
    (table,) = struct.unpack_from("<Q", code, 40)
    entry_size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + i * entry_size) for i in range(count)]
    defined: set[str] = set()
    undefined: set[str] = set()
    for _, kind, _, _, offset, size, link, _, _, symbol_size in sections:
        if kind == _SYMBOL_TABLE:
            strings = sections[link][4]
            for symbol in range(offset + symbol_size, offset + size, symbol_size):
                name = _name(code, strings, symbol)
                (undefined if _is_undefined(code, symbol) else defined).add(name)
    return Symbols(frozenset(defined), tuple(sorted(undefined - {""})))


def _is_undefined(code: bytes, symbol: int) -> bool:
    (section,) = struct.unpack_from("<H", code, symbol + 6)
    return bool(section == _UNDEFINED)


def _name(code: bytes, strings: int, symbol: int) -> str:
    (offset,) = struct.unpack_from("<I", code, symbol)
    start = strings + offset
    return code[start : code.index(b"\0", start)].decode("ascii")
