"""Every setting in one table: environment variable, default, meaning, and whether it enters the cache key.

The environment is read when a setting is asked for, so tests and notebooks may change it at any time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xjit.dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable; ``in_cache_key`` says whether it changes the code that is generated."""

    name: str
    default: str
    meaning: str
    in_cache_key: bool = False


SETTINGS = (
    Setting("XJIT_CACHE_DIR", "", "directory of the disk cache; the user's cache directory when unset"),
    Setting("XJIT_SHIPPED_DIR", "", "folders of shipped kernels, only read; ``shipped`` in this package when unset"),
    Setting("XJIT_NUM_THREADS", "", "threads of a parallel kernel at most; NUMBA_NUM_THREADS and others when unset"),
    Setting("XJIT_STRICT", "0", "1: raise where a call or a step of it would fall back to NumPy with a warning"),
    Setting("XJIT_NO_FALLBACK", "0", "1: an error when a compiled program would run a NumPy reference"),
    Setting("XJIT_VECTOR_BITS", "", "128, 256 or 512: bits of vectors; the best for the processor when unset", True),
    Setting("XJIT_COMPILE_LIMIT", "60", "seconds after which a compile is given up and NumPy answers; 0: never"),
    Setting("XJIT_TRIALS", "1", "0: split programs run compiled, also where NumPy would be quicker"),
    Setting("XJIT_FULL_TRACE", "0", "1: keep inner frames in tracebacks"),
    Setting("XJIT_DEBUG", "0", "1: run the generated source uncompiled and bounds-checked"),
    Setting("XJIT_VERIFY", "0", "1: verify the graph after each pass and compare each call with NumPy"),
)

_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


def text(name: str) -> str:
    """The value of a setting; KeyError for a name that is not in the table."""
    return os.environ.get(name, _DEFAULTS[name])


def flag(name: str) -> bool:
    """Return whether a setting is switched on: anything but empty and 0.

    >>> flag("XJIT_DEBUG")
    False
    """
    return text(name) not in ("", "0")


def environment_entry(name: str) -> tuple[Callable[[Any], Any], Any, frozenset[Any]]:
    """A quick way to ask whether a setting is on: it is if ``get(key)`` is not in ``off``.

    ``os.environ`` encodes the name and the text at each look, which takes longer than a call of a small function;
    what it keeps them in does not.

    >>> get, key, off = environment_entry("XJIT_DEBUG")
    >>> get(key) not in off
    False
    """
    found: Any = os.environ
    off = (None, "", "0") if _DEFAULTS[name] in ("", "0") else ("", "0")
    try:
        kept, key, encoded = found._data, found.encodekey(name), map(_encoded, off)
    except AttributeError:
        return found.get, name, frozenset(off)
    return kept.get, key, frozenset(encoded)


def _encoded(text: str | None) -> Any:
    found: Any = os.environ
    return None if text is None else found.encodevalue(text)


def cache_directory() -> Path:
    """Return the folder of compiled kernels: XJIT_CACHE_DIR, the user's cache directory, or a temporary one."""
    from pathlib import Path

    return Path(cache_path())


def cache_path() -> str:
    """The same as text: to load paths as objects takes longer than to find a small program in the cache."""
    chosen = text("XJIT_CACHE_DIR")
    if chosen:
        return chosen
    folder = _user_cache()
    if folder is None:
        import tempfile

        return os.path.join(tempfile.gettempdir(), f"xjit-{_user_id()}")
    return os.path.join(folder, "xjit")


def shipped_directories() -> tuple[Path, ...]:
    """Return the folders of kernels that came with an installation: XJIT_SHIPPED_DIR, which may list several folders
    as PATH does, or the folder ``shipped`` in this package.
    """
    from pathlib import Path

    return tuple(map(Path, shipped_paths()))


def shipped_paths() -> tuple[str, ...]:
    """The same as text."""
    chosen = text("XJIT_SHIPPED_DIR")
    paths = chosen.split(os.pathsep) if chosen else [os.path.join(os.path.dirname(__file__), "shipped")]
    return tuple(path for path in paths if path)


def _user_cache() -> str | None:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or _below_home("AppData", "Local")
    if sys.platform == "darwin":
        return _below_home("Library", "Caches")
    return os.environ.get("XDG_CACHE_HOME") or _below_home(".cache")


def _below_home(*parts: str) -> str | None:
    """A folder below the user's home; None where nobody knows it."""
    home = os.path.expanduser("~")
    return None if home.startswith("~") else os.path.join(home, *parts)


def _user_id() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
