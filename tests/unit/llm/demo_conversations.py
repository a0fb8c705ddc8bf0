"""Conversations with the demo model, and what it finds when it looks names and codes up."""

import json

from backend.demo_model.conversation import read_conversation
from backend.demo_model.questions.catalogue import CALLS, Catalogue, Entry
from backend.tools.sources.presenting import markdown_table

ALL_TOOLS = (
    "list_sources", "describe_source", "query_source", "get_budget", "compare_sources",
    "make_chart",
)  # fmt: skip
BUDGET = """Budget of CC-1001 Marketing, fiscal year 2031, by year: 1 row.
Company code 1000. Fiscal periods 1 to 12; posted up to period 4. All amounts in EUR.

| fiscal_year | budget | actual | remaining | used_percent | forecast |
| --- | --- | --- | --- | --- | --- |
| 2031 | 1000.00 | 1250.50 | -250.50 | 125.1 | 900.00 |
"""


def user(text):
    return {"role": "user", "content": text}


def called(*calls):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"c{i}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for i, (name, arguments) in enumerate(calls)
        ],
    }  # fmt: skip


def result(index, content):
    return {"role": "tool", "tool_call_id": f"c{index}", "content": content}


PLACES = [
    ("company_code", "1000", "Halden Instruments GmbH", "DE"),
    ("company_code", "2000", "Halden Instruments Inc.", "US"),
    ("company_code", "3000", "Halden Instruments Ltd", "GB"),
    ("cost_centre", "CC-1001", "Marketing", "1000"),
    ("cost_centre", "CC-1003", "Information Technology", "1000"),
    ("cost_centre", "CC-2001", "Sales North America", "2000"),
    ("cost_centre", "CC-2002", "Marketing North America", "2000"),
    ("fiscal_year", "2025", "12", ""),
    ("fiscal_year", "2026", "10", ""),
]
ACCOUNTS = [
    ("gl_account", "630000", "Travel", "52000"),
    ("gl_account", "640000", "Consulting", "53000"),
    ("group_account", "52000", "Travel", ""),
    ("group_account", "53000", "Consulting and legal", ""),
    ("group_account", "56000", "Marketing", ""),
]
CATALOGUE = Catalogue(tuple(Entry(*row) for row in (*PLACES, *ACCOUNTS)))
COLUMNS = ["kind", "code", "name", "belongs_to"]
TABLES_OF = {
    call.arguments["sql"]: "Rows.\n\n" + markdown_table(COLUMNS, rows)
    for call, rows in zip(CALLS, (PLACES, ACCOUNTS), strict=True)
}
LOOKED_UP = [
    called(*((call.name, dict(call.arguments)) for call in CALLS)),
    *(result(n, TABLES_OF[call.arguments["sql"]]) for n, call in enumerate(CALLS)),
]


def conversation(*messages, tools=ALL_TOOLS, **extra):
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return read_conversation({"messages": list(messages), "tools": offered, **extra})
