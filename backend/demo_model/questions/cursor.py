"""A position in a question's tokens, and what has been understood so far. Pure."""

from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.request import Choice, Filter
from backend.demo_model.questions.time_words import TimeWords
from backend.demo_model.questions.times import Times
from backend.demo_model.questions.tokens import Token
from backend.demo_model.questions.vocabulary import ASKING, JOINING, LONGEST_PHRASE, PHRASES

_END = Token("", "end", ".")


class Cursor:
    """The tokens, the current position, and the parts found before it."""

    def __init__(self, tokens: list[Token], catalogue: Catalogue | None) -> None:
        self.tokens, self.at = tokens, 0
        self.catalogue = catalogue
        self.topics: set[str] = set()
        self.filters: dict[str, Filter] = {}
        self.grouping: list[str] = []
        self.mentioned: list[str] = []
        self.cleared: set[str] = set()
        self.bare_kinds: set[str] = set()
        self.choices: list[Choice] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.unread: list[list[Token]] = []
        self.asks_catalogue = False
        self.parts: dict[str, object] = {}
        self.kind = ""  # the dimension whose values may follow
        self.excludes: Token | None = None  # the word that excludes what follows
        self.excluded_any = False
        self.is_by = False
        self.takes = 0  # how many names and codes were taken
        self.awaiting: list[Token] = []  # a kind's words, until a name or code follows
        self.noun_end = -1  # the position after a dimension's word whose value follows
        self.is_mixed = any(t.kind == "word" and t.written.islower() for t in tokens)
        self.time_words = TimeWords(tokens)
        self.times = Times(catalogue)

    def _read_beginning(self) -> None:
        """Read an opening: "and" changes the previous question, "which" begins another."""
        first = self.peek().plain
        if first in ("and", "but", "or", "then"):
            self.parts["is_marked"] = True
            self.at += 1
        elif first in ASKING and self.peek(1).plain != "about":
            self.parts["is_whole"] = True

    def peek(self, ahead: int = 0) -> Token:
        """Return the token at the position or further ahead; at the end, an end token."""
        place = self.at + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def _meaning(self, ahead: int = 0) -> tuple[str, object, int]:
        """Return the longest phrase at a position: its slot, its value, its number of words."""
        start = self.at + ahead
        for count in range(LONGEST_PHRASE, 0, -1):
            words = [token.plain for token in self.tokens[start : start + count]]
            found = PHRASES.get(" ".join(words)) if len(words) == count else None
            if found:
                return *found, count
        return "", None, 0

    def _advance(self, count: int) -> bool:
        self.at += count
        return True

    def _skip(self, *words: str) -> None:
        while self.at < len(self.tokens) and self.peek().plain in words:
            self.at += 1

    def _end_exclusion(self) -> None:
        """End an exclusion if nothing joins the next thing to it."""
        joined = self.peek().plain in JOINING or self.peek(-1).plain in JOINING
        if self.excluded_any and not joined and self.at != self.noun_end:
            self._close_exclusion()

    def _mark_excluded(self) -> None:
        self.excluded_any = self.excludes is not None

    def _close_exclusion(self) -> None:
        """Mark a word that excludes nothing as not understood."""
        if self.excludes is not None and not self.excluded_any:
            self.unread.append([self.excludes])
        self.excludes, self.excluded_any = None, False
