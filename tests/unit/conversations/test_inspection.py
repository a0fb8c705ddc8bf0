"""Which display messages a message became, and how messages come and go: pure rules."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from backend.conversations import display
from backend.conversations.display import Draft
from backend.conversations.state.delta import apply_delta, diff_states
from backend.inspection.last_request import read_request
from backend.inspection.pairing import Row, pair
from backend.inspection.timeline import (
    Change,
    Span,
    Timeline,
    TurnStart,
    make_spans,
    span_of,
)
from backend.schemas.conversations.sessions import ContentType, MessageStatus, MessageType
from backend.schemas.inspection import Reason
from backend.types import JSON
from tests.patience import ends_within

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


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
    shown = [(display.user_text("do it"), "u")]
    for number in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            shown.append((display.notice("by the way"), None))
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
    drafts = [display.user_text("same"), display.user_text("same")]
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


def test_a_summary_of_a_summary_of_thousands_is_followed() -> None:
    names = [f"s{number}" for number in range(5_000)]
    changes = [
        Change(version, [name], drop=1, summaries=[name]) for version, name in enumerate(names, 2)
    ]
    timeline = Timeline().follow([Change(1, appended=["first"]), *changes])

    left = timeline.left_at("first")

    assert left is not None
    assert (left.version, left.reason) == (2, Reason.SUMMARY)


@given(st.data())
def test_a_timeline_follows_what_the_deltas_do(data: st.DataObject) -> None:
    state: JSON = {"messages": []}
    timeline, alive, number = Timeline(), set(), 0
    for version in range(1, data.draw(st.integers(1, 12))):
        old = state["messages"]
        kept = [m for m in old if data.draw(st.integers(0, 9)) > 1]
        if data.draw(st.integers(0, 4)) == 0:
            number += 1
            kept = [{"id": f"s{number}"}, *kept]
        for _ in range(data.draw(st.integers(0, 3))):
            number += 1
            kept.append({"id": f"m{number}"})
        delta = diff_states(state, {"messages": kept})
        state = apply_delta(state, delta)
        change = Change(
            version,
            [m["id"] for m in delta.get("prepend", ())],
            delta.get("drop", 0),
            delta.get("keep"),
            [m["id"] for m in delta.get("append", ())],
        )
        timeline.follow([change])
        alive |= {m["id"] for m in kept}

        now = [m["id"] for m in state["messages"]]
        assert timeline.ids == now
        assert set(timeline.left) == alive - set(now)
    assert timeline.made_between(1, None) == list(timeline.born)


def test_what_was_summarised_twice_is_in_the_newest_summary() -> None:
    timeline = Timeline().follow(
        [
            Change(1, appended=["a", "b"]),
            Change(2, ["s1"], drop=1, appended=["c"], summaries=["s1"]),
            Change(3, ["s2"], drop=2, appended=["d"], summaries=["s2"]),
        ]
    )

    left = timeline.left_at("a")

    assert left is not None and (left.version, left.reason) == (
        2,
        Reason.SUMMARY,
    )
    assert timeline.left_at("c") is None


def test_what_a_lost_summary_said_is_lost() -> None:
    timeline = Timeline().follow(
        [
            Change(1, appended=["a", "b"]),
            Change(2, ["s"], drop=1, summaries=["s"]),
            Change(3, drop=1, appended=["c"]),
        ]
    )

    left = timeline.left_at("a")

    assert left is not None and (left.version, left.reason) == (
        3,
        Reason.TRIMMED,
    )


def test_a_message_that_comes_back_has_not_left() -> None:
    timeline = Timeline().follow(
        [Change(1, appended=["a", "b"]), Change(2, keep=1), Change(3, keep=1, appended=["b", "c"])]
    )

    assert timeline.left_at("b") is None
    assert timeline.born["b"] == 1


def test_steps_are_counted_within_a_turn() -> None:
    changes = [Change(v, appended=[f"m{v}"], is_step=v not in (1, 4)) for v in range(1, 7)]
    timeline = Timeline().follow(changes)

    assert timeline.steps_before(1, 3) == 1
    assert timeline.steps_before(4, 6) == 1


def turn(number: int, version: int | None, minutes: int = 0) -> TurnStart:
    started = MOMENT + timedelta(minutes=minutes)
    return TurnStart(UUID(int=number), number, "Agent", version, started)


def test_turns_whose_versions_are_not_kept_are_told_apart_by_time() -> None:
    first, second, third = turn(1, None), turn(2, None, 5), turn(3, 7, 9)

    spans = make_spans([first, second, third])

    assert spans == [Span(1, (first, second)), Span(7, (third,))]
    found = span_of(spans, 6)
    assert found is not None
    assert found.turn_at(MOMENT + timedelta(minutes=6)) is second
    assert found.turn_at(MOMENT - timedelta(minutes=1)) is first
    assert span_of(spans, 0) is None


def test_a_request_tells_what_it_changed_left_out_and_added() -> None:
    contents = {
        "frame": '{"model":"m","tools":[{"type":"function"}]}',
        "prompt": '{"role":"system","content":"Be brief."}',
        "other": '{"role":"tool","content":"[left out]","tool_call_id":"c"}',
        "more": '{"role":"user","content":"remember"}',
    }
    record = {"f": "frame", "m": "#prompt,0,#other,2,4,#more"}

    request = read_request(record, contents, ["a", "b", "c", "d", "e", "answer"], answered=1)

    assert request.system == "Be brief."
    assert request.tools == [{"type": "function"}]
    assert request.otherwise == {"b": "[left out]", "d": ""}
    assert request.added == ["remember"]
