"""The machine that numbers were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perf.measuring.peers import LOOPS, Runner, installed

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
UNKNOWN_LAST_CACHE = 32 << 20
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine and the software on it, in words."""

    processor: str
    cores: int
    last_cache: int
    system: str
    versions: str

    def __str__(self) -> str:
        cache = f"last cache {self.last_cache >> 20} MiB"
        return f"{self.processor}, {self.cores} cores, {cache}; {self.system}; {self.versions}"


def processor() -> str:
    """Return the processor's name as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(part.split(":", 1) for part in reversed(lines) if ":" in part)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    name = facts.get("model name", platform.machine())
    numbers = [facts.get(key) for key in ("cpu family", "model")]
    return f"{name} (family {numbers[0]}, model {numbers[1]})" if all(numbers) else name


def code_for() -> str:
    """Return what code is made for: LLVM's name of the processor, and the bits of vectors where there is a choice."""
    from xjit.codegen.cpu import llvm_pipeline
    from xjit.llvm import vector_width

    target = llvm_pipeline.host()
    features = target.features.split(",")
    return f"{target.cpu}-{vector_width.preferred_bits(features)}" if "+avx512f" in features else target.cpu


def cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def last_cache() -> int:
    """Return the bytes of the last-level cache, or a guess where the system does not tell."""
    sizes = [parse_size(path.read_text().strip()) for path in CACHES.glob("index*/size")]
    return max(sizes, default=UNKNOWN_LAST_CACHE)


def parse_size(text: str) -> int:
    """Return the bytes that a text such as `32768K` means."""
    return int(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else int(text)


def this_machine(runners: Sequence[Runner] | None = None) -> Machine:
    """Return the description of the machine this runs on, with the versions of those that take part."""
    versions = [f"Python {platform.python_version()}"]
    present = [runner for runner in (installed() if runners is None else runners) if runner is not LOOPS]
    versions += [f"{runner.name.removesuffix('.compile')} {runner.version}" for runner in present]
    versions.append(f"Numba {importlib.metadata.version('numba')}")
    return Machine(
        processor(), cores(), last_cache(), f"{platform.system()} {platform.release()}", ", ".join(versions)
    )
