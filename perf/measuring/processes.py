"""New processes to be measured: what they find is what an installed package finds."""

from __future__ import annotations

import os


def environment(cache: str) -> dict[str, str]:
    """Return the environment of a process whose kernels are kept in the folder `cache`.

    The bytecode of modules is written and found again, as that of installed packages is.
    """
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**own, "XJIT_CACHE_DIR": cache}
