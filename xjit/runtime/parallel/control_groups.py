"""Limits of this process by control groups: processors and memory.  Linux only; no limits elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


class ControlGroups:
    """The groups a process belongs to and their ancestors, in both versions of the interface.

    ``membership`` lists the groups as ``/proc/self/cgroup`` does, ``root`` is where the hierarchies are mounted.
    Files that are missing or make no sense set no limit.
    """

    def __init__(self, membership: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> None:
        self._root = root
        try:
            self._lines = membership.read_text().splitlines()
        except OSError:
            self._lines = []

    def processors(self) -> float | None:
        """The tightest processor quota, None without any."""
        return self._tightest("cpu", _processors)

    def memory(self) -> float | None:
        """The tightest memory limit in bytes, None without any."""
        return self._tightest("memory", _memory)

    def _tightest(self, controller: str, limit_of: Callable[[Path], float | None]) -> float | None:
        """The smallest limit of all groups concerned, by a function that reads the limit of one."""
        limits: list[float] = []
        for line in self._lines:
            _, controllers, group = line.split(":", 2)
            if not controllers:
                mounts = [self._root]
            elif controller in controllers.split(","):
                mounts = [self._root / controllers, self._root / controller]
            else:
                mounts = []
            for mount in mounts:
                limits += [limit for limit in map(limit_of, _up_from(mount, group)) if limit is not None]
        return min(limits, default=None)


def _up_from(mount: Path, group: str) -> list[Path]:
    """The folders of ``group`` and all its ancestors below ``mount``.

    Inside a container the path may name a group of the host that is not visible; the mount itself then is the
    container's own group, which the walk always ends with.
    """
    folder = mount / group.lstrip("/")
    folders = [folder, *folder.parents]
    return folders[: folders.index(mount) + 1] if mount in folders else [mount]


def _processors(folder: Path) -> float | None:
    words = _read(folder / "cpu.max").split()
    if not words:
        words = [_read(folder / "cpu.cfs_quota_us").strip(), _read(folder / "cpu.cfs_period_us").strip()]
    numbers = [_number(word) for word in words]
    return numbers[0] / numbers[1] if len(numbers) == 2 and min(numbers) > 0 else None


def _memory(folder: Path) -> float | None:
    text = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes")
    return _number(text.strip()) or None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(text: str) -> int:
    """A positive integer; 0 for anything else, such as ``max`` or ``-1``."""
    return int(text) if text.isascii() and text.isdigit() else 0
