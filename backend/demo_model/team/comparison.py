"""The SELECT that returns the differences between FI and BPC row by row. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

AMOUNTS = ("fi", "bpc", "difference")
LABEL = "figure"
_STATEMENT = """\
WITH fi_side AS (SELECT {keys}, SUM({measure}) AS fi FROM {left}{left_where} GROUP BY {keys}),
bpc_side AS (SELECT {keys}, SUM({measure}) AS bpc FROM {right}{right_where} GROUP BY {keys})
SELECT CONCAT_WS(' / ', {shown}) AS figure, {named}, l.fi, r.bpc,
COALESCE(r.bpc, 0) - COALESCE(l.fi, 0) AS difference
FROM fi_side l FULL JOIN bpc_side r ON {same}
WHERE ABS(COALESCE(r.bpc, 0) - COALESCE(l.fi, 0)) > {least}
ORDER BY ABS(COALESCE(r.bpc, 0) - COALESCE(l.fi, 0)) DESC, {order}"""


def differences_statement(arguments: Mapping[str, Any], limit: int | None = None) -> str:
    """Return the SELECT of the differences that a call of compare_sources finds.

    The largest come first; `limit` is their number, None for all.
    """
    keys = [str(key) for key in arguments["keys"]]
    both = dict(arguments.get("filters", {}))
    either = [f"COALESCE(l.{key}, r.{key})" for key in keys]
    statement = _STATEMENT.format(
        keys=", ".join(keys),
        measure=arguments["measure"],
        left=arguments["left"],
        right=arguments["right"],
        left_where=_where(both | dict(arguments.get("left_filters", {}))),
        right_where=_where(both | dict(arguments.get("right_filters", {}))),
        shown=", ".join(f"CAST({one} AS VARCHAR)" for one in either),
        named=", ".join(f"{one} AS {key}" for one, key in zip(either, keys, strict=True)),
        same=" AND ".join(f"l.{key} IS NOT DISTINCT FROM r.{key}" for key in keys),
        least=arguments.get("match_within", 1.0),
        order=", ".join(str(number) for number in range(2, len(keys) + 2)),
    )
    return f"{statement} LIMIT {limit}" if limit else statement


def _where(filters: Mapping[str, Any]) -> str:
    conditions = [f"{name} IN ({_values(value)})" for name, value in filters.items()]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _values(value: Any) -> str:
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    return ", ".join(_literal(one) for one in values)


def _literal(value: Any) -> str:
    if isinstance(value, int | float):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
