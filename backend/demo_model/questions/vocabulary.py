"""The words that the demo model understands, as a table of phrases. Pure.

A word that is neither here nor in the catalogue is not understood, and the answer says so.
"""

from typing import Any

Meaning = tuple[str, Any]

_TOPICS = {
    "spend": "spend spent spends spending cost costs expense expenses expenditure expenditures",
    "actual": "actual actuals used posted",
    "budget": "budget budgets budgeted plan plans planned",
    "forecast": "forecast forecasts forecasted outlook",
    "left": "left remaining remain remains variance variances",
    "revenue": "revenue revenues turnover",
    "documents": "document documents posting postings invoice invoices",
    "fi": "fi ledger ledgers",
    "bpc": "bpc",
    "difference": "difference differences differ differs deviation deviations deviate deviates "
    "mismatch mismatches discrepancy discrepancies",
    "total": "total totals sum amount amounts figure figures",
    "responsible": "responsible",
    "list": "list exist",
}
_DIMENSIONS = {
    "company_code": ("company|company code|legal entity|entity|subsidiary",
                     "companies|company codes|legal entities|entities|subsidiaries"),
    "cost_centre": ("cost centre", "cost centres"),
    "account": ("account", "accounts"),
    "gl_account": ("gl account", "gl accounts|chart of accounts"),
    "group_account": ("group account", "group accounts"),
    "fiscal_year": ("year|fiscal year|fy", "years|fiscal years"),
    "fiscal_quarter": ("quarter|fiscal quarter|q", "quarters|fiscal quarters"),
    "fiscal_period": ("month|period|fiscal period|p", "months|periods|fiscal periods"),
}  # fmt: skip
_PHRASES: dict[Meaning, str] = {
    ("over", True): "over budget|above budget|over plan|above plan|overspent|over their budget|"
    "over its budget|over the budget|above their budget|exceed their budget|exceeds its budget|"
    "exceeded their budget|exceeded its budget|exceed budget|exceeding their budget|overspend|"
    "exceeding budget|overran their budget|more than their budget|spent too much|over budgets",
    ("over", False): "under budget|below budget|within budget|within their budget|underspent|"
    "under their budget|below their budget|within its budget|under plan|below plan",
    ("compare", None): "compare|compared|compares|comparing|comparison|reconcile|reconciled|"
    "reconciliation|match|matches|versus|vs|against",
    ("explain", None): "explain|explained|explanation|why|cause|causes|reason|reasons",
    ("by", None): "by|per|each|every|across|split by|broken down by|grouped by|break down by|"
    "breakdown by|split up by|for each|for every|in each|in every|group by",
    ("rank", "desc"): "most|top|highest|largest|biggest|rank|ranking|ranked|descending|"
    "most expensive|first|greatest|sorted by|ordered by|sort by|order by|worst",
    ("rank", "asc"): "least|lowest|smallest|fewest|cheapest|bottom|ascending",
    ("not", None): "not|except|except for|without|excluding|exclude|excludes|but not|other than|"
    "apart from|no|all but|all except|everything but|everything except|but without|but except|"
    "leave out|leaving out|ignore|ignoring|!=|neither|nor",
    ("operator", ">"): "above|over|more than|greater than|larger than|bigger than|higher than|"
    "exceeding|exceeds|exceed|>",
    ("operator", ">="): "at least|from at least|>=",
    ("operator", "<"): "below|under|less than|smaller than|lower than|fewer than|<",
    ("operator", "<="): "at most|up to|no more than|not more than|<=",
    ("operator", "between"): "between",
    ("marker", None): "only|but only|just|what about|how about|same|instead",
    ("also", None): "also|add|plus|too|as well|include|including",
    ("refers", None): "it|its|them|that|those|these|this|their|this one|that one",
    ("drop", None): "without it|without that|without them|ignore it|ignore that|go ahead|"
    "leave it out|leave that out|yes",
    ("all", None): "all|any|whole|entire|full",
    ("everyone", None): "overall|altogether|whole group|entire group",
    ("year", 0): "this year|current year|this fiscal year|current fiscal year|latest year",
    ("year", -1): "last year|previous year|prior year|last fiscal year|previous fiscal year",
    ("year", 1): "next year|next fiscal year",
    ("to date", None): "year to date|ytd|to date|so far",
    ("undated", None): "this month|last month|this quarter|last quarter|this period|last period|"
    "previous month|previous quarter|previous period|next month|next quarter|today|yesterday|"
    "this week|last week|current month|current quarter|current period|latest month",
    ("group", "fiscal_period"): "monthly|by month|month by month|month over month",
    ("group", "fiscal_quarter"): "quarterly",
    ("group", "fiscal_year"): "yearly|annually|annual|year over year|year by year",
    ("group", "account"): "on what|break down|breakdown|broken down|cost types|categories",
    ("number of", None): "how many|number of|count|count of",
    ("topic", "exists"): "are there|do we have|do you have|do you know",
    ("topic", "responsible"): "who runs|who manages|who owns|who leads|who heads",
    ("time", "all"): "all time|since the beginning",
}
_FILLERS = """
    a an the of in on for at to from with and or is are was were be been being am do does did done
    has have had having can could would will should shall may might i me my we us our you your they
    he she please show give tell display see get want need like know let find look up out look what
    which who whose how much many there here now then so ok okay well thanks thank hi
    hello again into within during as than if hey compute calculate report us use go up
    one ones down me been make made just data really actually exactly currently money table
    eur euro euros € , . - = : st nd rd th breakdown overview view respective respectively
    both between among other together expensive
"""
FILLERS = frozenset(_FILLERS.split())
_ASKING_WORDS = (
    "which what who whose how where when why show give tell list top bottom is are do does did"
)
ASKING = frozenset(_ASKING_WORDS.split())
_JOINING_WORDS = "and or , - the nor"
JOINING = frozenset(_JOINING_WORDS.split())
_RANGING_WORDS = "to until till through thru -"
RANGING = frozenset(_RANGING_WORDS.split())
OPENING = {
    "since": ">=", "from": ">=", "starting": ">=", "after": ">", "until": "<=", "till": "<=",
    "through": "<=", "to": "<=", "up to": "<=", "before": "<",
}  # fmt: skip

_MONTHS = "january february march april may june july august september october november december"
MONTHS = {name: number for number, name in enumerate(_MONTHS.split(), 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {name: number for number, name in enumerate(_NUMBERS.split(), 1)}
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
UNITS = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "mn": 1_000_000, "million": 1_000_000}
COUNTRIES = {
    "germany": "DE", "german": "DE", "us": "US", "usa": "US", "america": "US", "american": "US",
    "united states": "US", "uk": "GB", "united kingdom": "GB", "britain": "GB", "british": "GB",
    "great britain": "GB", "england": "GB",
}  # fmt: skip
LONGEST_PHRASE = 4
CODES = ("company_code", "cost_centre", "account", "gl_account", "group_account")
KINDS = {"account": ("gl_account", "group_account")}  # an account may be of either ledger

DIMENSION_NAMES = {
    "company_code": "company", "cost_centre": "cost centre", "account": "account",
    "gl_account": "GL account", "group_account": "group account", "fiscal_year": "fiscal year",
    "fiscal_quarter": "quarter", "fiscal_period": "period", "months": "months",
}  # fmt: skip


def _all_phrases() -> dict[str, Meaning]:
    phrases: dict[str, Meaning] = {}
    for meaning, listed in _PHRASES.items():
        for phrase in listed.split("|"):
            phrases.setdefault(phrase, meaning)
    for topic, words in _TOPICS.items():
        phrases |= {word: ("topic", topic) for word in words.split()}
    for dimension, (singular, plural) in _DIMENSIONS.items():
        phrases |= {phrase: ("dimension", (dimension, False)) for phrase in singular.split("|")}
        phrases |= {phrase: ("dimension", (dimension, True)) for phrase in plural.split("|")}
    return phrases


PHRASES = _all_phrases()
