"""The text of a checked query as it was written, except where two parsers could disagree.

Printing the parsed query would change it: sqlglot's MySQL dialect uses functions that MariaDB does
not have. Sending the text unchanged could let a database see code where the check saw a comment or
a string. So words are kept, comments are removed, and strings and quoted names are quoted again by
the dialect's plain rules.
"""

import re

from sqlglot import Dialect, exp
from sqlglot.tokenizer_core import Token, TokenType

_NUMBER_IN_QUOTES = re.compile(r"[xXbB]'[0-9a-fA-F]*'|0[xXbB][0-9a-fA-F]+")
_QUOTES = ("'", '"', "`")
_SPELLED_IN_QUOTES = frozenset((TokenType.HEX_STRING, TokenType.BIT_STRING))
# Strings with special rules, and hints: rare, so the parser prints the query instead.
_ODD = frozenset(
    (
        TokenType.BYTE_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.HINT,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.UNICODE_STRING,
    )
)


def verbatim(sql: str, checked: exp.Expr, dialect: str) -> str:
    """Return the checked query in its own words."""
    tokens = [
        token
        for token in Dialect.get_or_raise(dialect).tokenize(sql)
        if token.token_type is not TokenType.SEMICOLON
    ]
    written = [_written(token, sql, dialect) for token in tokens]
    if not all(written):
        return checked.sql(dialect=dialect, comments=False)
    query = ""
    end = tokens[0].start
    for token, text in zip(tokens, written, strict=True):
        between = sql[end : token.start]
        query += "\n" if "\n" in between else " " if between else _between(query, text or "")
        query += text or ""
        end = token.end + 1
    return query


def _between(query: str, text: str) -> str:
    """Return a space where quotes would make one token of two, as in PostgreSQL's `U&"name"`."""
    is_prefix = query[-1:].isalnum() or query[-1:] in ("_", "&")
    return " " if text[:1] in _QUOTES and is_prefix else ""


def _written(token: Token, sql: str, dialect: str) -> str | None:
    """Return a token as the database must read it, or None if only the parser can print it."""
    kind = token.token_type
    if kind is TokenType.STRING:
        text = token.text.replace("'", "''")
        return f"'{text.replace(chr(92), chr(92) * 2) if dialect == 'mysql' else text}'"
    if kind is TokenType.IDENTIFIER:
        quote = "`" if dialect == "mysql" else '"'
        return quote + token.text.replace(quote, quote * 2) + quote
    if kind in _SPELLED_IN_QUOTES:
        spelled = sql[token.start : token.end + 1]
        return spelled if _NUMBER_IN_QUOTES.fullmatch(spelled) else None
    return None if kind in _ODD else token.text
