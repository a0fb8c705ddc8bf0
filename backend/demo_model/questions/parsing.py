"""Reads a question into a request: each word is used by a part of it, or left unread. Pure."""

from dataclasses import replace

from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.phrases import Phrases
from backend.demo_model.questions.request import Request
from backend.demo_model.questions.tokens import Token, read_tokens, written_out
from backend.demo_model.questions.vocabulary import CODES, FILLERS, JOINING, NUMBERS

_MAX_UNREAD = 12
_THINGS = ("", "topic", "dimension")  # the meanings of words that name what is left out


def parse(text: str, catalogue: Catalogue | None) -> Request:
    """Return the request of a question; without a catalogue, names and codes stay unread."""
    return _Parser(read_tokens(text), catalogue).run()


class _Parser(Phrases):
    """One pass over the tokens, which takes the longest known phrase at each position."""

    def run(self) -> Request:
        steps = (
            self._end, self._name, self._time, self._phrase, self._code, self._number, self._filler
        )  # fmt: skip
        self._read_beginning()
        while self.at < len(self.tokens):
            before, taken = self.at, self.takes
            self._end_exclusion()
            awaiting, self.awaiting = self.awaiting, []
            if not any(step() for step in steps):
                self._leave()
            if awaiting and self.takes == taken:
                self.unread.append(awaiting)  # a kind's word without a name or code
            if self.at == before:
                self.at += 1
        self._close_exclusion()
        return self._request()

    def _request(self) -> Request:
        filters, problems, notes = self.times.filters()
        self.filters |= filters
        request = Request(
            topics=frozenset(self.topics),
            filters=self.filters,
            grouping=tuple(dict.fromkeys(self.grouping)),
            unread=tuple(written_out(run) for run in self.unread),
            problems=(*self.problems, *problems),
            notes=(*self.notes, *notes),
            mentioned=tuple(self.mentioned),
            cleared=frozenset(self.cleared),
            bare_kinds=frozenset(self.bare_kinds),
            choices=tuple(self.choices),
            asks_catalogue=self.asks_catalogue or self.times.asks_catalogue,
        )
        return replace(request, **self.parts)  # type: ignore[arg-type]  # parts are its fields

    def _end(self) -> bool:
        if self.peek().plain != ".":
            return False
        self.kind, self.is_by = "", False
        self._close_exclusion()
        self.at += 1
        return True

    def _phrase(self) -> bool:
        slot, value, count = self._meaning()
        if not count:
            return False
        if slot not in ("dimension", "not", "over", "operator"):
            self._close_exclusion()
        handler = getattr(self, f"_on_{slot.replace(' ', '_')}")
        return bool(handler(value, count))

    def _number(self) -> bool:
        token = self.peek()
        if token.kind != "number" and token.plain not in NUMBERS:
            return False
        if self._meaning(1)[0] == "rank":  # "the 5 largest"
            return self._limit(token.plain, 1)
        if token.kind != "number":
            return False
        if self.kind in CODES:
            return self._value(self.kind, token)
        return self._bare_number(token)

    def _filler(self) -> bool:
        token = self.peek()
        if token.plain not in FILLERS:
            return False
        if token.plain not in JOINING and self.excluded_any:
            self._close_exclusion()
        if token.plain not in JOINING and token.plain not in ("number", "code", "of", "="):
            self.kind = ""
        self.is_by = self.is_by and token.plain in JOINING
        self.at += 1
        return True

    def _leave(self) -> None:
        """Leave the word at the position unread; after "without", all that is to be left out."""
        token = self.peek()
        if self.excludes is not None and not self.excluded_any:
            self._leave_exclusion(self.excludes)
        elif self.kind in CODES and self.at == self.noun_end:
            self._no_such(self.kind, token)
        else:
            self._leave_run([token])
        self.kind = ""
        self.at += 1

    def _leave_exclusion(self, excluding: Token) -> None:
        """Leave an exclusion unread as a whole: one word of it that is known is another thing."""
        run = [excluding, self.peek()]
        while self.peek(1).plain not in (*FILLERS, ".") and self._meaning(1)[0] in _THINGS:
            self.at += 1
            run.append(self.peek())
        self.excludes = None
        self._leave_run(run)

    def _leave_run(self, run: list[Token]) -> None:
        follows = self.unread and self.at and self.unread[-1][-1] is self.tokens[self.at - 1]
        if follows or len(self.unread) == _MAX_UNREAD:
            self.unread[-1] += run
        else:
            self.unread.append(run)
