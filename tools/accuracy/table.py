"""The page of the documentation that states the figures, made from them."""

from __future__ import annotations

from pathlib import Path

from tools.accuracy import results
from tools.accuracy.prose import HEAD, TAIL
from tools.accuracy.records import split
from tools.accuracy.results import Result
from xjit.codegen.vmath import VECTOR_FUNCTIONS

PAGE = results.FILE.with_suffix(".md")
KINDS = ("f32", "f64")


def count_in_words(count: int) -> str:
    """A number of samples, in millions or thousands."""
    if count >= 10_000_000:
        return f"{count / 1e6:.0f} million"
    return f"{count / 1e6:.1f} million" if count >= 1_000_000 else f"{count // 1000} thousand"


def cells(name: str, found: dict[str, Result]) -> list[str]:
    """Largest error, bound, method and place of one function."""
    if name not in VECTOR_FUNCTIONS:
        return ["–", "–", "–", "–"]
    bound, result = f"{VECTOR_FUNCTIONS[name].error:g}", found.get(name)
    if result is None:
        return ["not measured", bound, "–", "–"]
    method = "all" if result.method.startswith("all") else count_in_words(result.count)
    error = f"{result.error:.3f}" + (" (stale)" if result.stale else "")
    wrong = "".join(f"; **{count} wrong: {kind}**" for kind, count in result.mistakes.items())
    return [error + wrong, bound, method, ", ".join(f"`{short(text)}`" for text in result.arguments) or "–"]


def short(hexadecimal: str) -> str:
    """A number in hexadecimal without zeros at the end of its fraction.

    >>> short("0x1.8000000000000p+1")
    '0x1.8p+1'
    """
    fraction, sign, exponent = hexadecimal.partition("p")
    return fraction.rstrip("0").rstrip(".") + sign + exponent if "." in fraction else hexadecimal


def rows(found: dict[str, Result], kind: str) -> list[str]:
    """The lines of one element type."""
    names = sorted(name for name in VECTOR_FUNCTIONS if split(name)[1] == kind)
    return [f"| {' | '.join([f'`{split(name)[0]}`', *cells(name, found)])} |" for name in names]


def text(found: dict[str, Result]) -> str:
    """The whole page."""
    head = "| function | largest error seen | stated bound | arguments tried | at |\n|---|---|---|---|---|"
    kinds = [*KINDS, *sorted({split(name)[1] for name in VECTOR_FUNCTIONS} - set(KINDS))]
    titles = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
    parts = [HEAD, measured_on(found)]
    for kind in kinds:
        parts.append("\n".join([f"### {titles.get(kind, kind)}\n", head, *rows(found, kind)]) + "\n")
    return "\n".join([*parts, TAIL])


def measured_on(found: dict[str, Result]) -> str:
    """When and where the figures were measured, in words."""
    if not found:
        return "Nothing has been measured yet.\n"
    dates = sorted({result.date for result in found.values()})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"Measured {span} on {', '.join(sorted({result.processor for result in found.values()}))}.\n"


def write(page: Path = PAGE) -> None:
    """Writes the page."""
    page.write_text(text(results.read()), encoding="utf-8")


def problems(found: dict[str, Result]) -> list[str]:
    """Describe what keeps the figures from vouching for the functions as they are."""
    lines = []
    for name, function in sorted(VECTOR_FUNCTIONS.items()):
        result = found.get(name)
        if result is None:
            lines.append(f"{name}: not measured")
            continue
        if result.stale:
            lines.append(f"{name}: changed since it was measured")
        if result.error > function.error:
            lines.append(f"{name}: {result.error:.4f} units at {result.arguments}, stated are {function.error:g}")
        if result.mistakes:
            lines.append(f"{name}: wrong results: {result.mistakes}")
    return lines
