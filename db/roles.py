"""The database roles of the API and of the workers, which keep the rows of people apart.

Migrations run as the owner of the tables, who sees all rows. The API's role sees what the policies
of the schema let through, for the principals of each transaction; that of the workers sees all.
"""

from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, ProgrammingError

EVERYTHING = "all:"  # the principal that reaches all rows
READ_ONLY = "alembic_version"
_SET_SINCE = 16  # before, each member of a role may work as it


class DatabaseRole(StrEnum):
    """As whom a process works; its role in the database is named `OWNER_api` or `OWNER_worker`."""

    API = "api"
    WORKER = "worker"


def principals_text(principals: Sequence[str]) -> str:
    """Return principals as the setting `app.principals` holds them, an array."""
    return "{" + ",".join(_element(one) for one in principals) + "}"


def enter_role(role: DatabaseRole, server_version: int) -> str:
    """Return the expression by which a new connection works as a role, if it may.

    Without the role, or its rights on our tables, the connection stays what it is.
    """
    may = "SET" if server_version >= _SET_SINCE * 10_000 else "MEMBER"
    return (
        "(SELECT set_config('role', rolname, false) FROM pg_roles, pg_class"  # noqa: S608  (constants)
        " WHERE pg_class.oid = to_regclass('conversations')"
        f" AND rolname = pg_get_userbyid(relowner) || '_{role}'"
        f" AND pg_has_role(pg_roles.oid, '{may}')"
        " AND has_table_privilege(pg_roles.oid, pg_class.oid, 'DELETE'))"
    )


def set_up_roles(connection: Connection) -> list[str]:
    """Make the roles and let them use our tables, if we may.

    Return the statements that an administrator of PostgreSQL has to run first, if we may not.
    """
    owner = str(connection.scalar(text("SELECT current_user")))
    missing = [
        statement
        for role in DatabaseRole
        for statement in _statements(connection, owner, f"{owner}_{role}")
    ]
    with suppress(ProgrammingError, IntegrityError), connection.begin_nested():
        for statement in missing:
            connection.execute(text(statement))
        missing = []
    if not missing:
        for role in DatabaseRole:
            _let_use(connection, f"{owner}_{role}")
        _let_see_all(connection, f"{owner}_{DatabaseRole.WORKER}")
    return missing


def _statements(connection: Connection, owner: str, name: str) -> list[str]:
    """Return what is still needed for the owner to work as this role."""
    quote = connection.dialect.identifier_preparer.quote
    made = connection.scalar(text("SELECT oid FROM pg_roles WHERE rolname = :name"), {"name": name})
    create = [] if made else [f"CREATE ROLE {quote(name)} NOLOGIN"]
    if made and connection.scalar(_MAY_ENTER[_is_new(connection)], {"role": made}):
        return []
    return [*create, f"GRANT {quote(name)} TO {quote(owner)}"]


def _let_use(connection: Connection, name: str) -> None:
    """Let a role use the schema, and our tables and functions that it may not use yet."""
    quote = connection.dialect.identifier_preparer.quote
    schema = quote(str(connection.scalar(text("SELECT current_schema()"))))
    connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {quote(name)}"))
    for table in connection.scalars(_UNUSABLE, {"name": name, "read_only": READ_ONLY}).all():
        rights = "SELECT" if table == READ_ONLY else "SELECT, INSERT, UPDATE, DELETE"
        connection.execute(text(f"GRANT {rights} ON {quote(table)} TO {quote(name)}"))
    for function in connection.scalars(_UNCALLABLE, {"name": name}).all():
        connection.execute(text(f"GRANT EXECUTE ON FUNCTION {function} TO {quote(name)}"))


def _let_see_all(connection: Connection, name: str) -> None:
    """Let a role see all rows of the tables with policies: only superusers may bypass those."""
    quote = connection.dialect.identifier_preparer.quote
    for table in connection.scalars(_HIDDEN, {"policy": name}).all():
        policy = f"CREATE POLICY {quote(name)} ON {quote(table)} TO {quote(name)} USING (true)"
        connection.execute(text(policy))


def _is_new(connection: Connection) -> bool:
    return (connection.dialect.server_version_info or (0,)) >= (_SET_SINCE,)


def _element(principal: str) -> str:
    escaped = principal.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if principal != EVERYTHING else principal


_MAY_ENTER = {
    True: text("SELECT pg_has_role(CAST(:role AS oid), 'SET')"),
    False: text("SELECT pg_has_role(CAST(:role AS oid), 'MEMBER')"),
}
_OURS = (
    "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(current_schema())"
    " AND relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)"
    " AND relkind IN ('r', 'v', 'p')"
)
_UNUSABLE = text(
    f"{_OURS} AND NOT has_table_privilege(:name, oid,"
    " CASE relname WHEN :read_only THEN 'SELECT' ELSE 'DELETE' END)"
)
_UNCALLABLE = text(
    "SELECT oid::regprocedure::text FROM pg_proc"
    " WHERE pronamespace = to_regnamespace(current_schema())"
    " AND proowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)"
    " AND NOT has_function_privilege(:name, oid, 'EXECUTE')"
)
_HIDDEN = text(
    f"{_OURS} AND relrowsecurity AND NOT EXISTS ("
    " SELECT FROM pg_policy WHERE polrelid = pg_class.oid AND polname = :policy)"
)
