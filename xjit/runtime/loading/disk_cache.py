"""A cache of small files between processes, by content key; it never raises and never lies.

Entries hold machine code, so a folder that somebody else owns, may write to or may exchange is refused
(:mod:`xjit.runtime.loading.cache_folder`).  An entry is written to a temporary file and renamed, and carries a
checksum (:mod:`xjit.runtime.loading.cache_entry`): a reader sees a whole entry that belongs in this place or none,
whatever happened to the writer, the disk or the file.  When the folder cannot be written there is one warning, and
what is new is kept in memory for the rest of the process.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Sequence

from xjit.dataclass import dataclass
from xjit.errors import CacheWarning
from xjit.runtime.loading import cache_folder
from xjit.runtime.loading.cache_entry import seal, unseal
from xjit.runtime.loading.cache_folder import Folder
from xjit.runtime.notices import Notices

_ENTRY = ".xjc"
_TEMPORARY = ".tmp"

MAXIMUM_BYTES = 256 << 20
"""The largest size of the folder in bytes; the entries unused for longest go first."""
TRIM_EVERY = 16 << 20
"""The bytes that one process may write until it looks at the size of the folder again."""
MEMORY_BYTES = 32 << 20
"""The bytes kept in memory if no folder can be written; the oldest goes first."""


class DiskCache:
    """Files in one folder, and in ``shipped`` folders that are only read; without a folder, entries in memory.

    Safe to use from many threads and many processes at once. Keys are hexadecimal digests; the kind of an entry says
    what is done with its content.

    >>> cache = DiskCache(None)
    >>> cache.put("kernel", "0a1b", b"code")
    >>> cache.get("kernel", "0a1b")
    b'code'
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None,
        shipped: Sequence[str | os.PathLike[str]] = (),
        *,
        notices: Notices | None = None,
    ) -> None:
        self._directory = None if directory is None else os.fspath(directory)
        self._shipped = tuple(os.fspath(path) for path in shipped)
        self._notices = notices or Notices()
        self._memory: dict[tuple[str, str], bytes] = {}
        self._put: set[tuple[str, str]] = set()
        self._temporary_numbers = itertools.count()
        self._until_trim = 0
        self._found: tuple[Folder, ...] | None = None

    def get(self, kind: str, key: str) -> bytes | None:
        """The entry of a kind under a key, or None when there is none that is whole."""
        kept = self._memory.get((kind, key))
        if kept is not None:
            return kept
        for folder in self._folders():
            data = self._read(folder, kind, key)
            if data is not None:
                return data
        return None

    def _read(self, folder: Folder, kind: str, key: str) -> bytes | None:
        path = _path(folder, key)
        try:
            content = _read_file(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._close(folder, f"{path} cannot be read: {error}")
            return None
        data = unseal(kind, key, content)
        if data is None:
            self._discard(folder, path)
        elif not folder.reason:
            with contextlib.suppress(OSError):
                os.utime(path)  # marked as used
        return data

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Keeps an entry under a key."""
        self._put.add((kind, key))
        own = self._own()
        if own is None:
            self._remember(kind, key, data)
            return
        content = seal(kind, key, data)
        try:
            try:
                self._write(own.path, key, content)
            except FileNotFoundError:  # the folder or the file was removed under our hands
                cache_folder.opened(own.path)
                self._write(own.path, key, content)
        except (OSError, cache_folder.UntrustedFolderError) as error:
            self._replace(own, Folder(own.path, f"it cannot be written: {error}"))
            self._remember(kind, key, data)
            return
        self._until_trim -= len(content)
        if self._until_trim <= 0:
            self._until_trim = TRIM_EVERY
            self.trim(MAXIMUM_BYTES)

    def has_put(self, kind: str, key: str) -> bool:
        """Return whether this process has kept an entry under a key."""
        return (kind, key) in self._put

    def reject(self, kind: str, key: str) -> None:
        """Removes an entry the content of which turned out to be of no use."""
        self._memory.pop((kind, key), None)
        for folder in self._folders():
            if os.path.exists(_path(folder, key)):
                self._discard(folder, _path(folder, key))

    def shelf(self, kind: str) -> Shelf:
        """The entries of one kind."""
        return Shelf(self, kind)

    def clear(self) -> None:
        """Removes all entries, in memory and on disk; not those of folders that are only read."""
        self._memory.clear()
        self.trim(0)

    def trim(self, maximum_bytes: int) -> None:
        """Removes entries, unused for longest first, until the rest fits; and what broken writers left."""
        own = self._own()
        if own is None:
            return
        with contextlib.suppress(OSError):
            files = _files(own.path)
            total = sum(status.st_size for status, _ in files)
            for status, path in sorted(files, key=lambda file: file[0].st_mtime):
                if total <= maximum_bytes:
                    break
                total -= status.st_size
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    # ------------------------------------------------------------------ folders

    def _folders(self) -> tuple[Folder, ...]:
        """The folders that entries are looked for in, the one that is written to first."""
        if self._found is None:
            own = () if self._directory is None else self._opened(self._directory, shipped=False)
            self._found = (*own, *itertools.chain(*(self._opened(path, shipped=True) for path in self._shipped)))
        return self._found

    def _opened(self, path: str, *, shipped: bool) -> tuple[Folder, ...]:
        try:
            return (cache_folder.opened(path, shipped=shipped),)
        except cache_folder.UntrustedFolderError as error:
            reason = str(error)
        except OSError as error:
            if shipped and isinstance(error, FileNotFoundError):
                return ()
            reason = f"{path} cannot be {'read' if shipped else 'created'}: {error}"
        self._refuse(path, reason)
        return ()

    def _own(self) -> Folder | None:
        return next((folder for folder in self._folders() if not folder.reason), None)

    def _replace(self, folder: Folder, *new: Folder) -> None:
        self._found = tuple(one for old in self._folders() for one in (new if old == folder else (old,)))

    def _close(self, folder: Folder, reason: str) -> None:
        self._replace(folder)
        self._refuse(folder.path, reason)

    def _refuse(self, path: str, reason: str) -> None:
        if path == self._directory:
            self._warn_of_memory(reason)
        else:
            self._warn(path, f"shipped kernels are not used: {reason}")

    def _write(self, directory: str, key: str, content: bytes) -> None:
        name = f"{key}.{os.getpid()}.{next(self._temporary_numbers)}{_TEMPORARY}"
        temporary = os.path.join(directory, name)
        try:
            _write_new(temporary, content)
            os.replace(temporary, os.path.join(directory, key + _ENTRY))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _remember(self, kind: str, key: str, data: bytes) -> None:
        self._memory[kind, key] = data
        total = sum(map(len, list(self._memory.values())))
        for old in list(self._memory):
            if total <= MEMORY_BYTES:
                break
            total -= len(self._memory.pop(old, b""))
        unwritable = next((one for one in self._folders() if one.path == self._directory), None)
        if unwritable is not None:
            self._warn_of_memory(f"{unwritable.path} is not written to: {unwritable.reason}")

    # ------------------------------------------------------------------ warnings

    def _discard(self, folder: Folder, path: str) -> None:
        """Removes what is no entry of this place, so that it is written anew."""
        if not folder.reason:
            with contextlib.suppress(OSError):
                os.unlink(path)
        remedy = "passed over" if folder.reason else "made anew"
        self._warn("damage", f"{path} was damaged, or is the entry of another kernel; it is {remedy}")

    def _warn_of_memory(self, reason: str) -> None:
        self._warn(str(self._directory), f"compiled kernels are kept for this process only: {reason}")

    def _warn(self, subject: str, text: str) -> None:
        self._notices.warn(f"cache: {subject}", text, CacheWarning)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The entries of one kind in a cache."""

    cache: DiskCache
    kind: str

    def get(self, key: str) -> bytes | None:
        """The entry under a key, or None when there is none that is whole."""
        return self.cache.get(self.kind, key)

    def put(self, key: str, data: bytes) -> None:
        """Keeps an entry under a key."""
        self.cache.put(self.kind, key, data)

    def reject(self, key: str) -> None:
        """Removes an entry the content of which turned out to be of no use."""
        self.cache.reject(self.kind, key)


def _path(folder: Folder, key: str) -> str:
    return os.path.join(folder.path, key + _ENTRY)


def _read_file(path: str) -> bytes:
    """The bytes of a file; none of a pipe, which would block."""
    if stat.S_ISFIFO(os.stat(path).st_mode):
        return b""
    with open(path, "rb") as file:
        return file.read()


def _is_ours(name: str) -> bool:
    return name.endswith((_ENTRY, _TEMPORARY))


def _files(directory: str) -> list[tuple[os.stat_result, str]]:
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            # Other writers rename and remove files meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if _is_ours(entry.name):
                    found.append((entry.stat(), entry.path))
    return found


def _write_new(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
