"""What waits to be told to a browser when a fragment's run begins."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session

from backend.addresses import Address
from ui.message_queue import MessageQueue
from ui.server import create_app

FRAGMENT = "fragment"


def drawn(text: str, place: int, fragment_id: str = FRAGMENT) -> ForwardMsg:
    msg = ForwardMsg()
    msg.metadata.delta_path.extend([0, place])
    msg.delta.fragment_id = fragment_id
    msg.delta.new_element.markdown.body = text
    return msg


def ended(status: ForwardMsg.ScriptFinishedStatus) -> ForwardMsg:
    return ForwardMsg(script_finished=status)


def told_after(*before: ForwardMsg, fragment_ids: list[str] | None) -> list[ForwardMsg]:
    """What a browser is told of these when a run begins before they were sent."""
    create_app(Address("127.0.0.1", 8501))
    queue = app_session.ForwardMsgQueue()
    for msg in before:
        queue.enqueue(msg)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragment_ids)
    queue.enqueue(drawn("newer", 0))
    return queue.flush()


def test_a_whole_run_that_is_done_is_told_with_its_fragments():
    whole = [drawn("field", 0), drawn("rest", 1, ""), ended(ForwardMsg.FINISHED_SUCCESSFULLY)]

    assert told_after(*whole, fragment_ids=[FRAGMENT]) == [*whole, drawn("newer", 0)]


def test_another_fragments_run_that_is_done_is_told_to_be_done():
    other = [drawn("panel", 2, "other"), ended(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)]

    assert told_after(*other, fragment_ids=[FRAGMENT]) == [*other, drawn("newer", 0)]


def test_what_an_unfinished_run_has_drawn_of_a_fragment_is_left_out():
    done = [drawn("rest", 1, ""), ended(ForwardMsg.FINISHED_SUCCESSFULLY)]

    told = told_after(*done, drawn("older", 0), fragment_ids=[FRAGMENT])

    assert told == [*done, drawn("newer", 0)]


def test_a_whole_run_that_begins_takes_the_place_of_all():
    whole = [drawn("field", 0), ended(ForwardMsg.FINISHED_SUCCESSFULLY)]

    early = ended(ForwardMsg.FINISHED_EARLY_FOR_RERUN)
    assert told_after(*whole, fragment_ids=None) == [early, drawn("newer", 0)]


def field(text: str | None = None, key: str = "field", place: int = 0) -> ForwardMsg:
    """A text field that is to hold this; None: what it holds already."""
    msg = drawn("", place)
    msg.delta.new_element.text_input.id = key
    if text is not None:
        msg.delta.new_element.text_input.set_value = True
        msg.delta.new_element.text_input.value = text
    return msg


def choice(*values: str) -> ForwardMsg:
    msg = drawn("", 0)
    msg.delta.new_element.multiselect.id = "choice"
    msg.delta.new_element.multiselect.options.extend(["one", "two"])
    if values:
        msg.delta.new_element.multiselect.set_value = True
        msg.delta.new_element.multiselect.raw_values.extend(values)
    return msg


def empty_number() -> ForwardMsg:
    """A field that is to hold nothing, in place of what it has by default."""
    msg = drawn("", 0)
    msg.delta.new_element.number_input.id = "number"
    msg.delta.new_element.number_input.default = 3
    msg.delta.new_element.number_input.set_value = True
    return msg


def redrawn(first: ForwardMsg, again: ForwardMsg) -> ForwardMsg:
    """What a browser is told of a widget when a run begins before the first message was sent."""
    queue = MessageQueue()
    queue.enqueue(first)
    queue.clear(retain_lifecycle_msgs=True)
    queue.enqueue(again)
    (told,) = queue.flush()
    return told


@pytest.mark.parametrize("runs", [1, 3])
def test_a_widgets_value_that_was_dropped_is_told_by_the_next_run(runs: int):
    queue = MessageQueue()
    queue.enqueue(field("stored"))
    for _ in range(runs):
        queue.clear(retain_lifecycle_msgs=True)
        queue.enqueue(field())

    assert queue.flush() == [field("stored")]


def test_a_widgets_value_is_told_also_when_a_later_message_takes_its_place():
    queue = MessageQueue()
    queue.enqueue(field("stored"))
    queue.enqueue(field())

    assert queue.flush() == [field("stored")]


def test_the_newest_value_counts():
    assert redrawn(field("older"), field("newer")) == field("newer")


def test_several_values_are_told_once_and_options_as_they_are_now():
    now = choice()
    now.delta.new_element.multiselect.options.append("three")

    told = redrawn(choice("two"), now).delta.new_element.multiselect

    assert (told.set_value, told.raw_values, told.options) == (
        True,
        ["two"],
        ["one", "two", "three"],
    )


def test_nothing_is_a_value_too():
    now = empty_number()
    now.delta.new_element.number_input.set_value = False
    now.delta.new_element.number_input.value = 3

    assert redrawn(empty_number(), now) == empty_number()


def test_a_value_that_was_sent_is_not_told_again():
    queue = MessageQueue()
    queue.enqueue(field("stored"))
    queue.flush()
    queue.enqueue(field())

    assert queue.flush() == [field()]


def test_a_value_of_another_widget_or_of_one_that_has_gone_is_not_told():
    queue = MessageQueue()
    queue.enqueue(field("stored"))
    queue.clear(retain_lifecycle_msgs=True)
    queue.enqueue(field(key="other"))
    queue.enqueue(ended(ForwardMsg.FINISHED_SUCCESSFULLY))
    queue.enqueue(field(place=1))

    assert queue.flush() == [
        field(key="other"),
        ended(ForwardMsg.FINISHED_SUCCESSFULLY),
        field(place=1),
    ]
