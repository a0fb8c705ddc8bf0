"""The effect of each phrase of the vocabulary on the request. Pure."""

from decimal import Decimal

from backend.demo_model.questions.request import Threshold
from backend.demo_model.questions.things import Things
from backend.demo_model.questions.tokens import amount, written_out
from backend.demo_model.questions.vocabulary import CODES, JOINING, KINDS, NUMBERS, UNITS


class Phrases(Things):
    """A method for each slot of the vocabulary; each returns whether it has taken the phrase."""

    def _on_topic(self, value: str, count: int) -> bool:
        if self.is_by and value != "total":
            self.parts["order_by"] = value
        self.is_by = False
        self.kind = ""
        self.topics.add(value)
        return self._advance(count)

    def _on_over(self, value: bool, count: int) -> bool:
        negated = self.excludes is not None and not self.excluded_any
        if negated:
            self.excludes = None
        self.parts["over_budget"] = value is not negated
        self.topics.add("over")
        return self._advance(count)

    def _on_compare(self, _: object, count: int) -> bool:
        self.topics.add("compare")
        return self._advance(count)

    def _on_explain(self, _: object, count: int) -> bool:
        self.topics.add("explain")
        return self._advance(count)

    def _on_by(self, _: object, count: int) -> bool:
        if "limit" in self.parts and self.peek().plain not in ("by", "across"):
            self.problems.append("I rank all rows together, not within each of something.")
        self.is_by = True
        self.kind = ""
        return self._advance(count)

    def _on_rank(self, direction: str, count: int) -> bool:
        is_counted = self.peek(1).kind == "number" or self.peek(1).plain in NUMBERS
        if self.peek().plain == "first" and not is_counted:
            return False
        if self.parts.get("order", direction) != direction:
            self.problems.append("I can rank one way at a time: ask for the top or the bottom.")
        self.parts["order"] = direction
        self.at += count
        ahead = self.peek()
        if ahead.kind == "number" or ahead.plain in NUMBERS:
            return self._limit(ahead.plain, 1)
        if self.tokens[self.at - 1].plain in ("top", "bottom"):
            self.parts.setdefault("limit", 0)  # the default number
        return True

    def _on_not(self, _: object, count: int) -> bool:
        if self.peek().plain == "no" and self.peek(1).plain == ",":
            self.parts["is_marked"] = True
            return self._advance(count)
        self._close_exclusion()
        self.excludes = self.peek()
        self.kind = ""
        return self._advance(count)

    def _on_operator(self, operator: str, count: int) -> bool:
        start = self.at
        self.at += count
        self._skip("eur", "€", "euro", "the", "an", "amount", "of")
        low = self._amount()
        if low is None:
            self.at = start
            return self._time() if operator in ("between", "<=") else False
        if operator == "between":
            self._skip("and", "-", "to")
            high = self._amount()
            if high is None:
                self.at = start
                return False
            self.parts["threshold"] = Threshold(operator, low, high)
        elif "threshold" in self.parts:
            self.problems.append("I can apply one limit of an amount only, and you named two.")
        else:
            negated = self.excludes is not None and not self.excluded_any
            if negated:
                operator = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[operator]
                self.excludes = None
            self.parts["threshold"] = Threshold(operator, low)
        self.is_by, self.kind = False, ""
        return True

    def _on_marker(self, _: object, count: int) -> bool:
        self.parts["is_marked"] = True
        return self._advance(count)

    def _on_also(self, _: object, count: int) -> bool:
        self.parts["is_marked"] = self.parts["adds"] = True
        return self._advance(count)

    _on_refers = _on_marker

    def _on_drop(self, _: object, count: int) -> bool:
        self.parts["is_marked"] = self.parts["drops"] = True
        return self._advance(count)

    def _on_all(self, _: object, count: int) -> bool:
        self.at += count
        self._skip("the", "of", "our", "periods of the")
        slot, value, length = self._meaning()
        if slot != "dimension":
            return True
        kind, is_plural = value if isinstance(value, tuple) else ("", False)
        self.mentioned.append(kind)
        if kind == "fiscal_year":
            self.times.all_years = bool(is_plural)
            self.cleared |= {"fiscal_period", "months"}
        else:
            self.cleared |= {kind, *KINDS.get(kind, ())}
            self.cleared |= {"months"} if kind == "fiscal_period" else set()
        return self._advance(length)

    def _on_everyone(self, _: object, count: int) -> bool:
        self.cleared |= {"grouping", "company_code", "cost_centre"}
        return self._advance(count)

    def _on_year(self, offset: int, count: int) -> bool:
        self.times.relative_year(offset, exclude=self.excludes is not None)
        self._mark_excluded()
        return self._advance(count)

    def _on_time(self, _: object, count: int) -> bool:
        self.times.all_years = True
        return self._advance(count)

    def _on_to_date(self, _: object, count: int) -> bool:
        self.times.is_to_date = True
        self.asks_catalogue = True
        return self._advance(count)

    def _on_undated(self, _: object, count: int) -> bool:
        words = written_out(self.tokens[self.at : self.at + count])
        self.problems.append(
            f"“{words}” has no fixed meaning in these books. Name the month and the "
            "year, for example “September 2026” or “period 9”."
        )
        return self._advance(count)

    def _on_group(self, dimension: str, count: int) -> bool:
        if self.peek().plain in ("breakdown", "broken", "break") and (
            self._meaning(count)[0] in ("by", "dimension")
        ):
            return self._on_by(None, count)
        self.grouping.append(dimension)
        return self._advance(count)

    def _on_number_of(self, _: object, count: int) -> bool:
        self.topics.add("number of")
        return self._advance(count)

    def _on_dimension(self, value: tuple[str, bool], count: int) -> bool:
        dimension, is_plural = value
        before = self.peek(-1).plain
        if dimension in CODES and self._value_follows(dimension, count, is_plural=is_plural):
            self.at += count
            self._skip("number", "code", "=", "called", "named")
            self.kind, self.noun_end = dimension, self.at
            self.awaiting = self.tokens[self.at - count : self.at]
            return True
        if len(self.peek().plain) == 1 or (self.excludes and not self.excluded_any):
            return False
        asked = before in ("which", "what", "a", "an") or "order" in self.parts
        if self.is_by or is_plural or asked:
            self.grouping.append(dimension)
        elif dimension == "fiscal_year" and before in ("the", "full", "whole"):
            pass  # "the budget for the year": the default year
        elif dimension in CODES:
            self.bare_kinds.add(dimension)
            self.parts["is_marked"] = True
        else:
            return False
        self.kind = ""
        self.is_by = self.is_by and self.peek(count).plain in JOINING
        return self._advance(count)

    def _time(self) -> bool:
        if self.is_by:
            return False
        if self.kind in CODES and self.peek().kind == "number":
            return False
        taken = self.time_words.read(self.at, self.times, exclude=self.excludes is not None)
        if not taken:
            return False
        self._mark_excluded()
        self.at += taken
        self.kind = ""
        return True

    def _amount(self) -> Decimal | None:
        token = self.peek()
        if token.kind != "number":
            return None
        value, note = amount(token.plain)
        after = self.peek(1).plain
        if after in ("%", "percent"):
            return None
        self.at += 1
        if after in UNITS and self.peek().plain == after:
            value *= UNITS[after]
            self.at += 1
        if note:
            self.notes.append(note)
        self._skip("eur", "€", "euro", "euros")
        return value

    def _limit(self, plain: str, count: int) -> bool:
        digits = str(NUMBERS.get(plain, plain))
        if not digits.isdecimal() or not 1 <= int(digits) <= 1_000:
            self.problems.append(f"“{plain}” is no number of rows: ask for 1 to 1,000.")
        else:
            self.parts["limit"] = int(digits)
        return self._advance(count)
