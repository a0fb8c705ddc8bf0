"""Names and texts as parts of a SQL statement, for engines that quote as the standard says."""

import re

# Each alternative ends somewhere, if only at the end: no character is read more than a few times.
_literal_or_name = re.compile(
    r"--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
    r"|\be'(?:[^'\\]|\\.|'')*+'?|'(?:[^']|'')*+'?"
    r"|(\$(?:[a-z_]\w*)?\$).*?(?:\1|\Z)"
    r'|(?P<name>"(?:[^"]|"")*+"?)',
    re.IGNORECASE | re.DOTALL,
)


def identifier(name: str) -> str:
    """Return a name of a table or column, quoted."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def without_literals(sql: str) -> str:
    """Return a query without its texts and comments: what is left names tables and columns."""
    return _literal_or_name.sub(lambda found: found["name"] or " ", sql)
