"""The speed of single functions on all processors side by side, from the pages of each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

SECTION = "## One thread"
RATIO = "over NumPy "
KEYS = ("function", "type")

HEAD = """# Speed of single functions, by processor

How many times as fast as NumPy `@xjit` is on one thread, by medians, with minima in brackets, at 10⁴ and 10⁶
elements. A processor is called what LLVM calls it, with the bits of its vectors where there is a choice; its page has
the machine, the versions, the day and all times. `python -m perf functions` writes the page of the processor that it
runs on, and this one anew from all that are there.
"""

Row = tuple[str, str]
Columns = dict[str, dict[Row, str]]


def cells(line: str) -> list[str]:
    """Return the cells of a line of a table.

    >>> cells("| `np.exp` | f32 | 1.2 |")
    ['`np.exp`', 'f32', '1.2']
    """
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table_of(page: str) -> list[list[str]]:
    """Return the cells of the table of one thread, titles first; an empty list for a page without it."""
    lines = page.partition(f"{SECTION}\n")[2].partition("\n## ")[0].splitlines()
    rows = [cells(line) for line in lines if line.startswith("|")]
    return rows[:1] + rows[2:]


def ratios(page: str) -> Columns:
    """Return the ratios of a page, by size, function and type."""
    titles, *rows = table_of(page) or [[]]
    found: Columns = {}
    for place, title in enumerate(titles):
        if title.startswith(RATIO):
            found[title.removeprefix(RATIO)] = {(row[0], row[1]): row[place] for row in rows}
    return found


def index(pages: Mapping[str, str]) -> str:
    """Return the page that sets processors side by side, from their pages by name."""
    columns = [(f"{name} {size}", column) for name, text in pages.items() for size, column in ratios(text).items()]
    links = [f"* [{name}](function-speed/{name}.md)" for name in pages]
    rows = dict.fromkeys(row for _, column in columns for row in column)
    lines = [_line((*KEYS, *(title for title, _ in columns))), "|---" * (len(KEYS) + len(columns)) + "|"]
    lines += [_line((*row, *(column.get(row, "–") for _, column in columns))) for row in rows]
    return "\n".join([HEAD, *links, "", *lines]) + "\n"


def write_index(folder: Path) -> Path:
    """Write the page beside a folder of pages, named after it; return its path."""
    output = folder.with_suffix(".md")
    output.write_text(index(read_pages(sorted(folder.glob("*.md")))), encoding="utf-8")
    return output


def read_pages(paths: Iterable[Path]) -> dict[str, str]:
    """Return pages by their names."""
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"
