"""The tool calls that a recognised question needs; more may follow from results. Pure."""

from typing import Any

from backend.demo_model.conversation import Call, Conversation
from backend.demo_model.questions.recognising import described_names, is_name, split_select
from backend.demo_model.reading import Row, read_rows

LEDGER_KEYS = ["fiscal_year", "fiscal_period", "company_code", "cost_centre", "group_account"]
_MAX_LATE = 3
_MAX_DESCRIBED = 5
_LATE = (
    "SELECT d.document_number, d.posting_date, d.entry_date, d.amount_group, d.text "
    "FROM fi.documents d JOIN fi.gl_accounts a ON a.gl_account = d.gl_account "
    "WHERE d.cost_centre = '{cost_centre}' AND a.group_account = '{group_account}' "
    "AND d.fiscal_year = {fiscal_year} AND d.fiscal_period = {fiscal_period} "
    "AND d.entry_date > make_date({fiscal_year}, {fiscal_period}, 1) + INTERVAL 1 MONTH "
    "+ INTERVAL 7 DAY ORDER BY d.entry_date"
)


def nothing(_: Conversation) -> list[Call]:
    """Return no calls."""
    return []


def sql(conversation: Conversation) -> list[Call]:
    """Return the call of the question's SELECT, on the source named by 'in NAME:' or on FI."""
    statement, source, unread = split_select(conversation.question)
    return [] if unread else [Call("query_source", {"source": source, "sql": statement})]


def list_sources(_: Conversation) -> list[Call]:
    """Return the call that lists all sources."""
    return [Call("list_sources", {})]


def describe(conversation: Conversation) -> list[Call]:
    """Return calls for the sources named as 'name' or 'name.table'; without one, list all."""
    names = described_names(conversation.asked)
    if not names:
        return list_sources(conversation)
    if len(names) > _MAX_DESCRIBED or not all(is_name(name) for name in names):
        return []
    calls = []
    for name in names:
        source, _, table = name.partition(".")
        calls.append(
            Call("describe_source", {"source": source} | ({"table": table} if table else {}))
        )
    return calls


def late_postings(conversation: Conversation, limit: int | None) -> list[Call]:
    """Return the look-up of documents behind differences that BPC lacks and nothing explains."""
    rows = [
        row
        for result in conversation.results
        if result.call.name == "compare_sources"
        for row in read_rows(result.content, *LEDGER_KEYS)
    ]
    differing = [row for row in rows if row.get("class") != "match"]
    lacking = [row for row in differing[: limit or len(differing)] if _may_be_late(row)]
    return [Call("query_source", late_query(row)) for row in lacking[:_MAX_LATE]]


def _may_be_late(row: Row) -> bool:
    hint = row.get("hint", "")
    unexplained = not hint or "offset by fiscal_period" in hint
    lacks = row.get("difference", "").startswith("-") and bool(row.get("cost_centre"))
    return row.get("class") == "major" and unexplained and lacks


def late_query(row: Row) -> dict[str, Any]:
    """Return the arguments that look up a figure's documents entered after the load into BPC."""
    quoted = {name: row[name].replace("'", "''") for name in LEDGER_KEYS}
    return {
        "source": "fi",
        "sql": _LATE.format(**quoted),
        "title": "Documents entered after the load",
    }
