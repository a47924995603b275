"""Write ``xjit/ops/__init__.py``: the public names of all modules of operations, found without importing them.

    python -m tools.exports            # write the file anew
    python -m tools.exports --check    # exit status 1 if it is not up to date

A module exports the operations that it makes as rows of a table, and the names in its ``__all__``.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "xjit" / "ops"
FILE = PACKAGE / "__init__.py"
ROWS = ("unary", "binary", "function", "operator")
ERRORS = ("ArgumentError", "DTypeError", "ShapeError", "XjitError")
HEAD = '''\
"""XLA's operation semantics, strict and complete: nothing is promoted, nothing broadcasts by itself.

Written by ``python -m tools.exports``.
"""

'''


def exported(tree: ast.Module) -> Iterator[str]:
    """Yield the public names of a module.

    >>> list(exported(ast.parse("__all__ = ['iota']\\nsin = function('sin')\\n_rest = unary('rest')\\n")))
    ['iota', 'sin']
    """
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if name == "__all__":
                yield from ast.literal_eval(value)
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                yield from [name] if value.func.id in ROWS and not name.startswith("_") else ()


def natural(text: str) -> list[tuple[bool, int, str]]:
    """Return a key that sorts numbers in names by value, as the linter sorts imports."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", text)]


def order(line: tuple[str, str]) -> tuple[object, ...]:
    """Return the key of a (module, name): classes come before functions."""
    module, name = line
    return natural(module), not name[0].isupper(), natural(name)


def text() -> str:
    """Return what the file should be."""
    lines = [("xjit.errors", name) for name in ERRORS]
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if path.name != "__init__.py":
            lines += [(module, name) for name in exported(ast.parse(path.read_text(encoding="utf-8")))]
    imports = [(line, f"from {line[0]} import {line[1]} as {line[1]}\n") for line in lines]
    imports.append((("xjit.ir.boundary", "expose"), "from xjit.ir.boundary import expose as _expose\n"))
    return "".join(
        [HEAD, *(one for _, one in sorted(imports, key=lambda pair: order(pair[0]))), "\n_expose(globals())\n"]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or compare with it."""
    parser = argparse.ArgumentParser(prog="python -m tools.exports", description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    options = parser.parse_args(arguments)
    if options.check:
        return int(FILE.read_text(encoding="utf-8") != text())
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
