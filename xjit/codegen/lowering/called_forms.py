"""Vector forms of functions that loops call: for loops over many functions, which would be long if all were inlined.

The form is vector code of the quick variant, and goes through the lanes where an argument is not for that::

    define <8 x double> @xjit_sin_f64_called_x8(<8 x double> %x) {
      for all lanes: far = far | xjit_sin_f64_is_far(x), result = xjit_sin_f64_near(x)
      if far: for all lanes: result = xjit_sin_f64_called(x)
    }

It is made once, as a loop that LLVM makes vector code of, and kept as IR.  So a loop over it is neither cut into
strips nor written a second time for rare arguments.  The bits are those of the function inlined.
"""

from __future__ import annotations

from string import Template

from xjit.codegen.language.inline_functions import Called, InlineFunction

TYPES = {"f32": "float", "f64": "double"}

_LOOP = Template("""$places
$stores
  br label %$name
$name:
  %$name.i = phi i64 [ 0, %entry ], [ %$name.next, %$name ]
  %$name.found = phi i1 [ false, %entry ], [ %$name.far, %$name ]
$loads
  %$name.far = $far
  %$name.result = call $element @$function($arguments)
  %$name.to = getelementptr $element, ptr %$name.results, i64 %$name.i
  store $element %$name.result, ptr %$name.to
  %$name.next = add nuw nsw i64 %$name.i, 1
  %$name.more = icmp ult i64 %$name.next, $lanes
  br i1 %$name.more, label %$name, label %after.$name$hint
after.$name:
  %all.$name = load $vector, ptr %$name.results""")
_USUAL = "  ret {vector} %all.usual\n}}"
# A function of its own, as the usual way then needs no memory for the lanes.
_RARE = """  br i1 %usual.far, label %rare, label %end
rare:
  %all.rare = call {vector} @{name}_rare({operands})
  br label %end
end:
  %result = phi {vector} [ %all.usual, %after.usual ], [ %all.rare, %rare ]
  ret {vector} %result
}}
define {vector} @{name}_rare({operands}) cold noinline {{
entry:
{again}
  ret {vector} %all.again
}}"""
_HINT = """
!0 = distinct !{{!0, !1, !2, !3}}
!1 = !{{!"llvm.loop.vectorize.width", i32 {lanes}}}
!2 = !{{!"llvm.loop.interleave.count", i32 1}}
!3 = !{{!"llvm.loop.vectorize.enable", i1 true}}
"""


def pieces(called: Called) -> tuple[InlineFunction, ...]:
    """The inline functions that a form is made of."""
    return tuple(dict.fromkeys(one for one in (called.quick, called.is_far, called.often) if one is not None))


def needed(function: InlineFunction) -> tuple[InlineFunction, ...]:
    """The functions that a form calls: the function itself, where it goes through the lanes one by one."""
    called = function.called
    alone = called is not None and called.is_far is not None and called.often is None
    return (function,) if alone else ()


def text(called: Called, function: InlineFunction, name: str, lanes: int) -> str:
    """LLVM assembly of a form before the passes; the pieces and the function itself are declared."""
    vector = f"<{lanes} x {TYPES[function.result]}>"
    names = "xy"[: len(function.arguments)]
    again = "" if called.is_far is None else _loop(called, called.often or function, "again", vector, names)
    operands = ", ".join(f"{vector} %lanes.{one}" for one in names)
    lines = [
        *_declarations(called, function),
        f"define {vector} @{name}({', '.join(f'{vector} %{one}' for one in names)}) {{",
        "entry:",
        # The last step of a masked loop knows nothing of the lanes that it leaves out.
        *(f"  %lanes.{one} = freeze {vector} %{one}" for one in names),
        _loop(called, called.quick, "usual", vector, names),
        (_RARE if again else _USUAL).format(vector=vector, again=again, name=name, operands=operands),
        _HINT.format(lanes=lanes),
    ]
    return "\n".join(lines)


def _declarations(called: Called, function: InlineFunction) -> list[str]:
    types = ", ".join([TYPES[function.result]] * len(function.arguments))
    results = {one.symbol: TYPES[function.result] for one in (*pieces(called), function)}
    if called.is_far is not None:
        results[called.is_far.symbol] = "i1"
    return [f"declare {result} @{symbol}({types})" for symbol, result in results.items()]


def _loop(called: Called, function: InlineFunction, name: str, vector: str, names: str) -> str:
    """The loop through the lanes, from the arguments' vectors to that of the results."""
    lanes, _, element = vector.strip("<>").split()
    looks = called.is_far if name == "usual" else None
    arguments = ", ".join(f"{element} %{name}.one.{one}" for one in names)
    loads = [_load(name, element, one) for one in names]
    if looks is not None:
        loads.append(f"  %{name}.is = call i1 @{looks.symbol}({arguments})")
    return _LOOP.substitute(
        name=name,
        places="\n".join(f"  %{name}.{one} = alloca {vector}" for one in (*names, "results")),
        stores="\n".join(f"  store {vector} %lanes.{one}, ptr %{name}.{one}" for one in names),
        loads="\n".join(loads),
        element=element,
        vector=vector,
        function=function.symbol,
        arguments=arguments,
        far="or i1 false, false" if looks is None else f"or i1 %{name}.found, %{name}.is",
        lanes=lanes,
        hint=", !llvm.loop !0" if function in (called.quick, called.often) else "",
    )


def _load(name: str, element: str, one: str) -> str:
    address = f"  %{name}.at.{one} = getelementptr {element}, ptr %{name}.{one}, i64 %{name}.i"
    return f"{address}\n  %{name}.one.{one} = load {element}, ptr %{name}.at.{one}"
