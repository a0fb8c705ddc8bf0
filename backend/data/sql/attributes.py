"""What a query calls without parentheses.

PostgreSQL reads `value.name` as `name(value)` where the value has no such column or field
(https://www.postgresql.org/docs/current/sql-expressions.html#FIELD-SELECTION), and Oracle reads a
name that is no column as a call of the function of that name. So a name that a function may have
is accepted only where it certainly is a column.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

Columns = frozenset[str]
ColumnsOfTables = Mapping[tuple[str, ...], Columns]

_NONE: Columns = frozenset()
_PROVIDED_BY_ORACLE = """
    column_value connect_by_iscycle connect_by_isleaf current_date current_timestamp dbtimezone
    level localtimestamp object_value ora_rowscn rowid rownum sessiontimezone sysdate systimestamp
    uid user
"""
_ORACLE_VALUES = frozenset(_PROVIDED_BY_ORACLE.split())
_NOT_SEEN_FROM_INSIDE = frozenset(("from_", "joins", "laterals", "with_"))


def attribute_names(query: exp.Expr) -> frozenset[str]:
    """Return the names after dots, which PostgreSQL could call as functions of one argument."""
    return frozenset(name for _, name in _attributes(query))


def called_attribute(
    query: exp.Expr, columns: ColumnsOfTables, functions: Collection[str]
) -> str | None:
    """Return a name after a dot that is a function and not certainly a column.

    `columns` holds those of each table, by the table's name in lower case.
    """
    suspects = [(node, name) for node, name in _attributes(query) if name in functions]
    sources = _Sources(query, columns)
    for node, name in suspects:
        if not (isinstance(node, exp.Column) and sources.all_have(node, name)):
            return name
    return None


def called_name(query: exp.Expr, columns: ColumnsOfTables) -> str | None:
    """Return a name in an Oracle query that is not certainly a column."""
    folded = query.copy()
    for identifier in folded.find_all(exp.Identifier):
        identifier.set("this", identifier.name.lower())
    sources = _Sources(folded, columns)
    for column in folded.find_all(exp.Column):
        name = column.name
        if name in _ORACLE_VALUES or isinstance(column.this, exp.Star):
            continue
        if not (sources.all_have(column, name) if column.table else sources.show(column, name)):
            return name
    return None


def exact_name(identifier: exp.Expr) -> str:
    """Return a name as engines read it: in lower case unless it is quoted."""
    quoted = bool(identifier.args.get("quoted"))
    return identifier.name if quoted else identifier.name.lower()


def _attributes(query: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    for node in query.find_all(exp.Column, exp.Dot):
        written = node.expression if isinstance(node, exp.Dot) else node.this
        is_qualified = isinstance(node, exp.Dot) or bool(node.args.get("table"))
        if is_qualified and isinstance(written, exp.Identifier):
            yield node, exact_name(written)


@dataclass
class _Sources:
    """What stands in FROM anywhere in a query, and the columns that each has for certain."""

    query: exp.Expr
    columns: ColumnsOfTables
    _known: dict[int, Columns] = field(default_factory=dict)

    def all_have(self, column: exp.Column, name: str) -> bool:
        """Return whether each source that the column's qualifier could mean has the column.

        Which one it means depends on rules of visibility, where parsers could disagree.
        """
        qualifier = exact_name(column.args["table"])
        meant = [s for s in _sources(self.query) if _source_name(s) in (qualifier, None)]
        return bool(meant) and all(name in self._columns_of(source) for source in meant)

    def show(self, column: exp.Column, name: str) -> bool:
        """Return whether a name without qualifier is a column of a source that it sees."""
        inside: exp.Expr = column
        is_nested = False
        for node in _ancestors(column):
            if isinstance(node, exp.Query):
                is_hidden = is_nested and inside.arg_key in _NOT_SEEN_FROM_INSIDE
                seen = [] if is_hidden else [self._columns_of(s) for s in _own_sources(node)]
                if inside.arg_key == "order":
                    seen.append(self._columns_of(node))
                if any(name in columns for columns in seen):
                    return True
                is_nested = True
            inside = node
        return False

    def _columns_of(self, source: exp.Expr) -> Columns:
        key = id(source)
        if key not in self._known:
            self._known[key] = _NONE  # of a recursive query, until its columns are known
            self._known[key] = _listed_columns(source) or self._find_columns(source)
        return self._known[key]

    def _find_columns(self, source: exp.Expr) -> Columns:
        if isinstance(source, exp.Table):
            return self._columns_of_table(source)
        if isinstance(source, exp.Select):
            return self._columns_of_select(source)
        if isinstance(source.this, exp.Table):  # (a JOIN b) AS c
            return self._together([source.this, *_joined(source.this, source)])
        has_query = isinstance(source, exp.Subquery | exp.CTE | exp.SetOperation | exp.Lateral)
        return self._columns_of(source.this) if has_query else _NONE

    def _columns_of_table(self, table: exp.Table) -> Columns:
        if isinstance(table.this, exp.JSONTable):
            return frozenset(exact_name(c.this) for c in table.find_all(exp.JSONColumnDef))
        path = tuple(part.name.lower() for part in table.parts)
        ctes = [cte for cte in self.query.find_all(exp.CTE) if path == (cte.alias.lower(),)]
        meant = [self._columns_of(cte) for cte in ctes]
        if path in self.columns or not meant:
            meant.append(self.columns.get(path, _NONE))
        return frozenset.intersection(*meant)

    def _columns_of_select(self, select: exp.Select) -> Columns:
        names = {exact_name(name) for part in select.expressions if (name := _output(part))}
        stars = [part for part in select.expressions if isinstance(part, exp.Star)]
        wanted = [
            exact_name(part.args["table"]) for part in select.expressions if _is_star_of(part)
        ]
        sources = _own_sources(select)
        starred = [s for s in sources if stars or _source_name(s) in wanted]
        return self._together(starred) | names

    def _together(self, sources: list[exp.Expr]) -> Columns:
        return _NONE.union(*map(self._columns_of, sources))


def _sources(query: exp.Expr) -> Iterator[exp.Expr]:
    for node in query.find_all(exp.Table, exp.Subquery, exp.Values, exp.Unnest, exp.Lateral):
        is_source = isinstance(node, exp.Table | exp.Unnest | exp.Lateral)
        if is_source or isinstance(node.args.get("alias"), exp.TableAlias):
            yield node


def _source_name(source: exp.Expr) -> str | None:
    """Return the name of a source, or None for a function that the engine names."""
    alias = source.args.get("alias")
    name = alias.this if isinstance(alias, exp.TableAlias) else source.this
    return exact_name(name) if isinstance(name, exp.Identifier) else None


def _listed_columns(source: exp.Expr) -> Columns:
    alias = source.args.get("alias")
    listed = alias.args.get("columns") or [] if isinstance(alias, exp.TableAlias) else []
    names = (part.this if isinstance(part, exp.ColumnDef) else part for part in listed)
    return frozenset(map(exact_name, names))


def _output(part: exp.Expr) -> exp.Identifier | None:
    """Return the name that a SELECT gives to a column, if it is written there."""
    name = part.args["alias"] if isinstance(part, exp.Alias) else part.this
    is_named = isinstance(part, exp.Alias | exp.Column) and isinstance(name, exp.Identifier)
    return name if is_named else None


def _is_star_of(part: exp.Expr) -> bool:
    return isinstance(part, exp.Column) and isinstance(part.this, exp.Star)


def _own_sources(query: exp.Expr) -> list[exp.Expr]:
    first = query.args.get("from_")
    sources = [first.this] if first is not None else []
    return [*sources, *_joined(*sources, query)]


def _joined(*nodes: exp.Expr) -> list[exp.Expr]:
    joins = [join for node in nodes for join in node.args.get("joins") or []]
    laterals = [lateral for node in nodes for lateral in node.args.get("laterals") or []]
    return [s for j in joins for s in (j.this, *_joined(j.this))] + laterals


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    while node.parent is not None:
        node = node.parent
        yield node
