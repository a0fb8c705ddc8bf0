"""The inspector's part of the fake API."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.inspection import (
    ContextStatus,
    InspectedRow,
    Inspection,
    Left,
    ModelCallDetails,
    ModelCallPage,
    ModelCallSummary,
    Origin,
    Pair,
    ReadMessage,
    Reason,
    SentMessage,
    Totals,
)
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType


@dataclass
class Inspected:
    """What the fake knows of each session's past; one for all of them."""

    pairs: list[Pair] = field(default_factory=list)
    calls: list[ModelCallDetails] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    budget: int | None = 8000
    asked: list[int | None] = field(default_factory=list)

    def add(
        self,
        text,
        context_status,
        *,
        origin=None,
        left=None,
        kind=ContentType.TEXT,
        sent=None,
        reads=True,
    ):
        """A pair: what a person said, and what the model reads of it."""
        row = DisplayMessage(
            id=uuid4(), position=len(self.pairs) + 1, message_type=MessageType.USER,
            content_type=kind, content={"text": text}, sequence=0, status=MessageStatus.COMPLETED,
            agent=None, turn_id=None, created_at=datetime.now(UTC), metadata={},
        )  # fmt: skip
        shown = (
            [InspectedRow(message=row, context_status=context_status, tokens=12, left=left)]
            if context_status
            else []
        )
        message = ReadMessage(
            id=str(uuid4()), place=len(self.pairs), role="user", text=text, tokens=12,
            origin=origin or Origin.SAID, sent=sent,
        )  # fmt: skip
        self.pairs.append(Pair(shown=shown, reads=message if reads else None))

    def add_usual(self):
        """One of each status, and a summary that nobody has seen."""
        gone = Left(reason=Reason.SUMMARY, turn=12, step=3)
        self.add("the oldest question", ContextStatus.SUMMARISED, left=gone, reads=False)
        trimmed = Left(reason=Reason.TRIMMED, turn=4, step=1)
        self.add("an old question", ContextStatus.DROPPED, left=trimmed, reads=False)
        self.add("so far they asked", None, origin=Origin.SUMMARY)
        self.add("a notice", ContextStatus.PEOPLE_ONLY, reads=False)
        self.add("a long result", ContextStatus.EDITED, sent="[left out]")
        self.add("the last question", ContextStatus.KEPT)

    def add_call(self, text="what was asked", **changes):
        """A call with a prompt, a message of the state and one that was added."""
        system = {"role": "system", "content": "Be brief."}
        asked = {"role": "user", "content": text}
        added = {"role": "user", "content": "added on the way"}
        call = ModelCallDetails(
            version=len(self.calls) + 2, number=1, turn=len(self.calls) + 1, turn_id=uuid4(),
            step=1, agent="Analyst", model="gpt-4o", purpose="answer", message_count=3,
            input_tokens=1234, output_tokens=56, cost=0.0123, began_at=datetime.now(UTC),
            seconds=2.1, failure="",
            messages=[
                SentMessage(message=system, place=None, tokens=3),
                SentMessage(message=asked, place=0, tokens=4),
                SentMessage(message=added, place=None, tokens=4),
            ],
            tools=[{"type": "function", "function": {"name": "lookup_budget"}}],
            settings={"model": "gpt-4o", "stream": True}, is_proven=True,
        )  # fmt: skip
        self.calls.append(call.model_copy(update=changes))


def add_inspection_routes(app: FastAPI, inspected: Inspected, api: str) -> None:
    @app.get(f"{api}/sessions/{{session_id}}/inspection")
    def inspection(session_id: UUID, before: int | None = None, limit: int = 50) -> Inspection:
        inspected.asked.append(before)
        end = len(inspected.pairs) if before is None else before - 1
        start = max(end - limit, 0)
        totals = Totals(
            system=20, tools=300, messages=4000, message_count=len(inspected.pairs),
            budget=inspected.budget, keep=2000,
        )  # fmt: skip
        return Inspection(
            items=inspected.pairs[start:end], totals=totals, system="Be brief.", added=[],
            notes=inspected.notes, next_before=start + 1 if start else None,
        )  # fmt: skip

    @app.get(f"{api}/sessions/{{session_id}}/calls")
    def calls(session_id: UUID, before: int | None = None, limit: int = 50) -> ModelCallPage:
        known = [c for c in reversed(inspected.calls) if before is None or c.version < before]
        fields = set(ModelCallSummary.model_fields)
        items = [ModelCallSummary(**call.model_dump(include=fields)) for call in known[:limit]]
        more = len(known) > limit
        next_before = items[-1].version if more else None
        return ModelCallPage(items=items, notes=inspected.notes, next_before=next_before)

    @app.get(f"{api}/sessions/{{session_id}}/calls/{{version}}/{{number}}")
    def call(session_id: UUID, version: int, number: int) -> ModelCallDetails:
        (found,) = [call for call in inspected.calls if call.version == version]
        return found
