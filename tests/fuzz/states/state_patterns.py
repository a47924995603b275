"""Random pieces of programs that carry a state: variables that are None at first, lists of work, dicts of counts."""

from __future__ import annotations

ABSENT = (
    "<b> = None\nfor <r> in <V>:\n    if <b> is None or <r> > <b>:\n        <b> = <r>",
    "<b>, <k> = None, None\nfor <i> in range(len(<V>)):\n"
    "    if <V>[<i>] > <number> and (<b> is None or <V>[<i>] < <b>):\n        <b>, <k> = <V>[<i>], <i>",
    "<b> = None\nfor <i> in range(<n>):\n    if <condition>:\n        <b> = <i>\n    <body>\n"
    "if <b> is not None:\n    <x>[0] <aug> <b>",
    "<b> = None\nif <condition>:\n    <b> = <number>\n<p> = 0 if <b> is None else <b>",
    "<b> = None\nif <condition>:\n    <b> = <x>[1:]\nelif <condition>:\n    <b> = <x>\n"
    "if <b> is not None:\n    <b> <aug> <number>",
    "<b> = None\nfor <r> in <V>:\n    if <b> is not None:\n        <x>[0] <aug> <r> - <b>\n    <b> = <r>",
    "<b> = None\n<w> = 0\nwhile <b> is None and <w> < 6:\n    if <V>[<w> % len(<V>)] > <number>:\n"
    "        <b> = <w>\n    <w> += 1",
    "<b> = None\nfor <i> in range(<n>):\n    <b> = <x> <op> <number> if <b> is None else <b> <op> <number>",
    "<b> = None\nfor <r> in <A>:\n    <b> = <r>.copy() if <b> is None else <b> + <r>",
    "<b> = None\nfor <r> in <A>:\n    if <condition>:\n        <b> = <r>\nif <b> is not None:\n"
    "    <b> <aug> <number>",
    "<b> = <number>\nfor <i> in range(<n>):\n    <b> = None if <condition> else <number>",
    "<b> = <number>\nfor <i> in range(<n>):\n    if <V>[<i> % len(<V>)] > <number>:\n        <b> = None\n"
    "    elif <b> is None:\n        <b> = <i>",
    "<b> = <c> = None\nfor <r> in <V>:\n    if <b> is None or <r> > <b>:\n        <b>, <c> = <r>, <b>\n"
    "    elif <c> is None or <r> > <c>:\n        <c> = <r>",
    "<u> = [None] * 3\nfor <i> in range(<n>):\n    <u>[<i> % 3] = <number>\n<q> = <u>.count(None)",
    "<b> = None\nfor <i> in range(<n>):\n    for <j> in range(<i>):\n"
    "        <t> = <V>[<i> % len(<V>)] - <V>[<j> % len(<V>)]\n"
    "        if <b> is None or <t> < <b>[0]:\n            <b> = (<t>, <i>, <j>)",
    "<b> = None\nfor <r> in <V>:\n    if <r> > <number>:\n        if <b> is None:\n            <b> = <r>\n"
    "            continue\n        <b> = <b> <op> <r>\n    <body>",
    "<b> = None\nfor <r> in <V>:\n    if <r> > <number>:\n        <b> = float(<r>.real)\n        break\n"
    "<p> = <b> or <number>",
    "<b> = None\nfor <i> in range(<n>):\n    if <b>:\n        <x>[0] <aug> <b>\n"
    "    <b> = <i> if <condition> else None",
    "<b> = None if <condition> else <number>\nfor <r> in <V>:\n    <b> = <r> if <b> is None else min(<b>, <r>)",
)
MEMBERS = (
    "for <r> in <V>:\n    if <r> in <among>:\n        <body>",
    "<c> = 0\nfor <r> in <V>:\n    if <r> not in <among>:\n        <c> += 1",
    "<c> = 0\nfor <i> in range(<n>):\n    <c> += <i> in <among>",
    "<c> = 0\nfor <i> in range(<n>):\n    if <i> in range(<whole>, <whole>):\n        <c> += 1\n"
    "    elif <i> not in range(<whole>, <whole>, 2):\n        <x>[0] <aug> <i>",
    "<b> = <number> in <among>\n<c> = <whole> not in <among>",
    "<b> = <whole> in range(<whole>, <whole>)\n<c> = <number> in range(<whole>, <whole>, -1)",
    "if <number> in <among>:\n    <body>\nelse:\n    <body>",
    "<w> = 0\nwhile <w> < len(<V>) and <V>[<w>] not in <among>:\n    <w> += 1",
    "<a> = np.array([<r> in <among> for <r> in <V>])",
    "<c> = sum(1 for <r> in <V> if <r> in <among>)",
    "<c> = any(<r> in <among> for <r> in <V>)\n<d> = all(<r> not in <among> for <r> in <V>)",
    "<c> = 0\nfor <r> in <V>:\n    <c> += <r> in <V>[:2] or <r> in <among>",
    "for <i> in range(len(<V>)):\n    if <V>[<i>] in <V>[:<i>]:\n        <V>[<i>] <aug> <number>",
    "<u> = []\nfor <r> in <V>:\n    if <r> not in <u>:\n        <u>.append(<r>)\n<q> = len(<u>)",
    "<u> = set()\n<c> = 0\nfor <r> in <V>:\n    if int(<r>.real) in <u>:\n        <c> += 1\n"
    "    <u>.add(int(<r>.real))\n<q> = len(<u>)",
    "<u> = set()\nfor <i> in range(<n>):\n    <u>.add(<i> * 3 % 4)\n<c> = sorted(<u>)\n<b> = <whole> in <u>",
)
WORK = (
    "<u> = [0]\n<c> = 0\nwhile <u> and <c> < 30:\n    <k> = <u>.pop()\n    <c> += 1\n"
    "    if <V>[<k>] > <number>:\n        <V>[<k>] <aug> <number>\n"
    "    if 2 * <k> + 1 < len(<V>):\n        <u>.append(2 * <k> + 1)\n"
    "    if 2 * <k> + 2 < len(<V>):\n        <u>.append(2 * <k> + 2)",
    "<u> = [(0, len(<V>))]\n<c> = 0\nwhile <u> and <c> < 30:\n    <l>, <h> = <u>.pop()\n    <c> += 1\n"
    "    if <h> - <l> < 2:\n        continue\n    <m> = (<l> + <h>) // 2\n"
    "    if <V>[<l>:<h>].max() > <number>:\n        <u>.append((<l>, <m>))\n        <u>.append((<m>, <h>))",
    "<u> = [0]\n<k> = np.zeros(len(<V>), bool)\nwhile <u>:\n    <m> = <u>.pop(0)\n    if <k>[<m>]:\n"
    "        continue\n    <k>[<m>] = True\n    for <d> in (1, 2, -1):\n"
    "        if 0 <= <m> + <d> < len(<V>) and <V>[<m> + <d>] > <number>:\n            <u>.append(<m> + <d>)",
    "<u> = [<whole>]\n<c> = 0\nwhile <u> and <c> < 20:\n    <m> = <u>.pop()\n    <c> += 1\n"
    "    if <m> > 0:\n        <u>.append(<m> - 1)\n        if <condition>:\n            <u>.append(<m> - 2)",
    "<u> = list(range(<n>))\n<c> = 0\nwhile <u>:\n    <m> = <u>.pop()\n    if <V>[<m> % len(<V>)] in <among>:\n"
    "        continue\n    <c> += <m>",
    "<u> = [<number>]\n<w> = 0\nwhile len(<u>) > 0 and <w> < 9:\n    <w> += 1\n    <p> = <u>.pop()\n"
    "    if <p> > <number>:\n        <u>.append(<p> / 2)\n        <u>.append(<p> - 1)",
    "<u> = []\nfor <i> in range(len(<V>)):\n    while <u> and <V>[<u>[-1]] < <V>[<i>]:\n"
    "        <m> = <u>.pop()\n        <x>[0] <aug> <m>\n    <u>.append(<i>)\n<q> = len(<u>)",
    "<u> = []\nfor <r> in <V>:\n    if <r> > <number>:\n        <u>.append(<r>)\n    elif <u>:\n"
    "        <p> = <u>.pop()\n        <x>[0] <aug> <p>",
    "<u> = [1]\nfor <r> in <V>:\n    if <u>[-1] < <r>:\n        <u>.append(<r>)\n    else:\n"
    "        <u>[-1] = <number>",
)
HISTORIES = (
    "<h> = [<number>]\nfor <i> in range(<n>):\n    <h>.append(<h>[-1] <op> <number>)\n<a> = np.array(<h>)",
    "<h> = [<V>[0]]\nfor <r> in <V>[1:]:\n    if abs(<r> - <h>[-1]) > <number>:\n        <h>.append(<r>)",
    "<h> = [0, 1]\nwhile <h>[-1] < <whole> + 5 and len(<h>) < 9:\n    <h>.append(<h>[-1] + <h>[-2])\n<q> = <h>[-1]",
    "<h> = [<x>]\nfor <i> in range(<n>):\n    <h>.append(<h>[-1] <op> <number>)\n<a> = <h>[-1]",
    "<h> = [<x>.copy()]\nfor <i> in range(<n>):\n    <h>.append(<h>[-1] * 0.5)\n"
    "    if abs(<h>[-1] - <h>[-2]).max() < 0.3:\n        break\n<a> = np.array(<h>)",
    "<h> = []\nfor <r> in <V>:\n    <h>.append(<r> + (<h>[-1] if <h> else 0))\n<p> = <h>[-1] - <h>[0]",
    "<h> = [0]\nfor <i> in range(len(<V>)):\n    <h>.append(max(<h>[-1], <i>) if <V>[<i>] > <number> else <h>[0])",
    "<h> = [<number>, <number>]\nfor <i> in range(<n>):\n    <h>.append(<h>[<i>] <op> <h>[-1])\n<p> = sum(<h>[1:])",
    "<h>, <g> = [0.0], [<number>]\nfor <r> in <V>:\n    <h>.append(<g>[-1] + <r>)\n    <g>.append(<h>[-2])",
    "<h> = []\n<w> = 0\nwhile len(<h>) < 4 and <w> < len(<V>):\n    if <V>[<w>] > <number>:\n"
    "        <h>.append(<w>)\n"
    "    <w> += 1\n<q> = <h>[-1] if <h> else -1\n<d> = len(<h>)",
    "<h> = [<number>]\nfor <r> in <V>:\n    if <r> > <h>[-1] or <condition>:\n        <h>.append(<r>)\n"
    "    elif len(<h>) > 2:\n        <h>[-2] = <r>",
)
COUNTS = (
    "<d> = {}\nfor <r> in <V>:\n    <k> = int(<r>.real)\n    <d>[<k>] = <d>.get(<k>, 0) + 1",
    "<d> = {}\nfor <i> in range(<n>):\n    <d>[<i> % 3] = <d>.get(<i> % 3, <number>) + 1\n<q> = len(<d>)",
    "<d> = {}\nfor <i>, <r> in enumerate(<V>):\n    if int(<r>.real) in <d>:\n        <x>[0] <aug> <i>\n"
    "    <d>[int(<r>.real)] = <i>",
    "<d> = {}\nfor <r> in <V>:\n    <d>[int(<r>.real) % 4] = <r>\n<c> = sorted(<d>)\n<p> = sum(<d>.values())",
    "<d> = {0: <number>}\nfor <r> in <V>:\n    <k> = int(<r>.real) % 5\n    if <k> not in <d>:\n"
    "        <d>[<k>] = 0\n"
    "    <d>[<k>] += <r>\n<q> = len(<d>)",
    "<d> = {}\nfor <r> in <V>:\n    <k> = int(<r>.real)\n    <d>[<k>] = <d>.get(<k>, 0) + 1\n"
    "<p> = max(<d>.values())\n<a> = np.array([<d>[<k>] for <k> in sorted(<d>)])",
    "<d> = {}\nfor <i> in range(<n>):\n    <d>[<i>] = <number>\n<c> = {<k>: <p> * 2 for <k>, <p> in <d>.items()}",
    "<d> = {'low': 0, 'high': 0.0}\nfor <r> in <V>:\n    <d>['low' if <r> < <number> else 'high'] += 1",
    "<d> = {'low': 0, 'last': None}\nfor <r> in <V>:\n    if <r> > <number>:\n        <d>['low'] += 1\n"
    "        <d>['last'] = <r>",
    "<d> = {}\nfor <r> in <V>:\n    <d>.setdefault(int(<r>.real) % 2, []).append(<r>)\n<q> = len(<d>)",
    "<d> = {}\nfor <r> in <V>:\n    <k> = int(<r>.real)\n    <d>[<k>] = <d>.get(<k>, 0) + 1\n<c> = []\n"
    "for <k> in <d>:\n    if <d>[<k>] > 1:\n        <c>.append(<k>)",
    "<d> = {}\nfor <r> in <V>:\n    <k> = int(<r>.real) % 3\n    <d>[<k>] = max(<d>.get(<k>, <number>), <r>)\n"
    "<p> = <d>.get(<whole>)",
)
RANGES = (
    "<a> = np.arange(<number>, <number>, <step>)\n<q> = len(<a>)",
    "<a> = np.arange(<whole>, <whole>, <step>) <op> 2\n<p> = <a>.sum()",
    "<a> = np.arange(<whole>, <whole> + 4)\n<a>[:2] <aug> <number>",
    "<a> = np.arange(<number>)\n<b> = <a>[<a> > 1]",
    "<a> = np.linspace(<number>, <number>, <n>)\n<p> = <a>.sum()",
    "<a> = np.linspace(<number>, <number>, abs(<whole>) + 1)\n<b> = np.diff(<a>)",
    "<a> = np.linspace(<whole>, <number>, <n>, endpoint=False)\n<a>[:1] = <number>",
    "<a>, <p> = np.linspace(<number>, <number>, 5, retstep=True)",
    "for <t> in np.arange(<number>, <number>, <step>):\n    <x>[0] <aug> <t>",
    "for <t> in np.linspace(<number>, <number>, <n>):\n    <x>[0] <aug> <t>\n    if <condition>:\n        break",
    "<u> = []\nfor <t> in np.arange(0, <number>, <step>):\n    <u>.append(<t> <op> 2)\n<a> = np.array(<u>)",
    "<a> = np.zeros(len(np.arange(<whole>, <whole>, <step>)))\nfor <i> in range(len(<a>)):\n"
    "    <a>[<i>] = <i> <op> 2",
    "<a> = np.full(abs(<whole>), <number>)\n<a>[:1] <aug> <number>",
    "for <i> in range(<whole>, <whole>, <step_of_range>):\n    <x>[<i> % len(<x>)] <aug> <i>",
)
