"""Which folders of machine code this process may trust, and whether it may write to them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from xjit.dataclass import dataclass

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that may be read, and written unless ``reason`` says why not."""

    path: str
    reason: str = ""


class UntrustedFolderError(Exception):
    """A folder that must not be read, with the reason."""


def opened(directory: str, *, shipped: bool = False) -> Folder:
    """The folder as this process may use it, created if need be unless it is ``shipped``, which is never written to.

    Its owner decides: what belongs to this user is written and read, what belongs to root or to the owner of this
    package is only read, as they could change the code of this very process anyway. Raises UntrustedFolderError
    for what anybody else could have written to, or could exchange, and OSError where there is no folder.
    """
    if not shipped:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    link, target = os.lstat(directory), os.stat(directory)
    if not stat.S_ISDIR(target.st_mode):
        raise NotADirectoryError(f"{directory} is no folder")
    if not hasattr(os, "getuid"):
        return Folder(directory, "it is a shipped one" if shipped else "")
    _check(directory, {link.st_uid, target.st_uid}, target.st_mode)
    if shipped:
        return Folder(directory, "it is a shipped one")
    if {link.st_uid, target.st_uid} != {os.getuid()}:
        return Folder(directory, "it belongs to another user")
    return Folder(directory, "" if os.access(directory, os.W_OK | os.X_OK) else "it can only be read")


def _check(directory: str, owners: set[int], mode: int) -> None:
    if not owners <= {os.getuid(), *_installers()}:
        raise UntrustedFolderError(f"{directory} belongs to another user")
    if mode & _OTHERS:
        raise UntrustedFolderError(f"{directory} can be written by other users")
    for parent in dict.fromkeys((*_parents(os.path.abspath(directory)), *_parents(os.path.realpath(directory)))):
        parent_mode = os.stat(parent).st_mode
        if parent_mode & stat.S_IWOTH and not parent_mode & stat.S_ISVTX:
            raise UntrustedFolderError(f"{directory} can be exchanged by other users, who may write to {parent}")


def _parents(path: str) -> Iterator[str]:
    """The folders that a path leads through, up to the root."""
    parent = os.path.dirname(path)
    while parent != path:
        yield parent
        path, parent = parent, os.path.dirname(parent)


def _installers() -> set[int]:
    """The users whose code this process runs anyway: root and the owner of this package."""
    return {0, os.stat(__file__).st_uid}
