"""An agent state made anew from the display messages says what the lost one said."""

from datetime import UTC, datetime
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from backend.conversations import display
from backend.conversations.messages import shown_as
from backend.conversations.rebuild import rebuild_messages
from backend.conversations.rows import row_of
from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON
from colloquy_kit.messages.arguments import write_arguments
from colloquy_kit.messages.display import Draft, failure, notice, user_text
from colloquy_kit.messages.kinds import MessageStatus
from colloquy_kit.messages.repair import repair
from colloquy_kit.messages.state import check_state, empty_state, user_message


def shown(drafts: list[Draft]) -> list[DisplayMessage]:
    """The drafts as rows of one conversation."""
    conversation, turn, now = uuid4(), uuid4(), datetime.now(UTC)
    return [
        shown_as(row_of(draft, conversation, turn, position, now))
        for position, draft in enumerate(drafts, 1)
    ]


def drafts_of(message: JSON) -> list[Draft]:
    """What people see of a message, by the rules of the software."""
    if message["role"] == "user":
        return [user_text(message["content"])]
    if message["role"] == "tool":
        return display.tool_drafts(message, None, "assistant")
    return display.assistant_drafts(message, "assistant", MessageStatus.COMPLETED)


def words(message: JSON) -> JSON:
    """What a model reads of a message; ids are made anew."""
    return {key: value for key, value in message.items() if key != "id"}


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
ARGUMENTS = st.dictionaries(WORDS, st.integers() | WORDS, max_size=2)


@st.composite
def turns(draw: st.DrawFn) -> list[JSON]:
    """A turn: a question, batches of calls with their results, an answer."""
    messages: list[JSON] = [user_message(draw(WORDS), "u")]
    for _ in range(draw(st.integers(0, 2))):
        ids = [f"call_{number}" for number in range(draw(st.integers(1, 3)))]
        calls = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": "look", "arguments": write_arguments(draw(ARGUMENTS))},
            }
            for call_id in ids
        ]
        messages.append(
            {"role": "assistant", "content": draw(st.none() | WORDS), "tool_calls": calls}
        )
        messages += [
            {"role": "tool", "content": draw(WORDS), "name": "look", "tool_call_id": call_id}
            for call_id in ids
        ]
    messages.append({"role": "assistant", "content": draw(WORDS)})
    return messages


@given(st.lists(turns(), min_size=1, max_size=3))
def test_what_was_said_comes_back_message_by_message(said: list[list[JSON]]) -> None:
    messages = [message for turn in said for message in turn]
    rows = shown([draft for message in messages for draft in drafts_of(message)])

    rebuilt = rebuild_messages(rows)

    assert [words(message) for message in rebuilt] == [words(message) for message in messages]
    state = {**empty_state(), "messages": rebuilt}
    assert repair(state, "")[0] is state
    assert check_state(state) is state


def test_what_is_for_people_only_is_left_out() -> None:
    rows = shown(
        [
            user_text("Hello"),
            notice("Worker lost at step 1, resumed."),
            *drafts_of({"role": "assistant", "content": "Good day."}),
            failure("Worker lost", "Press Retry."),
        ]
    )

    assert [message["role"] for message in rebuild_messages(rows)] == ["user", "assistant"]


def test_thinking_stays_with_its_answer_and_alone_is_no_message() -> None:
    thinking = {"additional_kwargs": {"reasoning_content": "Hm."}}
    rows = shown(
        [
            user_text("Hello"),
            *drafts_of({"role": "assistant", "content": "", **thinking}),
            user_text("Again"),
            *drafts_of({"role": "assistant", "content": "Good day.", **thinking}),
        ]
    )

    rebuilt = rebuild_messages(rows)

    assert [message["role"] for message in rebuilt] == ["user", "user", "assistant"]
    assert rebuilt[-1]["additional_kwargs"] == {"reasoning_content": "Hm."}


def test_a_stopped_answer_stays_marked_and_a_failed_result_an_error() -> None:
    partial = {"role": "assistant", "content": "The budg"}
    failed = {"role": "tool", "content": "No.", "name": "f", "tool_call_id": "c", "status": "error"}
    rows = shown(
        [
            user_text("Budget?"),
            *display.assistant_drafts(partial, "assistant", MessageStatus.STOPPED),
            *drafts_of(failed),
        ]
    )

    _, stopped, result = rebuild_messages(rows)

    assert stopped["response_metadata"] == {"finish_reason": "stopped"}
    assert result["status"] == "error"


def test_the_thinking_that_a_provider_wants_back_is_known_again() -> None:
    kept = {"for": "p", "thinking": ["reasoning_content"], "message": {"odd": "x"}}
    function = {"name": "t", "arguments": "{}"}
    asked = {
        "role": "assistant",
        "content": None,
        "id": "a",
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
        "additional_kwargs": {"reasoning_content": "Look.", "kept": kept},
    }

    (rebuilt,) = rebuild_messages(shown(drafts_of(asked)))

    assert rebuilt["additional_kwargs"] == {
        "reasoning_content": "Look.",
        "kept": {"for": "p", "thinking": ["reasoning_content"]},
    }
