"""The ids of todos: each item keeps its own, however the agent writes its list again."""

from hypothesis import given
from hypothesis import strategies as st

from colloquy_kit.messages.todos import keep_ids, with_ids

TEXTS = st.sampled_from(["look", "look again", "tell", "", "compare both ledgers", 7, None])
ITEMS = st.dictionaries(st.sampled_from(["content", "status", "id"]), TEXTS)
LISTS = st.lists(st.one_of(ITEMS, st.just("odd")))


def todos(*texts: str, status: str = "pending") -> list[dict[str, str]]:
    return [{"content": text, "status": status} for text in texts]


def ids(items: list[dict[str, str]]) -> list[str]:
    return [item["id"] for item in items]


def test_an_item_keeps_its_id_when_it_is_done_moved_or_reworded() -> None:
    before = with_ids(todos("look at the ledger", "compare it", "tell"))
    first, second, third = ids(before)

    assert ids(keep_ids(before, todos("look at the ledger", "compare it", "tell"))) == ids(before)
    assert ids(keep_ids(before, todos("tell", "look at the ledger"))) == [third, first]
    reworded = keep_ids(before, todos("look at the ledgers", "compare it", "tell"))
    assert ids(reworded) == [first, second, third]


def test_a_new_item_gets_an_id_of_its_own() -> None:
    before = with_ids(todos("look", "tell"))

    after = keep_ids(before, todos("ask first", "look", "tell", "look"))

    assert ids(after)[1:3] == ids(before)
    assert len(set(ids(after))) == 4
    assert not set(ids(keep_ids(before, todos("sum up", "draw a chart")))) & set(ids(before))


def test_a_list_without_ids_gets_the_same_ones_at_each_reading() -> None:
    old = todos("look", "look", "tell")

    assert with_ids(old) == with_ids(with_ids(old))
    assert len(set(ids(with_ids(old)))) == 3
    assert old == todos("look", "look", "tell")


@given(LISTS, LISTS)
def test_ids_are_never_shared_whatever_is_in_a_list(before: list, after: list) -> None:
    kept = keep_ids(before, after)

    found = [item["id"] for item in kept if isinstance(item, dict)]
    assert len(set(found)) == len(found) == len([i for i in after if isinstance(i, dict)])
    assert all(isinstance(one, str) and one for one in found)
    assert keep_ids(kept, kept) == kept == with_ids(kept)
    assert keep_ids("odd", "buy milk") == "buy milk"
