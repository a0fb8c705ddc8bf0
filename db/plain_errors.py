"""What errors of the database say: what happened and where, never the values of a statement.

PostgreSQL quotes them ("Key (x)=(…) already exists", "Failing row contains (…)"), and what people
have written must reach no log and no answer this way.
"""

import psycopg2
from sqlalchemy import Engine, ExceptionContext, event

QUOTING = ("22", "23")  # errors of data and of constraints, by the beginning of their SQLSTATE


def keep_values_out(engine: Engine) -> None:
    """Let all errors of this engine say no value, wherever they are written later."""
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
    """Return the first line, or, where that may quote a value, the names of what was violated."""
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
