"""Format of a file of the cache: a checksum over everything that a reader relies on, then the content.

The checksum covers what kind of entry it is, the key it is kept under, the versions it was made by and the content.
So a file says of itself where it belongs: under another name, or in the place of an entry of another kind, it is no
entry.
"""

from __future__ import annotations

from xjit.llvm import digests

_MAGIC = b"xjit-cache-2\n"
_HEADER = len(_MAGIC) + len(digests.sha256(b"").digest())


def seal(kind: str, key: str, data: bytes) -> bytes:
    """The content of the file that keeps ``data``."""
    return _header(kind, key, data) + data


def unseal(kind: str, key: str, content: bytes) -> bytes | None:
    """The data that a file keeps; None unless it is a whole entry of this kind under this key.

    >>> unseal("kernel", "0a1b", seal("kernel", "0a1b", b"code"))
    b'code'
    >>> unseal("kernel", "2c3d", seal("kernel", "0a1b", b"code"))
    """
    data = content[_HEADER:]
    return data if content[:_HEADER] == _header(kind, key, data) else None


def _header(kind: str, key: str, data: bytes) -> bytes:
    place = digests.digest(kind, key, digests.versions())
    checksum: bytes = digests.sha256(place.encode() + data).digest()
    return _MAGIC + checksum
