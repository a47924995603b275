"""A cache of small files between processes, by content key; it never raises and never lies.

Entries hold machine code, so a directory that somebody else owns or may write to is refused.  An entry is written
to a temporary file and renamed, and carries a checksum: a reader sees a whole entry or none, whatever happened to
the writer, the disk or the file.  When the directory cannot be used there is one warning, and the cache works in
memory for the rest of the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import stat
from pathlib import Path

from xjit import jobs
from xjit.errors import CacheWarning

_MAGIC = b"xjit-cache-1\n"
_CHECKSUM = hashlib.sha256().digest_size
_HEADER = len(_MAGIC) + _CHECKSUM
_ENTRY = ".xjc"
_TEMPORARY = ".tmp"

MAXIMUM_BYTES = 256 << 20
"""How large the directory may grow; the entries unused for longest go first."""


class DiskCache:
    """Files in one directory; ``directory=None`` keeps entries in memory only.

    Safe to use from many threads and many processes at once.

    >>> cache = DiskCache(None)
    >>> cache.put("0a1b", b"code")
    >>> cache.get("0a1b")
    b'code'
    """

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self._memory: dict[str, bytes] = {}
        self._temporary_numbers = itertools.count()
        self._checked = False
        self._trimmed = False
        self._damage_told = False

    def get(self, key: str) -> bytes | None:
        """The entry under a key (a hexadecimal digest), or None when there is none that is whole."""
        kept = self._memory.get(key)
        directory = self._usable()
        if kept is not None or directory is None:
            return kept
        path = directory / (key + _ENTRY)
        try:
            content = _read_file(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._give_up(f"{path} cannot be read: {error}")
            return None
        data = _unseal(content)
        # A damaged entry is removed, so that it is written anew; a good one is marked as used.
        with contextlib.suppress(OSError):
            path.unlink() if data is None else os.utime(path)
        if data is None:
            self._warn_of_damage(path)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keeps an entry under a key."""
        directory = self._usable()
        if directory is None:
            self._memory[key] = data
            return
        try:
            try:
                self._write(directory, key, data)
            except FileNotFoundError:  # the directory or the file was removed under our hands
                reason = _prepare(directory)
                if reason is not None:
                    raise OSError(reason) from None
                self._write(directory, key, data)
        except OSError as error:
            self._memory[key] = data
            self._give_up(f"{directory} cannot be written: {error}")
            return
        if not self._trimmed:
            self._trimmed = True
            self.trim(MAXIMUM_BYTES)

    def _write(self, directory: Path, key: str, data: bytes) -> None:
        temporary = directory / f"{key}.{os.getpid()}.{next(self._temporary_numbers)}{_TEMPORARY}"
        try:
            _write_new(temporary, _seal(data))
            os.replace(temporary, directory / (key + _ENTRY))
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def clear(self) -> None:
        """Removes all entries, in memory and on disk."""
        self._memory.clear()
        self.trim(0)

    def trim(self, maximum_bytes: int) -> None:
        """Removes entries, unused for longest first, until the rest fits; and what broken writers left."""
        directory = self._usable()
        if directory is None:
            return
        with contextlib.suppress(OSError):
            files = _files(directory)
            total = sum(status.st_size for status, _ in files)
            for status, path in sorted(files, key=lambda file: file[0].st_mtime):
                if total <= maximum_bytes:
                    break
                total -= status.st_size
                Path(path).unlink(missing_ok=True)

    def _usable(self) -> Path | None:
        if not self._checked:
            reason = None if self.directory is None else _prepare(self.directory)
            self._checked = True
            if reason is not None:
                self._give_up(reason)
        return self.directory

    def _give_up(self, reason: str) -> None:
        if self.directory is None:
            return
        self.directory = None
        jobs.warn(f"compiled kernels are kept for this process only: {reason}", CacheWarning)

    def _warn_of_damage(self, path: Path) -> None:
        if self._damage_told:
            return
        self._damage_told = True
        jobs.warn(f"{path} was damaged; it is made anew", CacheWarning)


def _read_file(path: Path) -> bytes:
    """The bytes of a file; none of a pipe, which would block."""
    return b"" if stat.S_ISFIFO(path.stat().st_mode) else path.read_bytes()


def _is_ours(name: str) -> bool:
    return name.endswith((_ENTRY, _TEMPORARY))


def _files(directory: Path) -> list[tuple[os.stat_result, str]]:
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            # Other writers rename and remove files meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if _is_ours(entry.name):
                    found.append((entry.stat(), entry.path))
    return found


def _seal(data: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(data).digest() + data


def _unseal(content: bytes) -> bytes | None:
    data = content[_HEADER:]
    return data if content[:_HEADER] == _MAGIC + hashlib.sha256(data).digest() else None


def _write_new(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)


def _prepare(directory: Path) -> str | None:
    """Creates the directory if need be; the reason why it must not be used, or None."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        link, target = os.lstat(directory), os.stat(directory)
    except OSError as error:
        return f"{directory} cannot be created: {error}"
    if hasattr(os, "getuid"):
        if {link.st_uid, target.st_uid} != {os.getuid()}:
            return f"{directory} belongs to another user"
        if stat.S_IMODE(target.st_mode) & 0o022:
            return f"{directory} can be written by other users"
    return None
