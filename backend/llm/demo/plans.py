"""Which tool calls a recognised question needs; a plan may grow as results come in. Pure."""

import re
from typing import Any

from backend.llm.demo.conversation import Call, Conversation
from backend.llm.demo.question import (
    find_account,
    find_centres,
    find_periods,
    find_topic,
    find_year,
    period_filters,
)
from backend.llm.demo.reading import Row, read_rows

_MAX_CENTRES = 5
_MAX_LATE = 3
_FILLING_WORDS = """
    describe the source sources table tables column columns of in what are is which does has have
    show me fields field schema structure for please data and a an its list all can you
"""
_FILLERS = frozenset(_FILLING_WORDS.split())

_TOP_CENTRES = (
    "SELECT t.cost_centre, c.name, c.responsible, t.fiscal_year, SUM(t.amount_group) AS spend "
    "FROM fi.totals t JOIN fi.cost_centres c ON c.cost_centre = t.cost_centre "
    "WHERE {condition} GROUP BY ALL ORDER BY spend DESC LIMIT {limit}"
)
_TOTAL = (
    "SELECT a.gl_account, a.name, d.fiscal_year, COUNT(*) AS documents, "
    "SUM(d.amount_group) AS amount FROM fi.documents d "
    "JOIN fi.gl_accounts a ON a.gl_account = d.gl_account "
    "WHERE {which} AND {condition} GROUP BY ALL ORDER BY a.gl_account"
)
_LATE = (
    "SELECT d.document_number, d.posting_date, d.entry_date, d.amount_group, d.text "
    "FROM fi.documents d JOIN fi.gl_accounts a ON a.gl_account = d.gl_account "
    "WHERE d.cost_centre = '{cost_centre}' AND a.group_account = '{group_account}' "
    "AND d.fiscal_year = {fiscal_year} AND d.fiscal_period = {fiscal_period} "
    "AND d.entry_date > make_date({fiscal_year}, {fiscal_period}, 1) + INTERVAL 1 MONTH "
    "+ INTERVAL 7 DAY ORDER BY d.entry_date"
)
LEDGER_KEYS = ["fiscal_year", "fiscal_period", "company_code", "cost_centre", "group_account"]


def nothing(_: Conversation) -> list[Call]:
    """No tool is needed."""
    return []


def budgets(conversation: Conversation) -> list[Call]:
    """One look-up for each cost centre named: parallel calls."""
    centres = find_centres(conversation.asked)[:_MAX_CENTRES]
    return [_budget_call(centre, conversation.asked) for centre in centres]


def budget_by_name(conversation: Conversation) -> list[Call]:
    """A look-up by the words in 'the marketing budget' or 'the budget for marketing'."""
    text = conversation.asked
    before = re.search(r"\b(?:the|our)\s+([a-z][a-z &]*?)\s+budget\b", text, re.IGNORECASE)
    name = before[1] if before else find_topic(text)
    return [_budget_call(name, text)] if name else []


def follow_up(conversation: Conversation) -> list[Call]:
    """The cost centres of the last look-up again, with what the question adds."""
    calls = earlier_centres(conversation)
    return [
        _budget_call(str(call.arguments["cost_centre"]), conversation.asked, call) for call in calls
    ]


def earlier_centres(conversation: Conversation) -> list[Call]:
    """The last budget look-up of the conversation; of a parallel batch, all of its calls."""
    calls = [r.call for r in conversation.earlier if r.call.name == "get_budget"]
    asked = [call for call in calls if call.arguments.get("cost_centre")]
    if not asked:
        return []
    for role, text in reversed(conversation.transcript[:-1]):
        centres = find_centres(text) if role == "user" else []
        if centres:
            named = {str(call.arguments["cost_centre"]): call for call in asked}
            return [named[c] for c in centres if c in named] or asked[-1:]
    return asked[-1:]


def compare_ledgers(conversation: Conversation) -> list[Call]:
    """Compare FI with BPC; then look for documents that were entered late, if that is the hint."""
    arguments: dict[str, Any] = {
        "left": "fi.totals",
        "right": "bpc.figures",
        "keys": LEDGER_KEYS,
        "measure": "amount_group",
        "right_filters": {"version": "ACTUAL"},
    }
    filters = period_filters(conversation.asked)
    centres = find_centres(conversation.asked)
    if centres:
        filters["cost_centre"] = centres[0] if len(centres) == 1 else centres
    if filters:
        arguments["filters"] = filters
    calls = [Call("compare_sources", arguments)]
    for result in conversation.results:
        if result.call.name == "compare_sources":
            calls += _late_postings(read_rows(result.content, *LEDGER_KEYS))
    return calls


def top_centres(conversation: Conversation) -> list[Call]:
    """Spending by cost centre, the largest first."""
    found = re.search(r"\b(\d{1,2})\b(?!\s*\d)", re.sub(r"20\d\d", "", conversation.asked))
    limit = int(found[1]) if found and not find_periods(conversation.asked) else 5
    statement = _TOP_CENTRES.format(
        condition=_ledger_condition(conversation.asked, "t"), limit=max(1, min(limit, 20))
    )
    return [Call("query_source", {"source": "fi", "sql": statement, "title": "Top cost centres"})]


def total(conversation: Conversation) -> list[Call]:
    """A GL account's postings, found by its number or by words of its name."""
    account, topic = find_account(conversation.asked), find_topic(conversation.asked)
    if not account and re.search(r"\brevenue\b", conversation.asked, re.IGNORECASE):
        topic = "revenue"
    words = "".join(character for character in topic if character.isalnum() or character in " -")
    which = f"lower(a.name) LIKE '%{words}%'" if words else "a.account_type = 'expense'"
    if account:
        which = f"a.gl_account = '{account}'"
    statement = _TOTAL.format(which=which, condition=_ledger_condition(conversation.asked, "d"))
    return [Call("query_source", {"source": "fi", "sql": statement, "title": "Total by account"})]


def sql(conversation: Conversation) -> list[Call]:
    """The SELECT that the question holds, on the source it names with 'in NAME:' or on FI."""
    text = conversation.question
    source = re.search(r"\bin (?:source )?`?(\w+)`?\s*:", text, re.IGNORECASE)
    statement = re.search(r"\b(select|with)\b.*", text, re.IGNORECASE | re.DOTALL)
    cleaned = statement[0].replace("```", "").strip().rstrip(";") if statement else ""
    return [Call("query_source", {"source": source[1].lower() if source else "fi", "sql": cleaned})]


def list_sources(_: Conversation) -> list[Call]:
    """All sources."""
    return [Call("list_sources", {})]


def describe(conversation: Conversation) -> list[Call]:
    """The source named in the question, as 'name' or 'name.table'; without one, all sources."""
    words = re.findall(r"[A-Za-z_][\w]*(?:\.\w+)?", conversation.asked)
    plain = [word for word in words if word.lower() not in _FILLERS]
    if not plain:
        return list_sources(conversation)
    source, _, table = plain[-1].lower().partition(".")
    arguments = {"source": source} | ({"table": table} if table else {})
    return [Call("describe_source", arguments)]


def _budget_call(centre: str, question: str, before: Call | None = None) -> Call:
    arguments: dict[str, Any] = {"cost_centre": centre}
    year, periods = find_year(question), find_periods(question)
    if before and not year:
        year = before.arguments.get("fiscal_year")
    if year:
        arguments["fiscal_year"] = year
    if periods:
        arguments["fiscal_period_from"], arguments["fiscal_period_to"] = periods[0], periods[-1]
    if re.search(
        r"\b(per|by|each|every) (fiscal )?(period|month)|monthly", question, re.IGNORECASE
    ):
        arguments["by"] = "period"
    elif re.search(
        r"\b(per|by|each) (group )?account|break\w* ?down|on what", question, re.IGNORECASE
    ):
        arguments["by"] = "group_account"
    return Call("get_budget", arguments)


def _ledger_condition(question: str, alias: str) -> str:
    """Year and periods as SQL; without a year the latest one that is posted."""
    year, periods = find_year(question), find_periods(question)
    chosen = str(year) if year else "(SELECT MAX(fiscal_year) FROM fi.totals)"
    condition = f"{alias}.fiscal_year = {chosen}"
    if periods:
        condition += f" AND {alias}.fiscal_period IN ({', '.join(map(str, periods))})"
    return condition


def _late_postings(rows: list[Row]) -> list[Call]:
    """A look at the documents behind the largest figures that BPC lacks without other hint."""
    lacking = [row for row in rows if _may_be_late(row)]
    return [Call("query_source", late_query(row)) for row in lacking[:_MAX_LATE]]


def _may_be_late(row: Row) -> bool:
    hint = row.get("hint", "")
    unexplained = not hint or "offset by fiscal_period" in hint
    lacks = row.get("difference", "").startswith("-") and bool(row.get("cost_centre"))
    return row.get("class") == "major" and unexplained and lacks


def late_query(row: Row) -> dict[str, Any]:
    """The arguments that look up a figure's documents entered after the load into BPC."""
    quoted = {name: row[name].replace("'", "''") for name in LEDGER_KEYS}
    return {
        "source": "fi",
        "sql": _LATE.format(**quoted),
        "title": "Documents entered after the load",
    }
