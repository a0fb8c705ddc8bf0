"""Which steps of a turn fold into one line, and which stay in sight."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from backend.schemas.conversations.sessions import DisplayMessage
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from ui.features.chat.messages.blocks import Block, to_groups
from ui.features.chat.messages.steps import Fold, fold

TURN = uuid4()


def row(kind, content, status=MessageStatus.COMPLETED, turn_id=TURN, **metadata):
    speaker = MessageType.TOOL if kind is ContentType.TOOL_RESULT else MessageType.ASSISTANT
    return DisplayMessage(
        id=uuid4(), position=1, message_type=speaker, content_type=kind, content=content,
        sequence=0, status=status, agent="Analyst", turn_id=turn_id,
        created_at=datetime.now(UTC), metadata=metadata,
    )  # fmt: skip


def thinking(turn_id=TURN):
    return row(ContentType.THINKING, {"text": "…"}, turn_id=turn_id)


def step(name="look", *, is_error=False, status=MessageStatus.COMPLETED, **metadata):
    call_id = uuid4().hex
    call = {"call_id": call_id, "name": name, "arguments": {}}
    result = {"tool_call_id": call_id, "name": name, "content": "x", "is_error": is_error}
    return [
        row(ContentType.TOOL_CALL, call, status, seconds=2.5),
        row(ContentType.TOOL_RESULT, result, **metadata),
    ]


def text():
    return row(ContentType.TEXT, {"text": "So it is."})


def folded(*rows):
    (group,) = to_groups(rows)
    return [
        part.label if isinstance(part, Fold) else str(part.row.content_type)
        for part in fold(group.blocks)
    ]


def test_finished_steps_are_one_line_before_the_answer():
    rows = [thinking(), *step("look"), thinking(), *step("get"), *step("look"), text()]

    assert folded(*rows) == ["Worked 7.5 s · 3 tools: look, get", "text"]


def test_several_thoughts_are_one_row_and_a_single_step_stays_as_it_is():
    assert folded(thinking(), thinking(), text()) == ["Thinking", "text"]
    assert folded(*step(), text()) == ["tool_call", "text"]


@pytest.mark.parametrize(
    "shown",
    [step(is_error=True), step(status=MessageStatus.STOPPED), step(status=MessageStatus.FAILED),
     step(status=MessageStatus.EXECUTING)[:1], step(table={"columns": [], "chart": {}})],
)  # fmt: skip
def test_failures_charts_and_what_runs_stay_in_sight(shown):
    parts = folded(thinking(), *step(), *shown, text())

    assert parts == ["Worked 2.5 s · 1 tool: look", "tool_call", "text"]


def test_what_a_person_decided_stays_in_sight():
    asked = Block(step()[0], step()[1], asked=row(ContentType.INTERRUPT, {}))

    assert list(fold([asked, asked])) == [asked, asked]


def test_turns_are_folded_apart():
    other = uuid4()

    parts = folded(thinking(), thinking(), thinking(other), thinking(other))

    assert parts == ["Thinking", "Thinking"]
