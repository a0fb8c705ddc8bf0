"""Who gets the next slot of the sandbox."""

from backend.sandbox.slots import Slots


def test_slots_are_given_in_the_order_of_asking_and_a_lost_place_is_passed_on() -> None:
    slots = Slots(2, 1)
    first, second, third, other = (slots.take(key) for key in ("a", "a", "b", "c"))

    assert [place.done() for place in (first, second, third, other)] == [True, False, True, False]

    slots.leave("a", second)
    slots.give_back("b")

    assert other.done()


def test_a_slot_goes_to_who_holds_the_fewest() -> None:
    slots = Slots(3, 3)
    for _ in range(3):
        slots.take("a")
    more = slots.take("a")
    others = [slots.take("b"), slots.take("b"), slots.take("c")]

    slots.give_back("a")
    assert [place.done() for place in (more, *others)] == [False, True, False, False]
    slots.give_back("a")
    assert [place.done() for place in (more, *others)] == [False, True, False, True]
    slots.give_back("b")
    assert [place.done() for place in (more, *others)] == [False, True, True, True]


def test_the_last_slots_are_for_those_who_hold_none() -> None:
    slots = Slots(4, 4, spare=2)
    greedy = [slots.take("a") for _ in range(4)]

    assert [place.done() for place in greedy] == [True, True, False, False]
    assert slots.take("b").done()
    assert not slots.take("b").done()
    assert slots.take("c").done()

    slots.give_back("b")
    assert [place.done() for place in greedy] == [True, True, False, False]


def test_a_waiter_that_left_is_given_nothing() -> None:
    slots = Slots(1, 1)
    slots.take("a")
    left, next_one = slots.take("b"), slots.take("c")

    slots.leave("b", left)
    slots.give_back("a")

    assert left.cancelled()
    assert next_one.done()
