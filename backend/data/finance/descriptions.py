"""The meaning of the bundled tables and columns, in accounting terms."""

FI = (
    "Finance, FI: the posted documents of Halden Instruments, fiscal years 2025 and 2026 "
    "(posted up to October 2026). Debits are positive, credits (revenue) negative."
)
BPC = (
    "Finance, BPC: consolidated ACTUAL, planned BUDGET and FORECAST figures by group account, "
    "fiscal years 2025 and 2026. Debits are positive, credits (revenue) negative."
)

TABLES = {
    "fi.documents": "Posted documents, one row per line item; the lines of a document sum to zero.",
    "fi.totals": "Postings summed per company code, cost centre, group account and period, without "
    "intercompany: what BPC ACTUAL should show. Compare it with bpc.figures, version ACTUAL.",
    "fi.cost_centres": "Cost centres with their names and responsible people.",
    "fi.company_codes": "Legal entities and their local currencies.",
    "fi.gl_accounts": "GL accounts and the group accounts they are mapped to.",
    "fi.exchange_rates": "Units of a currency for one euro: AVERAGE by period, PLAN for planning.",
    "bpc.figures": "Figures by version, period, company code, cost centre and group account. "
    "ACTUAL holds loaded figures and, for intercompany, eliminations: sum them.",
    "bpc.group_accounts": "Group accounts and their names.",
}

COLUMNS = {
    "company_code": "Legal entity: 1000 Germany, 2000 United States, 3000 United Kingdom.",
    "fiscal_year": "2025 or 2026; the calendar year.",
    "fiscal_period": "1 to 12; the calendar month.",
    "document_number": "Unique within company code and fiscal year.",
    "document_type": "KR vendor invoice, DR customer invoice, SA general ledger, IC intercompany.",
    "document_date": "Date on the document.",
    "posting_date": "Date in the books; decides the period.",
    "entry_date": "When it was entered; BPC is loaded on the 8th of the following month.",
    "gl_account": "GL account; fi.gl_accounts has names and group accounts.",
    "group_account": "Group account; bpc.group_accounts has names.",
    "cost_centre": "CC-1001 to CC-3003; empty for revenue and balance sheet lines.",
    "trading_partner": "The other company code of an intercompany posting, else empty.",
    "amount_local": "Amount in the company code's local currency.",
    "amount_group": "Amount in group currency, EUR.",
    "version": "ACTUAL, BUDGET or FORECAST.",
    "origin": "LOAD from FI, ELIMINATION of intercompany, or PLAN.",
    "account_type": "revenue, expense, intercompany or balance.",
    "rate_type": "AVERAGE of the period, or PLAN.",
}
