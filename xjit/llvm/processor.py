"""The processor of this machine by what the system says of it: LLVM, which takes long to load, is not asked."""

from __future__ import annotations

import platform

_ALIASES = {"AMD64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}
_KNOWN = {"x86_64": "/sys/devices/system/cpu/modalias", "aarch64": "/proc/cpuinfo"}
"""The files from which it follows what LLVM takes a processor for: Linux lists what it has."""
_FAMILY = {"x86_64": "cpu:type:x86,ven", "aarch64": "CPU implementer"}
# Lines that tell equal processors apart.
_OF_NO_USE = ("processor", "BogoMIPS")


def machine() -> str:
    """The processor family under its Linux name (``x86_64``, ``aarch64``, ...)."""
    name = platform.machine()
    return _ALIASES.get(name, name)


def identity() -> tuple[str, ...]:
    """Names the processor: where these words are equal, LLVM makes the same code.

    MissingCompilerError where only LLVM knows, and it cannot be loaded.
    """
    found = _listed(machine())
    return (machine(), *found) if found else _by_llvm()


def _listed(family: str) -> tuple[str, ...]:
    """The lines that Linux has on the processor; none on other systems."""
    try:
        with open(_KNOWN[family], encoding="utf-8") as file:
            text = file.read()
    except (OSError, KeyError, UnicodeDecodeError):
        return ()
    if _FAMILY[family] not in text:
        return ()
    return tuple(dict.fromkeys(line for line in text.splitlines() if not line.startswith(_OF_NO_USE)))


def _by_llvm() -> tuple[str, ...]:
    from xjit.llvm import toolchain

    toolchain.imported("llvmlite.binding")
    from xjit.llvm import targets

    target = targets.host()
    return target.triple, target.cpu, target.features
