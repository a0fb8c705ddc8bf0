"""Removes values from database errors, so that they say only what happened and where.

PostgreSQL quotes values ("Key (x)=(…) already exists", "Failing row contains (…)"), and text that
people wrote must not reach logs or answers this way.
"""

import psycopg2
from sqlalchemy import Engine, ExceptionContext, event

QUOTING = ("22", "23")  # prefixes of the SQLSTATE of data and constraint errors


def keep_values_out(engine: Engine) -> None:
    """Remove values from all errors of this engine, wherever they are logged later."""
    event.listen(engine, "handle_error", _forget_values)


def _forget_values(context: ExceptionContext) -> None:
    original, wrapped = context.original_exception, context.sqlalchemy_exception
    if isinstance(original, psycopg2.Error):
        original.args = (_say(original),)
    elif wrapped is not None:
        original.args = ("a value cannot be written",)
    if wrapped is not None:
        wrapped.args = (f"({type(original).__name__}) {original.args[0]}",)


def _say(error: psycopg2.Error) -> str:
    """Return the first line or, if that may quote a value, the names of what was violated."""
    code = error.pgcode or ""
    if not code.startswith(QUOTING):
        return (str(error).strip().splitlines() or [""])[0]
    diag = error.diag
    places = (
        ("table", diag.table_name),
        ("column", diag.column_name),
        ("constraint", diag.constraint_name),
        ("type", diag.datatype_name),
    )
    named = "".join(f", {kind} {name}" for kind, name in places if name)
    return f"SQLSTATE {code}{named}"
