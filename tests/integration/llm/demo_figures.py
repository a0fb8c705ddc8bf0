"""What a question is to be answered with: the figures of plain SQL, or a refusal."""

# ruff: noqa: E501 - a question stands on one line with the SQL of its figures

from dataclasses import dataclass


@dataclass(frozen=True)
class Rows:
    """The answer's table has these rows and no others: each with the SQL's values."""

    sql: str
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Amounts:
    """The answer says each of these amounts."""

    sql: str
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """The answer holds no figure, and these words."""

    says: tuple[str, ...]


def rows(sql, *says):
    return Rows(sql, says)


def amounts(sql, *says):
    return Amounts(sql, says)


def refused(*says):
    return Refused(says)


def spend(where, by="", having="TRUE", order="1", limit=100):
    """What was spent, from the totals that FI keeps by cost centre."""
    keys = f"{by}, " if by else ""
    return (
        f"SELECT {keys}sum(amount_group) AS amount FROM fi.totals WHERE cost_centre IS NOT NULL "
        f"AND {where} GROUP BY {by or '()'} HAVING {having} ORDER BY {order} LIMIT {limit}"
    )


def posted(where, by="", having="TRUE"):
    """What was posted on accounts, from the documents."""
    keys = f"{by}, " if by else ""
    return (
        f"SELECT {keys}sum(amount_group) FROM fi.documents JOIN fi.gl_accounts USING (gl_account) "
        f"WHERE {where} GROUP BY {by or '()'} HAVING {having} ORDER BY 1"
    )


def planned(where, by="", version="BUDGET"):
    keys = f"{by}, " if by else ""
    return (
        f"SELECT {keys}sum(amount_group) FROM bpc.figures WHERE version = '{version}' AND "
        f"cost_centre IS NOT NULL AND {where} GROUP BY {by or '()'} ORDER BY 1"
    )


def against_plan(where, by, having):
    """Spent, planned and left by something."""
    return (
        f"SELECT {by}, sum(amount_group) FILTER (kind = 'A') AS a, "
        f"sum(amount_group) FILTER (kind = 'B') AS b, b - a FROM ("
        f"SELECT *, 'A' AS kind FROM fi.totals WHERE cost_centre IS NOT NULL UNION ALL BY NAME "
        f"SELECT *, 'B' AS kind FROM bpc.figures WHERE version = 'BUDGET' AND cost_centre IS NOT NULL) "
        f"WHERE {where} GROUP BY {by} HAVING {having} ORDER BY 1"
    )


FINE = "fiscal_year, fiscal_period, company_code, cost_centre, group_account"


def differences(where="TRUE", by=FINE, above=1, limit=10, everything=False):
    """FI against BPC ACTUAL, the largest differences first."""
    keys = [key.strip() for key in by.split(",")]
    same = " AND ".join(f"l.{key} IS NOT DISTINCT FROM r.{key}" for key in keys)
    shown = ", ".join(f"coalesce(l.{key}, r.{key}) AS {key}" for key in keys)
    return (
        f"WITH l AS (SELECT {by}, sum(amount_group) AS fi FROM fi.totals WHERE {where} GROUP BY {by}), "
        f"r AS (SELECT {by}, sum(amount_group) AS bpc FROM bpc.figures WHERE version = 'ACTUAL' "
        f"AND {where} GROUP BY {by}) "
        f"SELECT {shown}, fi, bpc, coalesce(bpc, 0) - coalesce(fi, 0) AS difference "
        f"FROM l FULL JOIN r ON {same} "
        f"WHERE {'TRUE' if everything else f'abs(difference) > {above}'} "
        f"ORDER BY abs(difference) DESC, {by} LIMIT {limit}"
    )
