"""Reads which symbols an ELF object leaves undefined: loading an object with an unknown one aborts the process."""

from __future__ import annotations

import struct

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
_SYMBOL_TABLE = 2
_UNDEFINED = 0


def undefined_symbols(code: bytes) -> tuple[str, ...] | None:
    """Names an object refers to without defining them; None when the file is not 64-bit little-endian ELF.

    Raises ValueError for an ELF file whose tables do not make sense.
    """
    if not code.startswith(_MAGIC):
        return None
    try:
        return _read(code)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"damaged ELF object: {error}") from error


def _read(code: bytes) -> tuple[str, ...]:
    (table,) = struct.unpack_from("<Q", code, 40)
    entry_size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + i * entry_size) for i in range(count)]
    names: list[str] = []
    for section in sections:
        _, kind, _, _, offset, size, link, _, _, symbol_size = section
        if kind == _SYMBOL_TABLE:
            strings = sections[link][4]
            symbols = range(offset + symbol_size, offset + size, symbol_size)
            names += [_name(code, strings, symbol) for symbol in symbols if _is_undefined(code, symbol)]
    return tuple(sorted(set(names) - {""}))


def _is_undefined(code: bytes, symbol: int) -> bool:
    (section,) = struct.unpack_from("<H", code, symbol + 6)
    return bool(section == _UNDEFINED)


def _name(code: bytes, strings: int, symbol: int) -> str:
    (offset,) = struct.unpack_from("<I", code, symbol)
    start = strings + offset
    return code[start : code.index(b"\0", start)].decode("ascii")
