"""How messages come and go over a session's versions, and what a request left out: pure rules."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from backend.conversations.state.delta import apply_deltas, diff_states
from backend.inspection.last_request import read_request
from backend.inspection.timeline import Change, Span, Timeline, TurnStart, make_spans, span_of
from backend.schemas.inspection import Reason
from backend.types import JSON

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


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
        state = apply_deltas(state, [delta])
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
