"""Names and texts as parts of a SQL statement, for engines that quote as the standard says."""


def identifier(name: str) -> str:
    """Return a name of a table or column, quoted."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"
