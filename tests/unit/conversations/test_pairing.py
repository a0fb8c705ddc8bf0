"""Which display messages a message became: pure rules."""

from hypothesis import given
from hypothesis import strategies as st

from backend.conversations import display
from backend.inspection.pairing import Row, pair
from backend.types import JSON
from colloquy_kit.messages.display import Draft, notice, user_text
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from tests.patience import ends_within


def rows_of(drafts: list[Draft]) -> list[Row]:
    """Drafts as rows; the first one has position 1."""
    return [
        Row(
            position,
            draft.message_type,
            draft.content_type,
            draft.sequence,
            draft.content.get("call_id") or draft.content.get("tool_call_id"),
        )
        for position, draft in enumerate(drafts, 1)
    ]


@st.composite
def turns(draw: st.DrawFn) -> tuple[list[JSON], list[Draft], list[str | None]]:
    """What a turn makes: messages, the rows by the real rules, and whose each row is.

    Ids of calls recur, results come in any order, notices and errors stand anywhere, and some
    messages are made that nobody sees.
    """
    messages: list[JSON] = [{"role": "user", "content": "do it", "id": "u"}]
    shown = [(user_text("do it"), "u")]
    for number in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            shown.append((notice("by the way"), None))
        if draw(st.booleans()):
            messages.append({"role": "user", "content": "unseen", "id": f"p{number}"})
        ids = draw(st.lists(st.sampled_from(["c1", "c2"]), max_size=2, unique=True))
        calls = [
            {"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}}
            for i in ids
        ]
        message: JSON = {"role": "assistant", "content": draw(st.sampled_from(["", "text"]))}
        message |= {"id": f"a{number}"} | ({"tool_calls": calls} if calls else {})
        if draw(st.booleans()):
            message["additional_kwargs"] = {"reasoning_content": "hm"}
        if draw(st.booleans()):
            message["response_metadata"] = {"finish_reason": "length"}
        messages.append(message)
        drafts = display.assistant_drafts(message, "Agent", MessageStatus.COMPLETED)
        shown += [(d, None if d.content_type == "notice" else message["id"]) for d in drafts]
        results = [
            {
                "role": "tool",
                "content": "found",
                "tool_call_id": i,
                "name": "look",
                "id": f"{i}{number}",
            }
            for i in ids
        ]
        messages += results
        for result in draw(st.permutations(results)):
            shown.append((display.tool_draft(result, None, "Agent"), result["id"]))
    return messages, [draft for draft, _ in shown], [owner for _, owner in shown]


@given(turns())
def test_each_row_finds_its_message(made: tuple[list[JSON], list[Draft], list[str | None]]) -> None:
    messages, drafts, owners = made

    pairs = pair([m for m in messages if not m["id"].startswith("p")], rows_of(drafts))

    assert [pairs.get(position) for position in range(1, len(drafts) + 1)] == owners


@given(turns())
def test_messages_that_nobody_sees_take_no_row_of_an_agent(
    made: tuple[list[JSON], list[Draft], list[str | None]],
) -> None:
    messages, drafts, owners = made

    pairs = pair(messages, rows_of(drafts))

    found = [pairs.get(position) for position in range(1, len(drafts) + 1)]
    assert found == owners


def test_a_stored_message_that_names_its_row_takes_no_other() -> None:
    drafts = [user_text("same"), user_text("same")]
    message = {"role": "user", "content": {"$shown": 2}, "id": "second"}

    assert pair([message], rows_of(drafts)) == {2: "second"}


KINDS = st.sampled_from(
    [
        ("user", ContentType.TEXT, None),
        ("assistant", ContentType.TEXT, None),
        ("assistant", ContentType.TOOL_CALL, "c1"),
        ("assistant", ContentType.TOOL_CALL, "c2"),
        ("tool", ContentType.TOOL_RESULT, "c1"),
        ("tool", ContentType.TOOL_RESULT, "c2"),
    ]
)


def message_of(name: str, role: str, call_id: str | None) -> JSON:
    if role == "tool":
        return {"role": role, "id": name, "tool_call_id": call_id}
    calls = [{"id": call_id}] if call_id else []
    return {"role": role, "id": name, "content": "" if call_id else "text", "tool_calls": calls}


def first_that_fits(messages: list[JSON], rows: list[Row]) -> dict[int, str]:
    """The rule that `pair` looks up: the first row from where the last message said stands."""
    pairs: dict[int, str] = {}
    start = 0
    for message in messages:
        calls = message.get("tool_calls")
        wanted = message.get("tool_call_id") or (calls[0]["id"] if calls else None)
        for place, row in enumerate(rows[start:], start):
            fits = (str(row.message_type), row.call_id) == (message["role"], wanted)
            if fits and (message["role"] != "tool" or row.position not in pairs):
                pairs[row.position] = message["id"]
                start = start if message["role"] == "tool" else place + 1
                break
    return pairs


@given(st.lists(KINDS, max_size=12), st.lists(KINDS, max_size=12))
def test_a_message_is_paired_with_the_first_row_that_fits(
    said: list[tuple[str, ContentType, str | None]],
    shown: list[tuple[str, ContentType, str | None]],
) -> None:
    messages = [message_of(f"m{n}", role, call_id) for n, (role, _, call_id) in enumerate(said)]
    rows = [
        Row(n, MessageType(role), content_type, 0, call_id)
        for n, (role, content_type, call_id) in enumerate(shown, 1)
    ]

    assert pair(messages, rows) == first_that_fits(messages, rows)


def test_a_turn_of_many_messages_that_nobody_has_seen_is_read_at_once() -> None:
    count = 30_000
    messages = [message_of(f"m{n}", "assistant", f"call {n}") for n in range(count)]
    rows = [Row(n, MessageType.TOOL, ContentType.TOOL_RESULT, 0, f"c{n}") for n in range(count)]

    with ends_within(20):
        assert pair(messages, rows) == {}
