"""What several models say at once is kept apart until it is saved or taken back."""

from backend.agents.steps.events import ModelAsked, TextDelta, ThinkingDelta
from backend.llm.events import ModelCall
from backend.turns.run.close import InFlight, Partial, with_partials
from backend.turns.run.model_calls import ModelCallLog
from backend.turns.run.record.partials import Partials
from colloquy_kit.messages.state import empty_state


def interleaved() -> Partials:
    partials = Partials()
    for delta in (
        ThinkingDelta("a", "hm"),
        TextDelta("b", "one "),
        TextDelta("a", "first "),
        TextDelta("b", "two"),
        TextDelta("a", "second"),
    ):
        partials.add(delta)
    return partials


def test_two_speakers_do_not_erase_each_other() -> None:
    assert interleaved().list_all() == [
        Partial("a", "first second", "hm"),
        Partial("b", "one two", ""),
    ]


def test_only_the_message_that_is_saved_or_taken_back_is_forgotten() -> None:
    partials = interleaved()

    partials.forget(["a", "unknown"])

    assert [partial.message_id for partial in partials.list_all()] == ["b"]


def test_all_that_was_cut_off_is_kept_in_the_order_of_first_words() -> None:
    asked = ModelCallLog()
    asked.add(ModelAsked(ModelCall("answer", [], {"model": "large"}), ()))

    state, drafts = with_partials(
        empty_state(), InFlight(interleaved().list_all(), asked=asked), "agent"
    )

    said = [(message["id"], message["content"]) for message in state["messages"]]
    assert said == [("a", "first second"), ("b", "one two")]
    assert [draft.content_type for draft in drafts] == ["thinking", "text", "text"]
    assert {draft.metadata["model_name"] for draft in drafts} == {"large"}
