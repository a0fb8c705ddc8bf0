"""Thinking whose opening tag was the end of the prompt: in the stream, in both views, in titles."""

import json

from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

THINKING, TEXT = "They want the sum. `</think>` would end this.\n", "It is 7."
TITLE = "The sum"
ANSWER = f"{THINKING}</think>\n\n{TEXT}"


def test_what_streamed_as_text_becomes_thinking_when_its_tag_arrives(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id = make_session(stack)
    model.steps = lambda *_: {"text": ANSWER}
    with stack.events(session_id) as events:
        stack.submit("How much?", session_id)
        until_end: list[tuple[str, str, str]] = []
        for event in events:
            data = event["data"]
            said = data.get("text") or data.get("reason") or ""
            until_end.append((event["event"], data.get("message_id") or "", said))
            if event["event"] == "turn_finished":
                break

    shown: dict[str, str] = {}
    for name, message_id, said in until_end:
        if name == "reset":
            assert THINKING in shown.pop(message_id)
        elif name.endswith("_delta"):
            shown[message_id] = shown.get(message_id, "") + said
    rows = {row["id"]: row for row in stack.messages(session_id)[1:]}
    assert shown == {row_id: row["content"]["text"] for row_id, row in rows.items()}
    said = [(row["content_type"], row["content"]["text"]) for row in rows.values()]
    assert said == [("thinking", THINKING), ("text", TEXT)]
    stack.chat("And now?", session_id)
    assert model.messages[-1][-2] == {"role": "assistant", "content": TEXT}


def test_an_answer_in_one_piece_and_a_title_have_no_thinking_in_their_text(
    stack: Stack, model: ScriptedModel
) -> None:
    body = {"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}
    raw = {"raw": json.dumps(body), "media_type": "application/json"}
    model.steps = lambda *_: raw
    model.title = {"text": f"A title, they say.\n</think>\n\n{TITLE}"}
    domain = make_domain(stack, tools=[], middleware=["title"])

    answer = stack.chat("How much?", domain=domain["name"])

    def title() -> bool:
        session = stack.client.get(f"/sessions/{answer['session_id']}").json()
        return bool(session["title"] == TITLE)

    assert answer["response"] == TEXT
    stack.wait_for(title, "there is no title")
