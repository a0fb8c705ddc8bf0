"""What waits to be told to a browser when a fragment's run begins."""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session

from backend.addresses import Address
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
