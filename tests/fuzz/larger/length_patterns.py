"""Random pieces of programs whose arrays have lengths that nothing bounds but the run, or that masks leave."""

from __future__ import annotations

MASKED = (
    "<a> = <x>[<mask>]\n<b> = <a>[<a> < <number>]\n<c> = <b> <op> 2\n<p> = <c>.sum()",
    "<a> = <x>[<mask>]\n<b> = <a>[<a> != <number>]\n<c> = <b>[::2]\n<q> = len(<c>)",
    "<a> = <x>[<mask>]\n<b> = np.cumsum(<a>)[::-1]\n<c> = <b>[:<bound>]",
    "<a> = <x>[<mask>][1:]\n<b> = <a> - (<a>.max() if <a>.size else 0)",
    "<a> = <x>[<mask>]\n<b> = np.sort(<a>)\n<c> = <b>[:<b>.size // 2]\n<d> = <b>[<b>.size // 2:]",
    "<a> = <x>[<mask>]\n<b> = np.concatenate((<a>, <a>[::-1], <x>[:1]))\n<q> = len(<b>)",
    "<a> = np.where(<mask>)[0]\n<b> = <x>[<a>] <op> 2\n<c> = np.diff(<a>)\n<p> = <c>.max(initial=0)",
    "<a> = np.flatnonzero(<mask>)\n<x>[<a>[<a> > 3]] <aug> <number>",
    "<a> = <x>[<mask>]\n<b> = <a>.copy()\n<b>[::2] = <number>\n<b>[1:] <aug> <a>[:-1]",
    "<k> = <mask>\n<a> = <x>[<k>]\n<a> <aug> <number>\n<x>[<k>] = <a>\n<p> = <x>.<fold>()",
    "<k> = <mask>\n<x>[<k>] = <x>[<k>][::-1]",
    "<k> = <mask>\n<a> = np.zeros(len(<x>))\n<a>[<k>] = np.arange(<k>.sum())",
    "<k> = <mask>\n<a> = np.zeros_like(<x>)\n<a>[<k>] = <x>[<k>]\n<b> = <a>[<a> > <number>]",
    "<a> = <x>[<mask>]\n<b> = np.flatnonzero(<a> > <number>)\n<c> = <a>[<b>]\n<p> = <c>.<fold>() if <c>.size else 0",
    "<a> = <x>[<mask>]\n<p> = <a>.argmax() if len(<a>) else -1\n<q> = np.count_nonzero(<a>)",
    "<a> = <x>[<mask>]\n<b> = np.where(<a> > <number>, <a>, 0)\n<c> = np.maximum.accumulate(<b>)",
    "<k> = <mask>\n<a>, <b> = <x>[<k>], <x>[~<k>]\n<c> = np.concatenate((<b>, <a>))\n<c>[:1] = <number>",
    "<a> = np.argsort(<x>, kind='stable')[:<mask>.sum()]\n<b> = <x>[<a>]",
    "<a> = <x>[<mask>]\n<b> = <a>[<a>.size - 1:]\n<c> = <a>[-1:]",
    "<a> = <x>[<mask>]\nfor <i> in range(len(<a>)):\n    if <a>[<i>] > <number>:\n        <a>[<i>] <aug> 1",
    "<a> = <x>[<mask>]\n<p> = 0\nfor <r> in <a>:\n    <p> = <p> + <r>",
    "<a> = <x>[<mask>]\n<b> = np.searchsorted(np.sort(<a>), <y>)\n<q> = <b>.sum()",
    "<a> = <x>[<mask>]\n<b> = np.arange(len(<a>))[<a> > <number>]",
    "<a> = np.compress(<mask>, <x>)\n<b> = np.delete(<a>, np.s_[:1])",
    "<a> = <x>[<mask>].astype(np.float32)\n<b> = <a>.mean() if <a>.size else <a>.sum()",
    "<w> = 0\n<a> = <x>\nwhile <a>.size > 1 and <w> < 12:\n    <a> = <a>[<a> >= <a>.mean()]\n    <w> += 1",
    "<a> = <x>\nfor <i> in range(<n>):\n    <a> = <a>[<a> > <i>]\n<q> = <a>.size",
)
REPEATED = (
    "<c> = np.abs(<x>).astype(int) % 4\n<a> = np.repeat(<x>, <c>)\n<p> = <a>.sum()",
    "<c> = np.abs(<x>).astype(int) % <span>\n<a> = np.repeat(np.arange(len(<c>)), <c>)\n<b> = <y>[<a> % len(<y>)]",
    "<c> = np.abs(<x>).astype(int) % 3\n<e> = np.cumsum(<c>)\n<a> = np.arange(<e>[-1]) - np.repeat(<e> - <c>, <c>)",
    "<c> = np.abs(<x>).astype(int) % <span>\n<a> = np.repeat(<x>, <c>) <op> 2\n<b> = <a>[<a> > <number>]",
    "<c> = np.abs(<x>[:40]).astype(int) * <span>\n<a> = np.repeat(<x>[:40], <c>)\n<q> = len(<a>)",
    "<c> = (<mask>).astype(int) * 2\n<a> = np.repeat(<x>, <c>)\n<a>[::2] = <number>",
    "<q> = int(np.abs(<x>).max()) % <span>\n<a> = np.repeat(<y>, <q>)\n<p> = <a>.<fold>() if <a>.size else 0",
    "<q> = int(np.abs(<x>).sum()) % <span>\n<a> = np.arange(<q>)\n<b> = np.ones(<q>) * 0.5\n<p> = (<a> * <b>).sum()",
    "<q> = int(np.abs(<x>).sum()) % 2000\n<a> = np.linspace(0, 1, <q>)\n<b> = np.zeros(<q>)\n<b>[1:] = <a>[:-1]",
    "<a> = np.tile(<x>, int(np.abs(<y>).max()) % 4)\n<b> = <a>[<a> < <number>]",
)
COUNTED = (
    "<c> = np.abs(<x>).astype(int)\n<a> = np.bincount(<c>)\n<p> = <a>.argmax()\n<q> = len(<a>)",
    "<c> = np.abs(<x>).astype(int) * 1000\n<a> = np.bincount(<c>)\n<b> = np.flatnonzero(<a>)",
    "<c> = np.abs(<x>).astype(int) * <span> % 700\n<a> = np.bincount(<c>)\n<b> = np.flatnonzero(<a>)",
    "<c> = np.abs(<x>).astype(int)\n<a> = np.bincount(<c>, weights=<x>.real)\n<b> = <a>[<c>]",
    "<a> = np.bincount(np.flatnonzero(<mask>))\n<q> = <a>.size\n<p> = <a>.sum()",
    "<c> = np.abs(<x>).astype(int)\n<a> = np.bincount(<c>)\n<b> = np.cumsum(<a>)\n<d> = <b>[<b> > <number>]",
    "<a>, <b> = np.unique(<x>[<mask>], return_inverse=True)\n<c> = <a>[<b>]\n<q> = len(<a>)",
    "<a>, <b> = np.unique(<x>[<mask>], return_counts=True)\n<p> = <b>.max(initial=0)\n<c> = <a>[<b> > 1]",
    "<a>, <b> = np.unique(<x>, return_inverse=True)\n<c> = np.bincount(<b>)\n<d> = np.bincount(<b>, <x>.real) / <c>",
    "<a>, <b>, <c> = np.unique(<x>, return_index=True, return_counts=True)\n<d> = <x>[np.sort(<b>)]\n<q> = <c>.sum()",
    "<a> = np.unique(np.abs(<x>).astype(int) * 37 % <span>)\n<b> = np.diff(<a>)\n<q> = len(<b>)",
    "<a> = np.unique(<x>[<mask>])\nfor <r> in <a>:\n    <p> = (<x> == <r>).sum()\n    <body>",
    "<a> = np.union1d(<x>[<mask>], <y>)\n<b> = np.intersect1d(<x>, <y>)\n<c> = np.setdiff1d(<x>, <y>)",
)
GROWN = (
    "<u> = []\nfor <i> in range(len(<x>)):\n    if <x>[<i>] > <number>:\n        <u>.append(<i>)\n"
    "<a> = np.array(<u>, dtype=np.int64)\n<b> = <x>[<a>]",
    "<u> = []\nfor <r> in <x>:\n    if <r> > <number>:\n        <u>.append(<r>)\n<a> = np.array(<u>)\n<q> = len(<u>)",
    "<u> = []\n<w> = 0\nwhile <w> < len(<x>) and <x>[<w>] < <number>:\n    <u>.append(<x>[<w>] <op> 2)\n"
    "    <w> += 1\n<a> = np.array(<u>)",
    "<u> = [<x>[0]]\nfor <r> in <x>[1:]:\n    if <r> > <u>[-1]:\n        <u>.append(<r>)\n<q> = len(<u>)",
    "<u> = []\nfor <r> in <x>:\n    if <r> > <number>:\n        <u>.append(float(<r>.real))\n"
    "<p> = sum(<u>)\n<q> = max(<u>, default=0)",
    "<u>, <v> = [], []\nfor <i> in range(len(<x>)):\n    if <x>[<i>] > <number>:\n        <u>.append(<i>)\n"
    "        <v>.append(<x>[<i>])\n    elif <x>[<i>] < 0:\n        <v>.append(<x>[<i>])\n"
    "<a> = np.array(<u>, dtype=int)\n<b> = np.array(<v>)",
    "<u> = []\nfor <i> in range(len(<x>)):\n    for <j> in range(int(abs(<x>[<i>])) % 3):\n"
    "        <u>.append(<i> * 2 + <j>)\n<a> = np.array(<u>, dtype=np.int64)\n<p> = <a>.sum()",
    "<u> = [<i> for <i> in range(len(<x>)) if <x>[<i>] > <number>]\n<a> = np.array(<u>, dtype=int)\n<b> = <x>[<a>]",
    "<u> = [<r> * 2 for <r> in <x> if <r> < <number>]\n<a> = np.array(<u>)\n<q> = len(<u>)",
    "<u> = []\nfor <i> in range(<n>):\n    <u>.append(<x>[<x> > <i>])\n<a> = np.concatenate(<u>) if <u> else <x>",
    "<u> = []\nfor <i> in range(<n>):\n    <u>.append(<x>[:<bound>])\n<a> = np.concatenate([*<u>, <x>])",
    "<w> = int(np.abs(<x>).sum()) + 1\n<u> = []\nwhile <w> != 1 and len(<u>) < 600:\n    <u>.append(<w>)\n"
    "    <w> = <w> // 2 if <w> % 2 == 0 else 3 * <w> + 1\n<a> = np.array(<u>)",
    "<a> = np.zeros(0)\nfor <i> in range(<n>):\n    <a> = np.append(<a>, <x>[<i> % len(<x>)])\n<q> = <a>.size",
)
LISTED = (
    "<u> = []\n<w> = 0.5\n<a> = <x>[:99] * 1.0\nwhile <w> < 9 and len(<u>) < 40:\n    <a> = <a> * 0.5\n"
    "    <w> = <w> * 1.5\n    <u>.append(<a>)\n<b> = np.array(<u>)\n<q> = len(<u>)",
    "<a> = <x>[:600] + 0\n<u> = [<a>]\nwhile len(<u>) < 9 and <a>.size and abs(<a>[0]) < 1000:\n"
    "    <a> = <a> + 1\n    <u>.append(<a>)\n    <u>.append(<a>[::-1])\n<b> = np.stack(<u>)\n"
    "<a>[:1] = <number>",
    "<u> = []\n<w> = -3\nwhile <w> < <x>.max(initial=0) and <w> < 30:\n    <u>.append(<x>[:600][<x>[:600] > <w>])\n"
    "    <w> += 2\n<a> = np.concatenate(<u>)\n<q> = len(<u>)",
    "<u> = []\n<a> = <x>[:2000]\nwhile <a>.size > 1 and len(<u>) < 20:\n    <u>.append(<a>)\n"
    "    <a> = <a>[<a> > <a>.mean()]\n<b> = np.hstack(<u>) if <u> else <x>\n<b>[:1] = <number>",
    "<u> = []\n<a> = <x>[:600] * 1\n<w> = 0\nwhile <w> < int(abs(<a>.max(initial=1))) % 30:\n"
    "    <a>[:2] <aug> <number>\n    <u>.append(<a>.copy())\n    <w> += 1\n"
    "<b> = np.concatenate(<u>) if len(<u>) else <a>",
    "<u> = []\n<a> = <x>[:600] * 1\n<w> = 0\nwhile <w> < int(abs(<a>.max(initial=1))) % 30:\n"
    "    <u>.append(<a>)\n    <a>[:2] <aug> <number>\n    <w> += 1\n"
    "<b> = np.vstack(<u>) if len(<u>) else <a>",
    "<u> = []\n<a> = <x>[:600] * 1\nfor <i> in range(min(len(<y>), 60)):\n    if <y>[<i>] > <number>:\n"
    "        <u>.append(<a>[<i> % 5:])\n    elif <i> % 7 == 0:\n        <a>[:1] <aug> 1\n"
    "<b> = np.concatenate(<u>) if <u> else <a>",
    "<u>, <v> = [], []\n<a> = <x>[:2000]\nwhile <a>.size > 2:\n    <k> = <a> > <a>.mean()\n"
    "    if <k>.all() or not <k>.any():\n        break\n    <u>.append(<a>[<k>])\n"
    "    <v>.append(<a>[~<k>])\n    <a> = <a>[<k>]\n<q> = len(<u>) + len(<v>)\n"
    "<b> = np.concatenate(<v>) if <v> else <x>",
    "<u> = []\n<w> = 0\nwhile <w> < len(<x>) and <x>[<w>] < <number>:\n"
    "    <u>.append(<y>[:3] * <x>[<w>])\n    <w> += 1\n<a> = np.sum(<u>, axis=0)\n"
    "<b> = np.array(<u>)[-1:]",
)
CUT = (
    "<e> = np.cumsum(np.abs(<x>).astype(int) % 5)\n<a> = <y>[<e>[0]:<e>[-1]]\n<p> = <a>.sum()",
    "<e> = np.cumsum(np.abs(<x>).astype(int) % 5)\nfor <i> in range(min(len(<e>) - 1, 9)):\n"
    "    <a> = <y>[<e>[<i>]:<e>[<i> + 1]]\n    <x>[<i>] = <a>.sum()",
    "<e> = np.cumsum(np.abs(<x>).astype(int) % 3)\n<o> = np.zeros(len(<e>) - 1)\nfor <i> in range(len(<e>) - 1):\n"
    "    for <j> in range(<e>[<i>], <e>[<i> + 1]):\n        <o>[<i>] += <y>[<j> % len(<y>)]",
    "<q> = int(<x>.argmax())\n<a> = <x>[<q>:]\n<b> = <a>[::-1].cumsum()\n<a> <aug> <number>",
    "<l>, <h> = np.searchsorted(np.sort(<x>), [0, 4])\n<a> = np.sort(<x>)[<l>:<h>]\n<b> = <a>[1:] - <a>[:-1]",
    "<q> = int((<mask>).sum())\n<a>, <b> = <x>[:<q>].copy(), <x>[<q>:].copy()\n<a> <aug> <number>\n"
    "<c> = np.concatenate((<b>, <a>))",
    "<q> = np.argmax(<mask>)\n<a> = <x>[<q>:<q> + 513]\n<a>[:512] = <a>[:512][::-1]\n<p> = <a>.<fold>()",
    "<q> = np.argmin(<x>)\n<x>[<q>:] <aug> <number>\n<x>[:<q>] = <number>",
    "<a> = np.flatnonzero(np.diff(<x>) > 0) + 1\n<b> = np.add.reduceat(<x>, <a>) if len(<a>) else <x>",
    "<a> = np.flatnonzero(np.diff(<x>) != 0) + 1\n<q> = len(np.split(<x>, <a>))",
    "<a> = np.trim_zeros(<x>)\n<b> = np.trim_zeros(np.where(<mask>, <x>, 0))",
    "<a> = np.pad(<x>, int(np.abs(<x>).max()) % 6)\n<p> = <a>.sum()",
    "<q> = int(np.abs(<x>).sum()) % len(<x>)\n<a> = np.roll(<x>, <q>)\n<b> = np.insert(<x>, <q>, <number>)",
)
