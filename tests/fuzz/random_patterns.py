"""Random pieces of programs as people write them: recurrences, searches, exchanged arrays, states, masks in loops.

A pattern is a text with holes. A hole of one letter is one name or expression throughout its pattern, a hole of a
word is another one each time.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tests.fuzz.random_expressions import array, condition, element, integer, number, view
from tests.fuzz.random_statements import statement
from tests.fuzz.scope import Scope

HOLE = re.compile(r"<(\w+)>")

RECURRENCES = (
    "for <i> in range(1, len(<x>)):\n    <x>[<i>] = <x>[<i> - 1] <op> <number>",
    "for <i> in range(len(<x>) - 2, -1, -1):\n    <x>[<i>] <aug> <x>[<i> + 1]",
    "for <i> in range(1, len(<x>) - 1):\n    <x>[<i>] = (<x>[<i> - 1] + <x>[<i> + 1]) <op> <y>[<i>]",
    "for <i> in range(<n>):\n    <x>[1:] = <x>[:-1]\n    <x>[0] = <number>",
    "for <i> in range(<n>):\n    <x>[<i>:] <aug> <x>[<i>]",
    "for <i> in range(len(<A>)):\n    for <j> in range(<i>):\n"
    "        <A>[<i>, <j>] -= <A>[<i>, :<j>] @ <A>[:<j>, <j>]",
    "for <i> in range(len(<A>)):\n    <A>[<i>, :<i>] <aug> <A>[:<i>, <i>]",
    "for <i> in range(len(<x>)):\n    <t> = <x>[:<i>] @ <y>[:<i>]\n    <y>[<i>] = <t> <op> <number>",
    "for <i> in range(1, len(<x>)):\n    <t> = <x>[<i>:] @ <y>[:-<i>]\n    <body>",
    "<o> = np.empty(len(<x>))\nfor <i> in range(len(<x>)):\n    <o>[<i>] = <x>[:<i> + 1].<fold>()",
    "<o> = np.zeros_like(<x>)\nfor <i> in range(0, len(<x>), 2):\n    <o>[<i>:<i> + 2] = <x>[<i>:<i> + 2]",
    "for <i> in range(<n>):\n    <x>[::<i> + 1] <aug> <number>",
    "for <i> in range(<n>):\n    <x>[<i>::-1] = <x>[:<i> + 1]",
    "for <i> in range(len(<x>)):\n    <t> = <x>[<i>:]\n    <t>[:1] <aug> <number>\n    <x>[-1] = <t>.sum()",
    "for <i> in range(<n>):\n    <x>[<i> % len(<x>)] <aug> <i>",
    "for <i> in range(<n>):\n    <x>[int(<x>[<i>]) % len(<x>)] <aug> 1",
)
SEARCHES = (
    "<b> = None\nfor <r> in <x>:\n    if <b> is None or <r> > <b>:\n        <b> = <r>",
    "<b> = 0\nfor <i> in range(1, len(<x>)):\n    if <x>[<i>] > <x>[<b>]:\n        <b> = <i>",
    "for <i> in range(1, len(<x>)):\n    <j> = <i>\n    while <j> > 0 and <x>[<j> - 1] > <x>[<j>]:\n"
    "        <x>[<j> - 1], <x>[<j>] = <x>[<j>], <x>[<j> - 1]\n        <j> -= 1",
    "<l>, <h> = 0, len(<x>)\nwhile <l> < <h>:\n    <m> = (<l> + <h>) // 2\n    if <x>[<m>] < <number>:\n"
    "        <l> = <m> + 1\n    else:\n        <h> = <m>",
    "<w> = 0\nwhile <w> < len(<x>) and <x>[<w>] < <number>:\n    <w> += 1",
    "<w> = 0\nwhile <x>[<w>] > <number>:\n    <x>[<w>] <aug> <number>\n    <w> += 1",
    "for <i> in range(len(<x>)):\n    if <x>[<i>] < <number>:\n        continue\n    <body>\n    if <condition>:\n"
    "        break\nelse:\n    <body>",
    "for <i> in range(<n>):\n    for <j> in range(<n>):\n        if <condition>:\n            break\n        <body>\n"
    "    else:\n        continue\n    break",
    "<w> = 0\nwhile True:\n    <body>\n    <w> += 1\n    if <w> > 4 or <condition>:\n        break",
    "<w> = <n>\nwhile <w>:\n    <w> -= 1\n    if <condition>:\n        continue\n    <body>\nelse:\n    <body>",
    "<w> = 0\nwhile (<t> := <x>[<w> % len(<x>)]) < <number> and <w> < 5:\n    <w> += 1",
    "<c> = 0\nfor <r> in <x>:\n    <c> += bool(np.all(<r> > <number>))",
    "for <i>, <r> in enumerate(<x>):\n    if np.any(<r> > <number>):\n        <x>[<i>] = <number>\n        break",
    "<b> = -1\nfor <i>, (<p>, <q>) in enumerate(zip(<x>, <y>)):\n    if np.sum(<p>) == np.sum(<q>):\n"
    "        <b> = <i>",
)
CARRIED = (
    "<a>, <b> = <x>, <x>.copy()\nfor <i> in range(<n>):\n    <b>[1:-1] = <a>[2:] <op> <a>[:-2]\n"
    "    <a>, <b> = <b>, <a>",
    "<a>, <b> = <x>, <y>\nfor <i> in range(<n>):\n    <a>, <b> = <b>, <a>\n    <a>[<index>] = <number>",
    "<a> = <b> = <view>\n<a>[...] = <number>\n<b> <aug> <number>",
    "<a> = <x>\nfor <i> in range(<n>):\n    <a> = <a> <op> <number>\n    if <condition>:\n        <a> = <x>",
    "<a> = <x>\nfor <i> in range(<n>):\n    <a> = <a>[1:]\n    <a>[:1] <aug> <number>",
    "<p>, <q> = <number>, <number>\nfor <i> in range(<n>):\n    <p>, <q> = <q>, <p> <op> <q>",
    "<p> = <start>\nfor <i> in range(<n>):\n    <p> <aug> <number>",
    "<p> = <start>\nfor <r> in <x>:\n    <p> = <p> <op> <r>",
    "<p> = <start>\nfor <r> in <x>:\n    if <condition>:\n        <p> = <r>",
    "<p> = <start>\nfor <i> in range(<n>):\n    <p> = <number> if <condition> else <p>",
    "<u> = (<x>, <number>)\nfor <i> in range(<n>):\n    <p>, <q> = <u>\n"
    "    <u> = (<p> <op> <q>, <q> * 0.5)\n<p> = <u>[0]",
    "<u> = [<number>, <number>]\nfor <i> in range(<n>):\n    <u>[<i> % 2] <aug> <number>\n<p> = sum(<u>)",
    "<p> = 1.0\n<w> = 0\nwhile <p> > 0.01 and <w> < 5:\n    <a> = <x> * 0.5\n    <p> = np.abs(<a> - <x>).max()\n"
    "    <x> = <a>\n    <w> += 1",
    "<w> = 0\nwhile <w> < 6:\n    if <condition>:\n        <w> += 2\n        <x> <aug> 1\n    else:\n"
    "        <w> += 1\n"
    "        <x>[0] = <w>",
    "<u> = []\nfor <i> in range(<n>):\n    <u>.append(<x>[<i>:])\n<a> = <u>[-1]",
    "<u> = []\nfor <r> in <x>:\n    <u>.append(<r> <op> 2)\n<a> = np.array(<u>)",
    "<u> = {'v': <x>, 'c': 0}\nfor <i> in range(<n>):\n    <u>['v'] = <u>['v'] <op> <number>\n"
    "    <u>['c'] += 1\n<a> = <u>['v']",
    "<a> = <x> if <condition> else <y>\n<a>[<index>] = <number>",
    "<a> = <x>[1:] if <condition> else <x>[:-1]\n<a> <aug> <number>",
    "if <condition>:\n    <a> = <x>\nelse:\n    <a> = <x>.copy()\n<a>[<index>] = <number>",
    "<p>, *<u> = <x>\n<body>",
    "<p> = <number> and <number> or <number>",
    "<p> = <condition> and <condition>",
    "if (<t> := <number>) > 1 and not <condition>:\n    <body>",
)
WRITES = (
    "<k> = <x> > <number>\n<x>[<k>] <aug> <number>",
    "for <i> in range(<n>):\n    <k> = <x> > <i>\n    if not <k>.any():\n        break\n    <x>[<k>] -= 1",
    "for <i> in range(<n>):\n    <k> = (<x> > <i>) & (<x> < 6)\n    <x>[<k>] = <x>[<k>] <op> 2",
    "<k> = <x> > <number>\n<p> = <x>[<k>].<fold>()",
    "<k> = <x> > <number>\n<x>[~<k>] = <y>[~<k>]",
    "for <r> in <A>:\n    <r> <aug> <number>",
    "for <r> in <A>:\n    <r>[<index>] = <number>",
    "for <r> in <A>.T:\n    <r>[:-1] = <r>[1:]",
    "for <r> in <A>:\n    for <i> in range(len(<r>)):\n        if <r>[<i>] > <number>:\n            <r>[<i>] <aug> 1",
    "for <i> in range(len(<A>)):\n    <t> = <A>[<i>]\n    <t> <aug> <A>[0]\n    <body>",
    "for <i> in <places>:\n    <x>[<i>] <aug> <number>",
    "for <i> in range(<n>):\n    np.add.at(<x>, <places>, <i>)",
    "for <i> in range(<n>):\n    np.<ufunc>(<x>, <i>, out=<x>)",
    "for <i> in range(<n>):\n    np.<ufunc>(<x>[1:], <x>[:-1], out=<x>[1:])",
    "for <i> in range(<n>):\n    np.<ufunc>(<x>, <number>, out=<x>, where=<x> > <i>)",
    "np.<ufunc>(<x>, <y>, out=<x>[::-1])",
    "for <i> in range(<n>):\n    <x>[<i>] = <x>[-<i> - 1] <op> <number>\n    <body>",
    "<x>[<places>] = <x>[<places>] <op> <number>",
    "<x>[<places>] <aug> <number>",
    "for <i> in range(<n>):\n    <x>.flat[<i>] <aug> <number>",
    "<a> = <x>.reshape(-1)\nfor <i> in range(0, <a>.size, 2):\n    <a>[<i>] = <number>",
    "<a> = <x>.T\nfor <i> in range(<n>):\n    <a>[<i>] <aug> <number>\n    <x>[0] = <a>[-1]",
    "for <i> in range(<n>):\n    <x>.sort()\n    <x>[0] <aug> <number>",
    "for <i> in range(<n>):\n    np.copyto(<x>, <i>, where=<x> > <number>)",
    "<x>[<index>] = <x>[<index>] if <condition> else <number>",
    "<p> = <x>[<n> + 2]",
    "<p> = <x>[<n>:][0]",
    "<a> = np.stack([<x>, <x>])\n<a>[0] <aug> <number>",
    "<a> = np.diff(<x>)\n<x>[1:] = <a>",
    "<a> = np.argsort(<x>, kind='stable')\n<x>[...] = <x>[<a>]",
    "<a> = np.outer(<x>, <x>)\n<a>[<index>] = <number>",
    "<a> = np.clip(<x>, <number>, 3)\n<body>",
    "<a> = np.where(<x> > <number>)[0]\n<x>[<a>] <aug> 1",
    "<a> = np.searchsorted(np.arange(5), <x>)",
)
ERRORS = (
    "assert <condition>",
    "assert len(<x>) > <n>, 'short'",
    "if <condition>:\n    raise ValueError('stop')",
    "for <i> in range(<n>):\n    <body>\n    if <condition>:\n        raise IndexError(<i>)",
    "try:\n    <x>[<n> + 1] = <number>\nexcept IndexError:\n    <x>[0] = <number>",
    "try:\n    <body>\nfinally:\n    <x>[0] = <number>",
    "with np.errstate(all='ignore'):\n    <body>",
    "for <i> in range(<n> + 2):\n    <x>[<i>] <aug> <number>",
    "<x>[<n>:] = <y>[:2]",
    "<x> <aug> <y>",
)
PATTERNS = (RECURRENCES, SEARCHES, CARRIED, WRITES, WRITES, ERRORS)


def _places(s: Scope) -> str:
    found = s.of_kind(lambda v: isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.ndim == 1)
    return s.rng.choice([*found, "np.array([0, -1, 0])", "[1, 0]", "np.arange(2)"])


def _index(s: Scope) -> str:
    return str(s.one("0", "-1", "1:", "::2", "...", "::-1", f":{integer(s, 0)}", integer(s, 0)))


LETTERS: dict[str, Callable[[Scope], str]] = {
    "x": lambda s: s.array(1),
    "y": lambda s: s.array(1),
    "A": lambda s: s.array(2),
    "n": lambda s: s.find(lambda: integer(s), lambda v: 0 <= v < 7, "3"),
}
WORDS: dict[str, Callable[[Scope], str]] = {
    "op": lambda s: str(s.one("+", "-", "*", "+", "/", "//")),
    "aug": lambda s: str(s.one("+=", "-=", "*=", "+=", "/=")),
    "fold": lambda s: str(s.one("sum", "max", "min", "mean", "prod", "any", "argmax")),
    "ufunc": lambda s: str(s.one("add", "multiply", "maximum", "subtract")),
    "start": lambda s: str(s.one("0", "0", "0.0", "1", "True", "None", element(s), number(s, 0))),
    "number": lambda s: number(s, s.one(0, 1)),
    "condition": lambda s: condition(s, s.one(0, 1)),
    "array": array,
    "view": view,
    "places": _places,
    "index": _index,
}
NUMBERS = {"i": 1, "j": 1, "w": 1, "p": 2, "q": 2.0}
"""Names that hold a number inside of a pattern, with what stands for it while the pattern is written."""


def is_simple(value: object) -> bool:
    """Return whether a value is a number, an array or a list."""
    return isinstance(value, int | float | complex | np.generic | np.ndarray | list)


@dataclass(frozen=True)
class Vocabulary:
    """Families of patterns, what fills their holes, their share of all statements, and what is returned."""

    families: tuple[tuple[str, ...], ...]
    letters: Mapping[str, Callable[[Scope], str]]
    words: Mapping[str, Callable[[Scope], str]]
    share: float
    returned: Callable[[object], bool] = is_simple


ORDINARY = Vocabulary(PATTERNS, LETTERS, WORDS, 0.25)


def vocabulary_of(s: Scope) -> Vocabulary:
    """Return what the patterns of a program are made of."""
    return s.vocabulary or ORDINARY


def pattern(s: Scope) -> list[str]:
    """Return the lines of a pattern, its holes filled."""
    chosen: dict[str, str] = {}
    words = vocabulary_of(s)
    text = s.one(*s.one(*words.families))
    inner = s.inner()
    for letter in dict.fromkeys(HOLE.findall(text)):
        if len(letter) == 1 and letter not in words.letters:
            chosen[letter] = inner.new_name(letter)
            inner.names.update({chosen[letter]: NUMBERS[letter]} if letter in NUMBERS else {})

    def filled(hole: re.Match[str]) -> str:
        name = hole[1]
        if name in words.letters:
            return chosen.setdefault(name, words.letters[name](s))
        return chosen[name] if name in chosen else HOLE.sub(filled, words.words[name](inner))

    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() != "<body>":
            lines.append(HOLE.sub(filled, line))
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.indent(statement(inner) or "pass", indent).split("\n")
    s.fresh = inner.fresh
    return lines
