"""The tables as code for Alembic, and what has changed since they were written. Pure."""

import ast
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from alembic.autogenerate import render_python_code
from alembic.operations import ops
from sqlalchemy import JSON, Table
from sqlalchemy.schema import DefaultClause
from sqlalchemy.sql.functions import now

from colloquy_kit.generate.code import lay_out
from colloquy_kit.generate.errors import Refused
from colloquy_kit.generate.record import Schema

Lines = list[str]


@dataclass(frozen=True)
class Steps:
    """The bodies of a revision's two functions, one statement each."""

    slug: str
    upgrade: Lines
    downgrade: Lines


def describe(tables: Sequence[Table]) -> Schema:
    """Return what each table consists of: its columns, constraints and indexes, as code."""
    return {
        table.name: {key: lay_out(node, room=10**6) for key, node in _parts(table)}
        for table in tables
    }


def create(tables: Sequence[Table]) -> Steps:
    """Return the steps that create all tables, and drop them."""
    made: Lines = []
    for table in tables:
        made.append(_statement(ops.CreateTableOp.from_table(table)))
        made += [_statement(ops.CreateIndexOp.from_index(one)) for one in _indexes(table)]
    gone = [_statement(ops.DropTableOp.from_table(table)) for table in reversed(tables)]
    return Steps("create_conversations", made, gone)


def alter(before: Schema, tables: Sequence[Table]) -> Steps:
    """Return the steps from an earlier schema to this one: new columns, indexes that come and go.

    Raise Refused for a difference that existing rows may not survive.
    """
    now_is = describe(tables)
    if set(before) != set(now_is):
        raise Refused("The tables have other names than those created.")
    up: Lines = []
    down: Lines = []
    of_schema = _in_schema(tables)
    for table, parts in now_is.items():
        for key in sorted(set(before[table]) | set(parts)):
            old, new = before[table].get(key), parts.get(key)
            if old == new:
                continue
            kind = key.partition(" ")[0]
            if kind == "index":
                up += _swap(f'table_name="{table}"{of_schema}', key, old, new)
                down[:0] = _swap(f'table_name="{table}"{of_schema}', key, new, old)
            elif kind == "column" and old is None and new is not None and _fits_rows(new):
                up.append(_lay_out(f'op.add_column("{table}", {new}{of_schema})'))
                name = key.partition(" ")[2]
                down.insert(0, _lay_out(f'op.drop_column("{table}", "{name}"{of_schema})'))
            else:
                raise Refused(
                    f"The {key} of {table} differs from what was created: rows may not survive it."
                )
    return Steps("change_conversations", up, down)


def _fits_rows(column: str) -> bool:
    """Return whether the column can be added to a table with rows."""
    return "nullable=True" in column or "server_default=" in column


def _in_schema(tables: Sequence[Table]) -> str:
    return f', schema="{tables[0].schema}"' if tables[0].schema else ""


def _swap(table: str, key: str, old: str | None, new: str | None) -> Iterator[str]:
    if old is not None:
        yield _lay_out(f'op.drop_index("{key.partition(" ")[2]}", {table})')
    if new is not None:
        yield _lay_out(new)


def _parts(table: Table) -> Iterator[tuple[str, ast.expr]]:
    call = _expression(ops.CreateTableOp.from_table(table))
    for node in call.args[1:]:
        assert isinstance(node, ast.Call)  # noqa: S101  as Alembic writes them
        first = node.args[0] if node.args else None
        if ast.unparse(node.func) == "sa.Column" and isinstance(first, ast.Constant):
            yield f"column {first.value!s}", node
        else:
            yield f"constraint {lay_out(node, room=10**6)}", node
    for index in _indexes(table):
        yield f"index {index.name}", _expression(ops.CreateIndexOp.from_index(index))


def _indexes(table: Table) -> list[Any]:
    return sorted(table.indexes, key=lambda index: str(index.name))


def _statement(op: ops.MigrateOperation) -> str:
    return lay_out(_expression(op), 4)


def _lay_out(code: str) -> str:
    return lay_out(ast.parse(code, mode="eval").body, 4)


def _expression(op: ops.MigrateOperation) -> ast.Call:
    written = render_python_code(ops.UpgradeOps([op]), render_item=_render)
    (statement,) = ast.parse(textwrap.dedent(f"    {written.strip()}")).body
    assert isinstance(statement, ast.Expr)  # noqa: S101  as Alembic writes them
    assert isinstance(statement.value, ast.Call)  # noqa: S101
    return statement.value


def _render(kind: str, value: Any, _: Any) -> str | Literal[False]:
    """Write in a way that holds on each database what Alembic writes for one of them."""
    if kind == "type" and isinstance(value, JSON):
        return 'sa.JSON().with_variant(postgresql.JSONB(), "postgresql")'
    if kind == "server_default" and isinstance(value, DefaultClause) and isinstance(value.arg, now):
        return "sa.func.now()"
    return False
