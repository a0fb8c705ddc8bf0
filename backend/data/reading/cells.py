"""What a single cell looks like: a number, a date, a mark for "missing", or words.

The patterns use the syntax of RE2, as DuckDB does, which matches in linear time.
"""

import re
from enum import StrEnum

_HARD = "\u00a0\u202f\u2009"  # non-breaking spaces
SPACES = f" \t\r\n\ufeff{_HARD}"
APOSTROPHE, MINUS = "\u2019", "\u2212"  # as word processors write them
GROUPS = f"[ '{APOSTROPHE}{_HARD}]"  # thousands separators besides point and comma
CURRENCY = (
    r"(?:[$€£¥₹₽₺₩₪₴]|(?:US|A|C|R|S|HK|NZ)\$|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK"
    r"|BRL|MXN|ZAR|TRY|RUB|HUF|RON|SGD|HKD|NZD|KRW|ILS|UAH|Fr\.|Rs\.?|zł|Kč|kr)"
)
# currency, open, sign, currency, sign, digits, percent, currency, sign, close
NUMBER = (
    rf"(?:({CURRENCY})[ {_HARD}]?)?(\()?"
    rf"([-+{MINUS}])?[ {_HARD}]?({CURRENCY})?[ {_HARD}]?([-{MINUS}])?"
    rf"([0-9][0-9.,'{APOSTROPHE} {_HARD}]*[0-9]|[0-9][.,]?|[.,][0-9]+)"
    rf"[ {_HARD}]?(%)?({CURRENCY})?([-{MINUS}])?(\))?"
)
NUMBER_PARTS = (
    "outside",
    "opened",
    "sign",
    "before",
    "sign2",
    "digits",
    "percent",
    "after",
    "trailing",
    "closed",
)
SCIENTIFIC = r"[-+]?(?:[0-9]+\.[0-9]*[eE][-+]?[0-9]+|\.[0-9]+[eE][-+]?[0-9]+|[0-9]+[eE][-+][0-9]+)"
ENGLISH = (
    r"(?:[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})?(?:\.[0-9]*)?"
)
GERMAN = r"(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)?(?:,[0-9]*)?"
SPACED = rf"[1-9][0-9]{{0,2}}(?:{GROUPS}[0-9]{{3}})+(?:[.,][0-9]*)?"
# 0012, 01.10, 12E3, sixteen digits, +4930123456: look like numbers, but must not be added up.
CODE = r"-?0[0-9]+(?:[.,][0-9]+)?|[0-9]+[eE][0-9]+|[-+]?[0-9]{16,}|\+[0-9]{7,}"

_TIME = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
_HALF = r"(?: ?([AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?: ?(Z|UTC|[-+][0-9]{2}(?::?[0-9]{2})?))?"
_REST = rf"(?:(?:T|,? +)({_TIME}){_HALF}{_ZONE})?"
_MONTH = "(?i:jan|feb|m[aä]r|mrz|apr|ma[yi]|jun|jul|aug|sep|o[ck]t|nov|de[cz])"
_DAY_NAME = r"(?:[A-Za-z]{2,9}\.?,? +)?"
# first, separator, second, third, time, half of the day, zone
DATE = rf"([0-9]{{1,4}})([-/.])([0-9]{{1,2}})[-/.]([0-9]{{1,4}}){_REST}"
DATE_PARTS = ("first", "mark", "second", "third", "clock", "half", "zone")
# 20240131: a number, unless a person says that it is a date. Its parts are those of DATE.
COMPACT_DATE = rf"([0-9]{{4}})()([0-9]{{2}})([0-9]{{2}}){_REST}"
# day, month, year; or month, day, year
DAY_MONTH = (
    rf"{_DAY_NAME}([0-9]{{1,2}})(?:\.|st|nd|rd|th)?[-/. ]*({_MONTH})[a-zä]*"
    rf"[-/., ]+([0-9]{{4}}|[0-9]{{2}}){_REST}"
)
MONTH_DAY = (
    rf"{_DAY_NAME}({_MONTH})[a-zä]*\.? +([0-9]{{1,2}})(?:st|nd|rd|th)?,? +([0-9]{{4}}){_REST}"
)
TIME = _TIME

_MISSING_WORDS = """
    na n/a #n/a #na n.a. n.a n/d null nil none nan missing unknown k.a. k.a nv n.v.
    - -- --- \u2013 \u2014 . .. ... ? * /
"""
MISSING = frozenset(_MISSING_WORDS.split())
_DASHES = "[-\u2013\u2014]"
NO_AMOUNT = rf"{CURRENCY}[ {_HARD}]*{_DASHES}|{_DASHES}[ {_HARD}]*{CURRENCY}"  # as Excel shows 0
# A spreadsheet's errors mean "no value" among numbers and dates; among texts they are texts. A
# database's NULL always means it.
NULL = r"\N"
_ERROR_WORDS = rf"#N/A #DIV/0! #REF! #VALUE! #NAME? #NUM! #NULL! #SPILL! #CALC! {NULL}"
ERRORS = frozenset(_ERROR_WORDS.split())


class Kind(StrEnum):
    """What a cell looks like by itself."""

    EMPTY = "empty"
    MISSING = "missing"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"
    CODE = "code"
    TEXT = "text"


_number = re.compile(f"(?:{NUMBER})|(?:{SCIENTIFIC})")
_date = re.compile(f"(?:{DATE})|(?:{DAY_MONTH})|(?:{MONTH_DAY})|(?:{TIME})")
_code = re.compile(CODE)
_no_amount = re.compile(NO_AMOUNT)


def kind_of(text: str) -> Kind:
    """Return what the cell looks like."""
    plain = text.strip(SPACES)
    if not plain:
        return Kind.EMPTY
    if len(plain) > 60:
        return Kind.TEXT
    if plain in ERRORS or plain.lower() in MISSING or _no_amount.fullmatch(plain):
        return Kind.MISSING
    if plain.lower() in ("true", "false"):
        return Kind.BOOLEAN
    if _code.fullmatch(plain):
        return Kind.CODE
    if _date.fullmatch(plain):
        return Kind.DATE
    return Kind.NUMBER if _number.fullmatch(plain) else Kind.TEXT
