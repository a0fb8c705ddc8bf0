"""Companies, cost centres and accounts in a question, by code and by name. Pure."""

from collections.abc import Sequence

from backend.demo_model.questions.catalogue import Entry
from backend.demo_model.questions.cursor import Cursor
from backend.demo_model.questions.request import THINGS, Choice, Filter
from backend.demo_model.questions.times import Times
from backend.demo_model.questions.tokens import Token, written_out
from backend.demo_model.questions.vocabulary import (
    COUNTRIES,
    DIMENSION_NAMES,
    FILLERS,
    KINDS,
    RANGING,
)

_LONGEST_NAME = 5


class Things(Cursor):
    """Takes what the catalogue knows, and reports what it does not know."""

    def _name(self) -> bool:
        """Take a thing by its name, if that is longer than any phrase here."""
        _, _, phrase_length = self._meaning()
        for count in range(_LONGEST_NAME, 0, -1):
            tokens = self.tokens[self.at : self.at + count]
            if len(tokens) < count or any(token.kind != "word" for token in tokens):
                continue
            is_abbreviation = self.is_mixed and tokens[0].is_shouted and count == phrase_length
            found = self._entries(tokens) if count > phrase_length or is_abbreviation else []
            if found:
                return self._take_name(tokens, found)
        return False

    def _entries(self, tokens: Sequence[Token]) -> list[Entry]:
        words = [token.plain for token in tokens if token.plain != "and"]
        if not self.catalogue or "and" in (tokens[0].plain, tokens[-1].plain):
            return []
        first = tokens[0]
        if len(tokens) == 1 and first.plain in ("us", "it"):
            if not first.is_shouted:
                return []
            initials = first.plain == "it" and self.catalogue.by_name(["information", "technology"])
            return list(initials or self.catalogue.by_name(["us"]))
        if len(tokens) == 1 and first.plain in COUNTRIES:
            return [e for e in self.catalogue.by_name(words) if e.kind == "company_code"]
        found = self.catalogue.by_name(words)
        if not found and len(tokens) == 1 and first.is_shouted:
            found = [e for e in self.catalogue.entries if _initials(e.name) == first.plain]
        return found

    def _take_name(self, tokens: Sequence[Token], found: list[Entry]) -> bool:
        name = written_out(tokens)
        chosen, note = self._choose(found, name, len(tokens))
        self.at += len(tokens)
        if len(chosen) != 1:
            fits = tuple((entry.kind, entry.code, str(entry)) for entry in chosen)
            self.takes += 1
            self.choices.append(Choice(name, fits, is_excluded=self.excludes is not None))
            self._mark_excluded()
            return True
        if note:
            self.notes.append(note)
        entry = chosen[0]
        self._add(entry.kind, entry.code)
        if self._meaning()[0] == "dimension" and _is_kind(self._meaning()[1], entry.kind):
            self.at += self._meaning()[2]
        return True

    def _choose(self, found: list[Entry], name: str, length: int) -> tuple[list[Entry], str]:
        """Return the entries that fit the words around the name, and what was assumed."""
        after, value, _ = self._meaning(length)
        kinds = {self.kind} if self.kind else set()
        if not kinds and after == "dimension":
            kinds = {str(value[0])}  # type: ignore[index]  # a dimension's value is a pair
        wanted = [e for e in found if any(_is_kind((kind, False), e.kind) for kind in kinds)]
        if wanted:
            return _one_account(wanted, found), ""
        found = _one_account(found, found)
        if len(found) < 2:
            return found, ""
        before = self.peek(-1).plain
        accounts = [e for e in found if e.kind.endswith("account")]
        centres = [e for e in found if e.kind == "cost_centre"]
        if before in ("did", "has", "have", "does"):
            wanted = centres
        elif before == "on" or (after == "topic" and value == "spend"):
            wanted = accounts
        elif after == "topic" and value in ("budget", "forecast"):
            wanted = centres
        if len(wanted) != 1:
            return found, ""
        others = ", ".join(str(e) for e in found if e is not wanted[0])
        return wanted, f"I took “{name}” as {wanted[0]}, not as {others}."

    def _code(self) -> bool:
        token = self.peek()
        if token.kind != "centre":
            return False
        self._add("cost_centre", token.plain)
        self.kind = "cost_centre"
        self.at += 1
        self._range("cost_centre", token.plain)
        return True

    def _value(self, kind: str, token: Token) -> bool:
        """Take a number where a company, a cost centre or an account is expected."""
        code = "".join(c for c in token.plain if c.isdigit())
        self.at += 1
        if not self.catalogue:
            self.asks_catalogue = True
            self._add(kind, code if kind != "cost_centre" else f"CC-{code}")
            return True
        kinds = KINDS.get(kind, (kind,))
        entry = next((e for k in kinds if (e := self.catalogue.by_code(k, code))), None)
        if entry is None:
            self._no_such(kind, token)
            return True
        self._add(entry.kind, entry.code)
        self._range(entry.kind, entry.code)
        return True

    def _range(self, kind: str, first: str) -> None:
        """Take the codes up to another one: CC-1001 to CC-1004."""
        if self.peek().plain not in RANGING:
            return
        if not self.catalogue:
            self.asks_catalogue = True
            return
        last = self.catalogue.by_code(kind, self.peek(1).plain)
        if last is None:
            return
        for entry in self.catalogue.of(kind):
            if first < entry.code <= last.code:
                self._add(kind, entry.code)
        self.at += 2

    def _bare_number(self, token: Token) -> bool:
        """Take a number without an introducing word, if it is a code of the catalogue."""
        self.asks_catalogue = True
        if not self.catalogue:
            return False
        for kind in THINGS:
            entry = self.catalogue.by_code(kind, token.plain)
            if entry:
                self.notes.append(f"I read “{token.written}” as {entry}.")
                self._add(kind, entry.code)
                self.kind = kind
                self.at += 1
                return True
        return False

    def _no_such(self, kind: str, token: Token) -> None:
        self.takes += 1
        self.asks_catalogue = True
        if self.catalogue:
            name = DIMENSION_NAMES[kind]
            known = [self.catalogue.listed(each) for each in KINDS.get(kind, (kind,))]
            plural = name.removesuffix("y") + "ies" if name.endswith("y") else f"{name}s"
            self.problems.append(
                f"There is no {name} “{token.written}”. The {plural} are: {'; '.join(known)}."
            )

    def _add(self, kind: str, code: str) -> None:
        if self.catalogue and self.catalogue.by_code(kind, code) is None:
            self._no_such(kind, Token(code, "number", code))
        self.takes += 1
        exclude = self.excludes is not None
        self._mark_excluded()
        self.filters[kind] = self.filters.get(kind, Filter()).add(code, exclude=exclude)
        self.kind = kind
        self.is_by = False

    def _value_follows(self, dimension: str, count: int, *, is_plural: bool) -> bool:
        """Return whether a code or name follows a dimension's word, or something meant as one."""
        ahead = count
        while self.peek(ahead).plain in ("number", "no", "code", "=", "called", "named"):
            ahead += 1
        token = self.peek(ahead)
        if token.kind in ("number", "centre") or ahead > count:
            return self._meaning(ahead + 1)[0] != "rank"
        if not self.catalogue or token.kind not in ("word", "other"):
            return False
        start = self.at + ahead
        for length in range(_LONGEST_NAME, 0, -1):
            tokens = self.tokens[start : start + length]
            if len(tokens) == length and all(t.kind == "word" for t in tokens):
                is_longer = length > self._meaning(ahead)[2]
                if is_longer and any(
                    _is_kind((dimension, False), e.kind) for e in self._entries(tokens)
                ):
                    return True
        is_known = bool(self._meaning(ahead)[0]) or token.plain in FILLERS
        is_time = bool(self.time_words.read(start, Times(self.catalogue), exclude=False))
        return not (is_known or is_time or is_plural or self._begins_name(start))

    def _begins_name(self, start: int) -> bool:
        return bool(self._entries(self.tokens[start : start + 1]))


def _is_kind(dimension: object, kind: str) -> bool:
    """Return whether a dimension's word means this kind."""
    name = str(dimension[0]) if isinstance(dimension, tuple) else ""
    return kind in KINDS.get(name, (name,))


def _one_account(entries: list[Entry], everything: list[Entry]) -> list[Entry]:
    """Drop a GL account whose group account was also found and has the same name."""
    groups = {e.code: e for e in entries if e.kind == "group_account"}
    return [
        e
        for e in entries
        if not (e.kind == "gl_account" and e.belongs_to in groups
                and groups[e.belongs_to].name == e.name)
    ] or everything  # fmt: skip


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.lower().split() if word != "and")
