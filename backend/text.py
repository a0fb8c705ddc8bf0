"""Names that are safe to show, letters, and plain words."""

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

from colloquy_kit.messages.clean import clean_text

# Categories of letters that are not drawn. Unassigned ones may be: Python's tables are older than
# the newest emoji.
BLANKS = ("Z", "M", "Cc", "Cf", "Cs")
BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # fillers, the empty braille cell
_JOINERS = "\u200c\u200d"  # Persian and Indic words, and emojis, need them
LONGEST_ID = 1000  # characters: indexes hold no longer ones
# Letters, for a class of a regular expression, of scripts whose words have no space between them,
# or carry their endings directly: Thai to Burmese, Khmer, Chinese, Japanese, Korean.
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    r"\u3005-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
)

# The marks that letters carry: Python's `\w` lacks them, and Hindi or Thai is not written without.
MARKS = "".join(c for c in map(chr, range(0x300, 0x1F000)) if unicodedata.category(c)[0] == "M")


def same_name(name: str) -> str:
    """Return what two names have in common if they are the same one: composed, without case."""
    return unicodedata.normalize("NFC", name).casefold()


def plain_id(text: str) -> str:
    """Return an id of another system as it is looked for: without blanks around it, and case."""
    return clean_text(text).strip().casefold()[:LONGEST_ID]


def name_line(text: str) -> str:
    """Return a name on one line, without what makes it look like another one.

    That is all that prints nothing, and what turns the direction of the text around it (Unicode
    Standard Annex 9, 2.1-2.3); joiners within words of several scripts stay.
    """
    line = " ".join(clean_text(text).split())
    return "".join(c for c in line if c.isprintable() or c in _JOINERS).strip()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 row, 2,000 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """Return the parts as a person lists them: a, b and c."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are: a, b and 3 more."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def is_visible(text: str) -> bool:
    """Return whether the text shows anything besides blanks, marks and control characters."""
    return any(
        not unicodedata.category(c).startswith(BLANKS) and c not in BLANK_LETTERS for c in text
    )


def moment(at: datetime) -> str:
    """Return a time to the minute with its zone, for any reader: 2026-11-28 07:43 UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
