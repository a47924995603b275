"""Comprehensions become calls of the runtime, and their parts functions of the names of their targets.

[e for t in items if c]                 runtime.comprehend("list", items, unpack, (c,), e)
[e for t in items if c for u in t]      runtime.comprehend("list", nested, same, (), e), where nested goes through the
                                        values of t and u
sum(e for t in items)                   runtime.consume(sum, items, unpack, (), e)
"""

from __future__ import annotations

import ast

from xjit.capture.rewriting.convert_expressions import (
    ITEM,
    ExpressionConverter,
    Frame,
    call,
    name_of,
    none,
    placed,
)
from xjit.capture.rewriting.scope_names import (
    COMPREHENSIONS,
    INLINED,
    Comprehension,
    consumed,
    functions_within,
    target_names,
    walrus_names,
)
from xjit.capture.rewriting.tree_walks import walk


class ComprehensionConverter(ExpressionConverter):
    """The conversion of comprehensions, and of functions that use up a generator."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        generator = consumed(node)
        if generator is None or not self._is_simple(generator):
            return super().visit_Call(node)
        function, parts = self.converted(node.func), self._parts(generator, generator.elt)
        if name_of(node) != "next":
            return call("consume", node, function, *parts)
        found = call("first", node, function, *parts, *map(self.converted, node.args[1:]))
        return call("read", node, found)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self.made_list(node, self._comprehension(node, "list", node.elt))

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node, "set", node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(
            node, "dict", ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        )

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._kept(node)

    def _comprehension(self, node: Comprehension, kind: str, element: ast.expr) -> ast.expr:
        if not self._is_simple(node):
            return self._kept(node)
        return call("comprehend", node, placed(ast.Constant(kind), node), *self._parts(node, element))

    def _is_simple(self, node: Comprehension) -> bool:
        """Return whether a comprehension has loops over names, and nothing in it outlives a turn."""
        loops = node.generators
        several = len(loops) > 1
        if any(one.is_async for one in loops) or functions_within(node) or (several and walrus_names(node)):
            return False
        names = [name for one in loops for name in target_names(one.target)]
        plain = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.expr_context)
        targets = (part for one in loops for part in walk(one.target))
        return len(set(names)) == len(names) and all(isinstance(one, plain) for one in targets)

    def _parts(self, node: Comprehension, element: ast.expr) -> list[ast.expr]:
        if len(node.generators) > 1:
            return self._several(node, element)
        (loop,) = node.generators
        items = self.converted(loop.iter)
        names = target_names(loop.target)
        conditions: list[ast.expr] = [self.thunk(one, names, truth=True) for one in loop.ifs]
        unpack = none(node) if isinstance(loop.target, ast.Name) else self._unpack(loop.target)
        return [items, unpack, placed(ast.Tuple(conditions, ast.Load()), node), self.thunk(element, names)]

    def _several(self, node: Comprehension, element: ast.expr) -> list[ast.expr]:
        """Return the parts of a comprehension with several loops, which goes through the values of all names."""
        items, names, loops = self.converted(node.generators[0].iter), list[str](), list[ast.expr]()
        for number, loop in enumerate(node.generators):
            inner = self.thunk(loop.iter, names) if number else none(node)
            names += target_names(loop.target)
            unpack = none(node) if isinstance(loop.target, ast.Name) else self._unpack(loop.target)
            conditions: list[ast.expr] = [self.thunk(one, names, truth=True) for one in loop.ifs]
            loops.append(placed(ast.Tuple([inner, unpack, ast.Tuple(conditions, ast.Load())], ast.Load()), node))
        same = placed(ast.Lambda(_taking(ITEM), ast.Name(ITEM, ast.Load())), node)
        none_of_all = placed(ast.Tuple([], ast.Load()), node)
        return [call("nested", node, items, *loops), same, none_of_all, self.thunk(element, names)]

    def _unpack(self, target: ast.expr) -> ast.expr:
        names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in target_names(target)]
        assign = ast.Assign([target], ast.Name(ITEM, ast.Load()))
        body: list[ast.stmt] = [assign, ast.Return(ast.Tuple(names, ast.Load()))]
        return self.hoist(self.hidden("unpack", body, Frame(), target, [ITEM]))

    def _kept(self, node: Comprehension) -> ast.expr:
        """Leave a comprehension to Python; its operands are converted where that needs no function in front."""
        first = node.generators[0]
        first.iter = self.converted(first.iter)
        walrus = walrus_names(node)
        self.frame.bound.update(walrus)
        if not walrus and not any(isinstance(one, COMPREHENSIONS) for one in walk(node) if one is not node):
            self._inside(node)
        return self._apart(node, walrus) if self.is_nested and isinstance(node, INLINED) else node

    def _apart(self, node: Comprehension, walrus: list[str]) -> ast.expr:
        """Give a comprehension a function of its own.

        Where Python runs one in the frame around it, it mistakes its variables for those of an enclosing function.
        """
        first = node.generators[0]
        items, first.iter = first.iter, ast.copy_location(ast.Name(ITEM, ast.Load()), first.iter)
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node), node)]
        function = self.hoist(self.hidden("comprehension", body, Frame(set(walrus)), node, [ITEM]))
        return placed(ast.Call(function, [items], []), node)

    def _inside(self, node: Comprehension) -> None:
        bound = set(self.frame.bound)
        for one in node.generators[1:]:
            one.iter = self.converted(one.iter)
        for one in node.generators:
            one.ifs = [self.condition(test) for test in one.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.converted(node.key), self.converted(node.value)
        else:
            node.elt = self.converted(node.elt)
        self.frame.bound = bound


def _taking(name: str) -> ast.arguments:
    """Return the parameters of a function of one value."""
    return ast.arguments([], [ast.arg(name)], None, [], [], None, [])
