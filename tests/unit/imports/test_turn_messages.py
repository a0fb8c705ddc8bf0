"""Imported turns in both views."""

from backend.imports.model import Attachment, Call, ImportedMessage, Result, Text
from backend.imports.turn_messages import make_views


def test_picture_of_one_result_does_not_cost_the_other_of_calls_made_together():
    picture = Attachment("chart.png", "image/png", None)
    said = [
        ImportedMessage("q", None, "user", [Text("Draw both.")]),
        ImportedMessage("c", "q", "assistant", [Call("1", "draw", {}), Call("2", "draw", {})]),
        ImportedMessage("r", "c", "tool", [Result("1", "draw", "one"), picture]),
        ImportedMessage("s", "r", "tool", [Result("2", "draw", "two")]),
        ImportedMessage("a", "s", "assistant", [Text("Done.")]),
    ]

    views = make_views(said, "Agent")

    assert views.dropped == 0
    assert [(one["role"], one["content"]) for one in views.messages] == [
        ("user", "Draw both."),
        ("assistant", None),
        ("tool", "one"),
        ("tool", "two"),
        ("assistant", "Done."),
    ]
    assert [draft.content_type for draft, _, _ in views.drafts] == [
        "text", "tool_call", "tool_call", "tool_result", "tool_result", "image", "text",
    ]  # fmt: skip
