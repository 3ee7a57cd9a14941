"""Mutants of a Python file: the same file with one small fault put in on purpose.

Operators, after the kept mutation testers: comparisons (boundary and opposite), `and`/`or`, dropped `not`, arithmetic
and bitwise operators, numbers ± 1, booleans, strings emptied, values left out of messages, returned values lost,
`break`/`continue`, swapped conditions, dropped filters of comprehensions, dropped keyword arguments, statements
deleted, exceptions not caught. Docstrings, type annotations and imports are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
}
_NOT_BEHAVIOUR = {"annotation", "returns", "format_spec"}


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is put and what it changes."""

    file: str
    """Path within the repository."""
    number: int
    """Place in the order in which :func:`mutants` finds the file's faults."""
    operator: str
    """Kind of fault."""
    line: int
    """Line of the changed piece in the file."""
    span: tuple[int, int]
    """First and last line of the statement (or of a compound statement's head) that holds the piece."""
    scope: str
    """Qualified name of the function that holds the piece; empty where it runs when the module is imported."""
    before: str
    """The piece as it is."""
    after: str
    """The piece as it becomes."""


@dataclass(frozen=True)
class _Fault:
    """A node that takes another's place."""

    operator: str
    parent: ast.AST
    field: str
    index: int | None
    old: ast.AST
    new: ast.AST
    span: tuple[int, int]
    scope: str

    def put_in(self) -> None:
        """Change the tree."""
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.index] = self.new


def mutants(file: str, source: str) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    return [
        Mutant(
            file=file,
            number=number,
            operator=fault.operator,
            line=getattr(fault.old, "lineno", fault.span[0]),
            span=fault.span,
            scope=fault.scope,
            before=_text(fault.old),
            after=_text(fault.new),
        )
        for number, fault in enumerate(_faults(ast.parse(source)))
    ]


def mutated(source: str, number: int) -> str:
    """The file's text with fault ``number`` put in; comments are lost."""
    tree = ast.parse(source)
    for found, fault in enumerate(_faults(tree)):
        if found == number:
            fault.put_in()
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    raise IndexError(f"there is no fault {number}")


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.cmpop | ast.boolop | ast.operator):
        return type(node).__name__
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())


def _faults(tree: ast.Module) -> Iterator[_Fault]:
    """Every fault of a tree; the caller may change the tree at one of them and stop."""
    yield from _below(tree, (1, 1), "", "")


def _below(parent: ast.AST, span: tuple[int, int], scope: str, prefix: str) -> Iterator[_Fault]:
    for name, value in ast.iter_fields(parent):
        if name in _NOT_BEHAVIOUR:
            continue
        inside, names = scope, prefix
        # a default belongs to the function's head, which runs where the function is defined
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and name == "body":
            inside, names = f"{prefix}{parent.name}", f"{prefix}{parent.name}.<locals>."
        elif isinstance(parent, ast.ClassDef) and name == "body":
            names = f"{prefix}{parent.name}."
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _left_alone(node):
                continue
            here = _span(node, span)
            for operator, new in _changes(node, parent):
                yield _Fault(operator, parent, name, index, node, new, here, inside)
            yield from _below(node, here, inside, names)


def _left_alone(node: ast.AST) -> bool:
    """Whether a node says nothing about behaviour: imports, docstrings, type checking, `__all__`, types of casts."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar")):
            return True
    return False


def _span(node: ast.AST, outer: tuple[int, int]) -> tuple[int, int]:
    """Lines whose execution runs a node: those of its own statement, without the body of a compound one."""
    if not isinstance(node, ast.stmt):
        return outer
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.lineno, node.end_lineno or node.lineno
    first = getattr(body[0], "lineno", None) or body[0].pattern.lineno
    return node.lineno, max(node.lineno, first - 1)


def _changes(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What may take a node's place, and the name of the kind of fault."""
    yield from _operators(node)
    yield from _values(node, parent)
    yield from _ways(node)
    yield from _left_out(node)


def _operators(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.cmpop() | ast.boolop() | ast.operator():
            kind = {ast.cmpop: "comparison", ast.boolop: "boolean", ast.operator: "arithmetic"}
            operator = next(name for base, name in kind.items() if isinstance(node, base))
            yield from ((operator, swap()) for swap in _SWAPS.get(type(node), ()))
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield "boolean" if isinstance(node.op, ast.Not) else "arithmetic", operand


def _values(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Constant(value=bool() as value):
            yield "boolean", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "number", ast.Constant(value + 1)
            yield "number", ast.Constant(value - 1)
        case ast.Constant(value=str() | bytes() as value) if not isinstance(parent, ast.JoinedStr):
            other: str | bytes = "XX" if isinstance(value, str) else b"XX"
            yield "string", ast.Constant(type(value)() if value else other)
        case ast.JoinedStr():
            yield from _messages(node)
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return", ast.Return(ast.Constant(None))


def _ways(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Break():
            yield "loop", ast.Continue()
        case ast.Continue():
            yield "loop", ast.Break()
        # another operator swaps what is a comparison or a `not`
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not _swaps_itself(test):
            swapped = copy.copy(node)
            swapped.test = ast.UnaryOp(ast.Not(), test)
            yield "condition", swapped
        case ast.ExceptHandler(type=ast.expr()):
            deaf = copy.copy(node)
            deaf.type = ast.Tuple([], ast.Load())
            yield "exception", deaf


def _left_out(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.comprehension(ifs=[_, *_]):
            for place in range(len(node.ifs)):
                fewer = copy.copy(node)
                fewer.ifs = node.ifs[:place] + node.ifs[place + 1 :]
                yield "filter", fewer
        case ast.Call(keywords=[_, *_]):
            for place, keyword in enumerate(node.keywords):
                if keyword.arg is not None:
                    less = copy.copy(node)
                    less.keywords = node.keywords[:place] + node.keywords[place + 1 :]
                    yield "keyword", less
    if _deletable(node):
        yield "deletion", ast.Pass()


def _swaps_itself(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _messages(node: ast.JoinedStr) -> Iterator[tuple[str, ast.AST]]:
    """A formatted text without its words, and without each of its values."""
    words = [part for part in node.values if isinstance(part, ast.Constant)]
    values = [part for part in node.values if not isinstance(part, ast.Constant)]
    if words and values:
        yield "message", ast.JoinedStr(values)
    for value in values:
        yield "message", ast.JoinedStr([part for part in node.values if part is not value])


def _deletable(node: ast.AST) -> bool:
    """Whether a statement can go without taking a name along, which any test would notice."""
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
    return False
