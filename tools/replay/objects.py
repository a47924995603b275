"""Digests of machine code: ``python -m tools.replay.objects`` reads texts and writes the digest of each, as JSON."""

from __future__ import annotations

import hashlib
import json
import sys

from xjit.codegen.front_end.numba_compat import compile_kernel


def digest(text: str) -> str:
    """Return a digest of the object of a kernel, or of why there is none."""
    try:
        code = compile_kernel(text).object_code
    except TypeError as error:
        return f"refused: {error}"
    return hashlib.sha256(code).hexdigest()


def main() -> None:
    """Compile all texts of the standard input."""
    json.dump({text: digest(text) for text in json.load(sys.stdin)}, sys.stdout)


if __name__ == "__main__":
    main()
