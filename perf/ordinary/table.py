"""All ordinary programs, and their versions for Numba and JAX."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator, Mapping

from perf.ordinary import programs
from perf.ordinary.record import Function, Ordinary


def families() -> tuple[str, ...]:
    """Return the names of the modules of programs."""
    return tuple(sorted(one.name for one in pkgutil.iter_modules(programs.__path__)))


def _all() -> Iterator[tuple[str, Ordinary]]:
    for family in families():
        for program in importlib.import_module(f"{programs.__name__}.{family}").PROGRAMS:
            yield family, program


FAMILY: Mapping[str, str] = {program.name: family for family, program in _all()}
PROGRAMS: tuple[Ordinary, ...] = tuple(program for _, program in _all())
BY_NAME: Mapping[str, Ordinary] = {program.name: program for program in PROGRAMS}


def by_hand(name: str) -> Function | None:
    """Return the loops by hand of a program; this imports Numba."""
    return _version("perf.ordinary.by_hand", "BY_HAND", name)


def jax_port(name: str) -> Function | None:
    """Return the port of a program to JAX, not yet compiled; this imports JAX."""
    return _version("perf.ordinary.jax_ports", "PORTS", name)


def _version(package: str, table: str, name: str) -> Function | None:
    module = f"{package}.{FAMILY[name]}"
    if importlib.util.find_spec(module) is None:
        return None
    found: Mapping[str, Function] = getattr(importlib.import_module(module), table)
    return found.get(name)
