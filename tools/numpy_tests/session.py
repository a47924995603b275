"""One run of one test file of NumPy's, as a process of its own: plain, or with compiled functions.

python -m tools.numpy_tests.session {plain,wrapped} NOTES TEST_FILE [OPTION …]
"""

from __future__ import annotations

import builtins
import os
import resource
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tools.numpy_tests.outcomes import Notes
from tools.numpy_tests.wrapping import Wrapper

MOST_MEMORY = 16 << 30  # of addresses, of which compiler and threads only reserve many


class WrappedModule(pytest.Module):
    """A test module that sees NumPy through wrapped modules, at its import and later."""

    wrapper: Wrapper

    def _getobj(self) -> types.ModuleType:
        # Names of packages as where it is installed, so that relative imports work.
        parts = self.path.with_suffix("").parts
        name = ".".join(parts[len(parts) - parts[::-1].index("numpy") - 1 :])
        module = types.ModuleType(name)
        module.__file__, module.__package__ = str(self.path), name.rpartition(".")[0]
        own: Any = dict(vars(builtins), __import__=self.wrapper.importer())
        vars(module)["__builtins__"] = own
        sys.modules[name] = module
        exec(compile(self.path.read_bytes(), str(self.path), "exec"), vars(module))
        return module


class Wrapping:
    """Plugin of pytest: test modules are wrapped ones; at the end the counts of calls go to a file."""

    def __init__(self, wrapper: Wrapper, counts: Path) -> None:
        self._wrapper, self._counts = wrapper, counts

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        """Makes the collector of one file."""
        module = WrappedModule.from_parent(parent, path=module_path)
        module.wrapper = self._wrapper
        return module

    def pytest_sessionfinish(self) -> None:
        """Adds how many calls there were, and how many of them NumPy ran."""
        with self._counts.open("a", encoding="utf-8") as file:
            file.write(f"{self._wrapper.calls} {self._wrapper.fallbacks}\n")


def main(kind: str, notes: str, limit: str, errors: str, *words: str) -> int:
    """Runs pytest; its exit status."""
    for name in ("XJIT_STRICT", "XJIT_NO_FALLBACK"):
        os.environ.pop(name, None)
    # Tests that need more are left out, and none of them takes the machine down.
    os.environ.setdefault("NPY_AVAILABLE_MEM", "1 GB")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    plugins: list[Any] = [Notes(Path(notes), float(limit))]
    if kind == "wrapped":
        plugins.append(Wrapping(Wrapper(errors=errors), Path(notes).with_suffix(".counts")))
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "--tb=short", *words], plugins=plugins))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
