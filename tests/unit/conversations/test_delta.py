"""The difference of two states: applied to the one it gives the other, and it stays small."""

from hypothesis import given
from hypothesis import strategies as st

from backend.conversations.state.delta import apply_deltas, diff_states, dropped_messages
from backend.types import JSON
from db.session import dump_json

messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from("abc")}
    ),
    max_size=6,
)
values = st.one_of(st.none(), st.integers(-3, 3), st.lists(st.sampled_from("xyz"), max_size=2))
others = st.dictionaries(st.sampled_from(["todos", "payload", "own_key"]), values)


def state_of(said: list[JSON], other: JSON) -> JSON:
    return {"version": 1, **other, "messages": said}


states = st.builds(state_of, messages, others)


@given(states, states)
def test_a_delta_turns_the_one_state_into_the_other(old: JSON, new: JSON) -> None:
    assert apply_deltas(old, [diff_states(old, new)]) == new


@given(states, states)
def test_no_state_is_changed_in_place(old: JSON, new: JSON) -> None:
    before = dump_json([old, new])

    apply_deltas(old, [diff_states(old, new)])

    assert dump_json([old, new]) == before


@given(states)
def test_equal_states_differ_by_nothing(state: JSON) -> None:
    assert diff_states(state, state_of(list(state["messages"]), {**state})) == {}


@given(states, messages)
def test_what_is_new_at_the_end_is_all_that_is_written(old: JSON, said: list[JSON]) -> None:
    new = {**old, "messages": [*old["messages"], *said]}

    assert diff_states(old, new) == ({"append": said} if said else {})


@given(messages, messages, st.integers(0, 6), others)
def test_dropping_old_messages_writes_none_of_the_kept(
    said: list[JSON], added: list[JSON], drop: int, other: JSON
) -> None:
    old = state_of([dict(message) for message in said], other)
    kept = old["messages"][drop:]
    summary = {"role": "user", "content": "what was said before"}
    new = {**old, "messages": [summary, *kept, *added]}

    delta = diff_states(old, new)

    assert apply_deltas(old, [delta]) == new
    if kept and drop:
        assert [*delta["prepend"], *delta.get("append", [])] == [summary, *added]
        assert dropped_messages(delta, len(old["messages"])) == drop


@given(states)
def test_a_key_that_is_gone_stays_gone(old: JSON) -> None:
    new = {"version": 1, "messages": old["messages"]}

    assert apply_deltas(old, [diff_states(old, new)]) == new


def test_a_state_that_lost_everything() -> None:
    old = state_of([{"role": "user", "content": "a"}], {})
    new = state_of([], {})

    delta = diff_states(old, new)

    assert apply_deltas(old, [delta]) == new
    assert dropped_messages(delta, 1) == 1
