"""Python code laid out as formatters do, from what Alembic writes in long lines. Pure."""

import ast
import json

WIDTH = 88
STEP = 4


def lay_out(node: ast.expr, indent: int = 0, room: int = WIDTH, lead: int = 0) -> str:
    """Return an expression's code: on one line if it fits, else each argument on a line of its own.

    `lead`: the characters between the indentation and the expression.
    """
    flat = _flat(node)
    if indent + lead + len(flat) <= room or not isinstance(node, ast.Call | ast.List):
        return flat
    head, close = (f"{_flat(node.func)}(", ")") if isinstance(node, ast.Call) else ("[", "]")
    inner = indent + STEP
    parts = _parts(node)
    together = ", ".join(_part(name, _flat(value)) for name, value in parts)
    if inner + len(together) <= WIDTH:
        lines = [together]
    else:
        lines = [
            _part(name, lay_out(value, inner, WIDTH - 1, len(_part(name, "")))) + ","
            for name, value in parts
        ]
    space = " " * inner
    return f"{head}\n" + "".join(f"{space}{line}\n" for line in lines) + f"{' ' * indent}{close}"


def _parts(node: ast.Call | ast.List) -> list[tuple[str, ast.expr]]:
    if isinstance(node, ast.List):
        return [("", one) for one in node.elts]
    return [("", one) for one in node.args] + [(k.arg or "**", k.value) for k in node.keywords]


def _part(name: str, value: str) -> str:
    return f"{name}={value}" if name else value


def _flat(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return json.dumps(text, ensure_ascii=False)
        case ast.Call():
            inside = ", ".join(_part(name, _flat(value)) for name, value in _parts(node))
            return f"{_flat(node.func)}({inside})"
        case ast.List():
            return f"[{', '.join(_flat(one) for one in node.elts)}]"
        case ast.Attribute():
            return f"{_flat(node.value)}.{node.attr}"
    return ast.unparse(node)
