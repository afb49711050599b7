"""Mutants of a module: sources that differ in one place. Cosmic Ray says what can be changed: a sign, a number, a
comparison.
"""

import ast
import contextlib
import difflib
import hashlib
import random
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

ARITHMETIC = {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}
BITS = {"BitOr", "BitAnd", "BitXor", "RShift", "LShift"}
KEPT = {
    "compiled",
    "njit",
    "cache",
    "lru_cache",
}  # decorators under which a call need not run the function's lines


class Mutant(NamedTuple):
    """A changed source, and where it differs."""

    source: str
    change: str  # lines that went and came, with their number

    @property
    def key(self) -> str:
        """The same for the same change of the same source."""
        return digest(self.source)

    @property
    def number(self) -> int:
        """That of the first line that differs."""
        return int(re.search(r"-(\d+)", self.change)[1])

    @property
    def lines(self) -> set[str]:
        """The changed line as it was, and as it has become."""
        return {line[1:].strip() for line in self.change.splitlines() if line[0] in "-+"}


def digest(*texts: str) -> str:
    """Sixteen digits that differ if texts do."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def operators() -> Iterator[object]:
    """Those of Cosmic Ray, without those that need a name and those whose mutants would fail at the first call."""
    from cosmic_ray.plugins import get_operator, operator_names

    for name in operator_names():
        kind, *change = name.partition("/")[2].split("_")
        between = set(change)
        if kind.startswith("Variable") or kind == "RemoveDecorator" or between & {"UAdd", "Invert"}:
            continue
        if kind == "ReplaceBinaryOperator" and not (between <= ARITHMETIC or between <= BITS):
            continue
        if kind == "ReplaceComparisonOperator" and len(between & {"Is", "IsNot"}) == 1:
            continue
        yield get_operator(name)()


def mutants(source: str, seed: str = "") -> Iterator[Mutant]:
    """All that differ from the source and from each other when the program runs, in random order."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    nodes = list(ast_nodes(get_ast(source)))
    places = [
        (operator, occurrence)
        for operator in operators()
        for occurrence in range(sum(len(list(operator.mutation_positions(node))) for node in nodes))
    ]
    random.Random(seed).shuffle(places)
    seen = {meaning(source)}
    for operator, occurrence in places:
        changed = mutate_code(source, operator, occurrence)
        with contextlib.suppress(SyntaxError):
            if (means := meaning(changed)) not in seen:
                seen.add(means)
                yield Mutant(changed, difference(source, changed))


class _Untyped(ast.NodeTransformer):
    """Leaves out what only readers and type checkers look at: annotations, aliases of types, docstrings."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        leaves = {type(part) for part in ast.walk(node.value) if isinstance(part, ast.expr)}
        alias = ast.BinOp in leaves and leaves <= {ast.BinOp, ast.Name, ast.Attribute, ast.Subscript}
        return None if alias and node.col_offset == 0 else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if "TYPE_CHECKING" in ast.dump(node.test) else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)


def meaning(source: str) -> str:
    """What of a source counts when it runs; a SyntaxError if it cannot."""
    with warnings.catch_warnings(action="ignore"):
        compile(source, "<mutant>", "exec")
        return ast.dump(_Untyped().visit(ast.parse(source)))


def difference(source: str, changed: str) -> str:
    """The lines that differ, with their number."""
    lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


def places(source: str, line: int) -> range:
    """The lines of the statement that has this line; none if it runs at import, or as machine code."""
    found, inside = range(0), False
    for node in ast.walk(ast.parse(source)):  # outer ones first
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.FunctionDef):
            decorators = {
                name.id
                for part in node.decorator_list
                for name in ast.walk(part)
                if isinstance(name, ast.Name)
            }
            inside = line >= node.body[0].lineno and not decorators & KEPT
        body = getattr(node, "body", None)
        found = range(node.lineno, (body[0].lineno if body else (node.end_lineno or 0) + 1))
    return found if inside else range(0)
